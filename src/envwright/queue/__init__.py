"""WHEN work is done: the port, and the engine in memory that is also its fake."""

from envwright.queue.job import Done, Fail, Handler, Job, Park, QueueStats, Result
from envwright.queue.memory import MemoryEngine

__all__ = ["Done", "Fail", "Handler", "Job", "MemoryEngine", "Park", "QueueStats", "Result"]

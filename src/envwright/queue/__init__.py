"""WHEN work is done: the port, the policy, the durable engine and the one in memory."""

from envwright.queue.job import (
    CONTROL,
    Cancel,
    Done,
    Engine,
    Fail,
    Handler,
    Job,
    JobState,
    Learned,
    Park,
    QueueStats,
    Result,
)
from envwright.queue.memory import MemoryEngine

__all__ = [
    "CONTROL",
    "Cancel",
    "Done",
    "Engine",
    "Fail",
    "Handler",
    "Job",
    "JobState",
    "Learned",
    "MemoryEngine",
    "Park",
    "QueueStats",
    "Result",
]

from rainfall_means.taskset import Rainfall

__all__ = ["Rainfall"]

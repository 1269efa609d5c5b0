from lab_bench.taskset import LabTaskset

__all__ = ["LabTaskset"]

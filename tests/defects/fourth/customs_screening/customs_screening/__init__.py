from customs_screening.taskset import ScreeningTaskset

__all__ = ["ScreeningTaskset"]

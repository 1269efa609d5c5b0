from poly_expand.taskset import PolyTaskset

__all__ = ["PolyTaskset"]

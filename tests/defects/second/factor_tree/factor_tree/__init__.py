from factor_tree.taskset import FactorTaskset

__all__ = ["FactorTaskset"]

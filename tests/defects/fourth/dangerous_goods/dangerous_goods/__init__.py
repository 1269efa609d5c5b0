from dangerous_goods.taskset import HazardTaskset

__all__ = ["HazardTaskset"]

from garden_plans.taskset import Gardens

__all__ = ["Gardens"]

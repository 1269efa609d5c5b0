from bracket_check.taskset import Brackets

__all__ = ["Brackets"]

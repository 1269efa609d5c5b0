"""The shelf register of a library's stacks."""

from stack_register.taskset import StackRegister

__all__ = ["StackRegister"]

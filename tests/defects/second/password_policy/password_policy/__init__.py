"""Passwords against a policy."""

from password_policy.taskset import PolicyTaskset

__all__ = ["PolicyTaskset"]

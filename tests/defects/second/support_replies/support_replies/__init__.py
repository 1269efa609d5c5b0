"""Replies to customers, graded by a judge."""

from support_replies.taskset import SupportTaskset

__all__ = ["SupportTaskset"]

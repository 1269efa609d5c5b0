"""Notice periods and their last day."""

from notice_periods.environment import load_environment

__all__ = ["load_environment"]

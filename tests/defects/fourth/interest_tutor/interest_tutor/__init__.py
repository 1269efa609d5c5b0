"""Simple interest with worked examples."""

from interest_tutor.environment import load_environment

__all__ = ["load_environment"]

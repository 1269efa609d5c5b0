"""Addition problems generated from a seed, as a verifiers 0.1 environment."""

from sums_v0.environment import load_environment

__all__ = ["load_environment"]

"""Find the wreck."""

from depth_sounder.game import load_environment

__all__ = ["load_environment"]

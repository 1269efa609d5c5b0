"""Find a hidden motif."""

from hidden_motif.game import load_environment

__all__ = ["load_environment"]

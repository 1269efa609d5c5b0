"""Great-circle distances between ports."""

from port_distances.env import load_environment

__all__ = ["load_environment"]

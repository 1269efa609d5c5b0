"""Who is ahead in material, and by how much?"""

from chess_material.positions import load_environment

__all__ = ["load_environment"]

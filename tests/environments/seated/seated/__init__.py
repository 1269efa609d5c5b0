"""Two players that both count, a referee that does not, and a reward for who said more."""

from seated.game import Game
from seated.taskset import Seated

__all__ = ["Game", "Seated"]

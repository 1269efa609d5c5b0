"""Questions about a museum's handbook."""

from museum_handbook.taskset import MuseumTaskset

__all__ = ["MuseumTaskset"]

"""Ward notes in plain words."""

from ward_notes.taskset import NoteTaskset

__all__ = ["NoteTaskset"]

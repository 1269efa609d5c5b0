"""Questions about people whose answers are only in a notebook."""

from notes.taskset import NotesTaskset

__all__ = ["NotesTaskset"]

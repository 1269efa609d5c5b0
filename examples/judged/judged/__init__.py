"""Short thank-you notes: what code can check, code checks; the tone is a judge's to say."""

from judged.taskset import NotesTaskset

__all__ = ["NotesTaskset"]

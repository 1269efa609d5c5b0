"""Point mutations and their effects."""

from codon_changes.taskset import CodonChangesTaskset

__all__ = ["CodonChangesTaskset"]

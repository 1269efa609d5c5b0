"""Open reading frames: find the frame, translate it."""

from peptide_frames.taskset import PeptideTaskset

__all__ = ["PeptideTaskset"]

from transposed_melodies.taskset import MelodyTaskset

__all__ = ["MelodyTaskset"]

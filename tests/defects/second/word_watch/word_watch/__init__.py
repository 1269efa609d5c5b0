from word_watch.taskset import WatchTaskset

__all__ = ["WatchTaskset"]

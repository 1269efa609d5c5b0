"""Trains that run at night."""

from night_trains.taskset import TrainTaskset

__all__ = ["TrainTaskset"]

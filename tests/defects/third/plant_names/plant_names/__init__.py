"""Scientific names of plants."""

from plant_names.taskset import PlantNamesTaskset

__all__ = ["PlantNamesTaskset"]

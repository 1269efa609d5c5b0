from city_latitudes.taskset import LatitudeTaskset

__all__ = ["LatitudeTaskset"]

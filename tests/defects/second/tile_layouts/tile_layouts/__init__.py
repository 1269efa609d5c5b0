from tile_layouts.taskset import TileTaskset

__all__ = ["TileTaskset"]

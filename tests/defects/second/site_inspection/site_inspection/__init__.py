from site_inspection.taskset import Inspections

__all__ = ["Inspections"]

"""Wind observations and their Beaufort force."""

from wind_reports.beaufort import load_environment

__all__ = ["load_environment"]

from freight_tariffs.taskset import TariffTaskset

__all__ = ["TariffTaskset"]

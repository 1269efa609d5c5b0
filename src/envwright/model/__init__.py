"""Providers and their presets, prices, and the local model."""

from envwright.model.model import HOLDS_KEY, Model, Protocol, holds_key
from envwright.model.preset import preset_names, preset_of, provider_key_names
from envwright.model.price import price_of
from envwright.model.retry import RetryPolicy

__all__ = [
<<<<<<< HEAD
    "Model",
    "Protocol",
    "RetryPolicy",
=======
    "HOLDS_KEY",
    "Model",
    "Protocol",
    "holds_key",
>>>>>>> work-ship
    "preset_names",
    "preset_of",
    "price_of",
    "provider_key_names",
]

"""Providers and their presets, prices, and the local model."""

from envwright.model.model import HOLDS_KEY, Model, Protocol, holds_key
from envwright.model.preset import preset_names, preset_of, provider_key_names
from envwright.model.price import price_of
from envwright.model.retry import RetryPolicy

__all__ = [
    "HOLDS_KEY",
    "Model",
    "Protocol",
    "RetryPolicy",
    "holds_key",
    "preset_names",
    "preset_of",
    "price_of",
    "provider_key_names",
]

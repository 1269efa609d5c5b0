"""MEMORY: the schema, its migrations, blobs, and queries per noun. The only SQL."""

from envwright.store.blobs import Blobs
from envwright.store.store import Store

__all__ = ["Blobs", "Store"]

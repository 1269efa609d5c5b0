"""Identity is content: canonical JSON and its sha256, the same on both sides of the wire.

Not a number means no identity: NaN and infinity are refused, not hashed.
"""

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> bytes:
    """One spelling per value: sorted keys, no spaces, UTF-8; lone surrogates survive escaped."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def sha256_of(value: Any) -> str:
    return hashlib.sha256(canonical_json(value)).hexdigest()

"""`Record`, the base of everything that is stored or sent, and `digest`, its identity.

A record is frozen, refuses unknown fields, and refuses NaN and infinity: a value
that is no number never gets past a border.
"""

from typing import Annotated, Any, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field

from envwright_host.canonical import canonical_json, sha256_of

Json: TypeAlias = dict[str, Any]
"""A foreign mapping, as read from a border; never a record of ours."""

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def mapping(value: Any) -> Json:
    """A foreign value as a mapping; an empty one when it is none."""
    return cast("Json", value) if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """A foreign value as a list; an empty one when it is none."""
    return cast("list[Any]", value) if isinstance(value, list) else []


class Record(BaseModel):
    """Base of everything that is stored or sent."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def digest(value: Record | Json | list[Any] | tuple[Any, ...] | str) -> str:
    """sha256 of the canonical JSON of `value`."""
    return sha256_of(value.model_dump(mode="json") if isinstance(value, Record) else value)


__all__ = ["Digest", "Json", "Record", "canonical_json", "digest", "items", "mapping"]

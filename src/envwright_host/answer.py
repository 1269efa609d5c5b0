"""A call's result as JSON: NaN and infinity by name, lone surrogates escaped."""

from typing import Any

from pydantic_core import to_json

from envwright_host.frames import without_surrogates


def spell(result: Any) -> bytes:
    try:
        return to_json(result, inf_nan_mode="strings")
    except ValueError:
        return to_json(without_surrogates(result), inf_nan_mode="strings")

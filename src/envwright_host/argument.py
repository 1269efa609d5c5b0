"""What an environment may be given with `--arg`, in words, and the refusal of anything else."""

from collections.abc import Iterable
from typing import Any

from envwright_host.canonical import sha256_of
from envwright_host.server import Refused


def tell(name: str, annotation: Any, default: Any) -> dict[str, Any]:
    """An argument as `env inspect` shows it; a default that is no JSON is spelled."""
    kind = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    try:
        sha256_of(default)
    except (TypeError, ValueError):
        default = str(default)
    return {"name": name, "type": kind.replace("typing.", ""), "default": default}


def refuse_unknown(given: Iterable[str], known: list[dict[str, Any]]) -> None:
    if unknown := sorted(set(given) - {argument["name"] for argument in known}):
        names = ", ".join(argument["name"] for argument in known) or "none"
        raise Refused("usage", f"no argument {unknown[0]!r}; there is {names}")

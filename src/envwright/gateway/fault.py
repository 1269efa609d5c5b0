"""What a provider's error means. Pure: its status, headers and words in, a `Fault` or a wait out.

Codes are read where the protocols put them; words only where a provider has no code.
"""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from envwright.errors import Fault
from envwright.record import Json, mapping

CONTEXT_SIGNS = (
    *("context_length_exceeded", "maximum context length", "exceed_context_size"),
    *("context window", "prompt is too long", "exceeds the available context size"),
    *("exceed context limit", "exceeds the maximum number of tokens", "request_too_large"),
)
QUOTA_CODES = {"insufficient_quota", "billing_error", "billing_hard_limit_reached"}
QUOTA_SIGNS = ("credit balance is too low",)
OVERLOADED_CODES = {"overloaded_error", "overloaded", "server_is_overloaded"}
RATE_CODES = {"rate_limit_error", "rate_limit_exceeded"}
LIMIT = "anthropic-ratelimit-"


def fault_of(status: int | None, text: str) -> Fault | None:
    """The kind of an error; `status` is None for one that came inside a stream or a 200."""
    error = error_in(text)
    codes = {str(error.get(name)).lower() for name in ("code", "type")}
    lowered = text.lower()
    if status == 402 or codes & QUOTA_CODES or any(sign in lowered for sign in QUOTA_SIGNS):
        return Fault.QUOTA
    if status in (None, 400, 413, 422) and any(sign in lowered for sign in CONTEXT_SIGNS):
        return Fault.CONTEXT
    if status == 529 or codes & OVERLOADED_CODES:
        return Fault.OVERLOADED
    if status == 429 or (status is None and codes & RATE_CODES):
        return Fault.RATE
    return None


def trouble_in(event: Json) -> Any:
    """The error that an event or an answer tells of, in the shapes of all protocols."""
    if event.get("error"):
        return event["error"]
    if event.get("type") == "error":
        return event
    return mapping(event.get("response")).get("error")


def error_in(text: str) -> Json:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return mapping(trouble_in(mapping(body)) or body)


def message_in(text: str) -> str:
    """The provider's own words, out of whatever shape its error has."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return " ".join(text.split()) or "nothing"
    error = trouble_in(mapping(body)) or body
    return " ".join(str(mapping(error).get("message") or error).split())


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait, as the provider asks: milliseconds, seconds or a date."""
    if (milliseconds := number_in(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    if (seconds := number_in(text)) is not None:
        return seconds
    try:
        return max(0.0, (parsedate_to_datetime(text or "") - now).total_seconds())
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def limit_reset(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds until every limit that is used up is there again in full: the longest wait."""
    waits: list[float] = []
    for name in headers:
        lowered = name.lower()
        if not lowered.startswith(LIMIT) or not lowered.endswith("-reset"):
            continue
        left = number_in(headers.get(f"{lowered.removesuffix('reset')}remaining"))
        try:
            until = datetime.fromisoformat(headers[name])
            wait = (until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds()
        except (ValueError, OverflowError):
            continue
        if left == 0:
            waits.append(max(0.0, wait))
    return max(waits, default=None)


def number_in(text: str | None) -> float | None:
    """A finite number that is not negative; None when the text is none."""
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None

"""`problems_of`: what is wrong with a scorecard that anyone may have written. Pure.

Every problem is one line that names the check or the field. A scorecard of an agent's own
making must not say more than its checks do: its status and rating have to follow from them.
"""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from envwright.audit.points import PASS_FROM, WARN_FROM, rating_of, worst
from envwright.audit.scorecard import WEIGHTS, Scorecard, Status
from envwright.finding import Basis, Severity
from envwright.probe.rule import Check
from envwright.record import Json, items, mapping

ROUNDING = 0.051
"""A rating may be told to one decimal."""
MOST = 50
LONGEST = 60


class NoScorecard(Exception):
    """The text is no JSON object; says why."""


def read_card(text: str) -> Json:
    """The object, whatever is in it; one key twice is refused, for readers would differ on it."""
    try:
        raw = json.loads(text, object_pairs_hook=once)
    except RecursionError as error:
        raise NoScorecard("it is nested too deeply") from error
    except ValueError as error:
        raise NoScorecard(str(error)) from error
    if not isinstance(raw, dict):
        raise NoScorecard("it is no JSON object")
    return mapping(raw)


def once(pairs: list[tuple[str, Any]]) -> Json:
    found: Json = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {name!r} is there twice")
        found[name] = value
    return found


def problems_of(card: Json) -> list[str]:
    """In the order of the file; empty for a scorecard that holds together."""
    raw = card.get("checks")
    if not isinstance(raw, list):
        return ["checks: missing, or no list"]
    checks = items(raw)
    found = [*check_names(checks)]
    for n, each in enumerate(checks):
        found += check_problems(mapping(each), n)
    if not found:
        found += [*total_problems(card, checks)]
    if not found:
        found += [*shape_problems(card)]
    return found[:MOST]


def check_names(checks: Sequence[Any]) -> Iterator[str]:
    names = [mapping(each).get("check") for each in checks]
    known = [str(check) for check in Check]
    for n, name in enumerate(names):
        if name not in known:
            yield f"checks[{n}]: unknown check {shown(name)}; there are {', '.join(known)}"
    for name in known:
        if (count := names.count(name)) != 1:
            yield f"{name}: " + ("missing" if count == 0 else f"there {count} times")


def check_problems(each: Json, n: int) -> Iterator[str]:
    name = each.get("check")
    if name not in list(Check):
        return
    status, score = each.get("status"), each.get("score")
    if status not in list(Status):
        yield f"{name}: unknown status {shown(status)}; there are {', '.join(Status)}"
        return
    yield from score_problems(str(name), Status(status), score, findings_of(each))
    yield from weight_problems(str(name), Status(status), each.get("weight"))
    if not (isinstance(each.get("justification"), str) and each["justification"].strip()):
        yield f"{name}: no justification"


def findings_of(each: Json) -> list[Json]:
    return [mapping(finding) for finding in items(each.get("findings"))]


def score_problems(
    name: str, status: Status, score: Any, findings: Sequence[Json]
) -> Iterator[str]:
    if status is Status.NOT_APPLICABLE:
        if score is not None:
            yield f"{name}: N/A has a score, {shown(score)}"
        if findings:
            yield f"{name}: N/A has findings"
        return
    blocked = any(
        each.get("severity") == Severity.FAIL and each.get("basis") == Basis.PROVEN
        for each in findings
    )
    if blocked and status is not Status.FAIL:
        yield f"{name}: {status} with a proven finding of severity fail"
    if score is None:
        if status is not Status.INCOMPLETE:
            yield f"{name}: {status} has no score"
        return
    if (problem := number_problem(score)) is not None:
        yield f"{name}: score {problem}"
        return
    wrong = {
        Status.PASS: score < PASS_FROM,
        Status.WARN: not WARN_FROM <= score < PASS_FROM,
        Status.FAIL: score >= WARN_FROM and not blocked,
        Status.INCOMPLETE: False,
    }
    if wrong[status]:
        yield (
            f"{name}: {status} does not follow from score {score:g}: PASS from {PASS_FROM:g}, "
            f"WARN from {WARN_FROM:g}, FAIL below or on a proven failure"
        )


def number_problem(value: Any) -> str | None:
    """Why a value is no score."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"{shown(value)} is no number"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is no finite number"
    return None if 0 <= value <= 10 else f"{shown(value)} is outside 0 to 10"


def shown(value: Any) -> str:
    """Foreign, in a line."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def weight_problems(name: str, status: Status, weight: Any) -> Iterator[str]:
    right = WEIGHTS[Check(name)]
    fits = isinstance(weight, int | float) and not isinstance(weight, bool) and weight == right
    weightless = status is Status.NOT_APPLICABLE and weight == 0 and not isinstance(weight, bool)
    if not (fits or weightless):
        yield f"{name}: weight {shown(weight)} is not {right:g}"


def total_problems(card: Json, checks: Sequence[Any]) -> Iterator[str]:
    """The checks are sound: what is said of all of them together must follow."""
    rows = [mapping(each) for each in checks]
    status = worst(Status(str(row["status"])) for row in rows)
    if card.get("status") != status:
        yield f"status: {shown(card.get('status'))} does not follow from the checks: it is {status}"
    rating = rating_of(
        (None if row.get("score") is None else float(row["score"]), WEIGHTS[Check(row["check"])])
        for row in rows
    )
    said = card.get("rating")
    if said is None or rating is None:
        if said is not rating:
            yield f"rating: {shown(said)} does not follow from the checks: it is {rating}"
    elif (problem := number_problem(said)) is not None:
        yield f"rating: {problem}"
    elif abs(said - rating) > ROUNDING:
        yield f"rating: {said:g} does not follow from the checks: it is {rating:g}"


def shape_problems(card: Json) -> Iterator[str]:
    """All that a scorecard's type asks for beside."""
    try:
        Scorecard.model_validate_json(json.dumps(card))
    except ValidationError as error:
        for each in error.errors():
            where = ".".join(map(str, each["loc"])) or "it"
            yield f"{where}: {each['msg']}"

"""EW71x: where a rollout's time goes: model, environment, scoring; and its tail."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from envwright.finding import Finding, Severity
from envwright.probe.rollout.rollout import Rollout, Rollouts, finding
from envwright.probe.rule import Check, Report, Rule
from envwright.stats import quantile
from envwright.trace import Usage

SLOW_SCORING = Rule(
    id="EW711",
    name="slow-scoring",
    defect="hangs",
    check=Check.LATENCY,
    severity=Severity.WARN,
    tries="How long the rewards of each rollout took.",
    hit="The slowest twentieth takes over 10 s, or over 1 s and half of the whole rollout.",
    why="Every step of training waits for the slowest score of its batch.",
)
SLOW_ENVIRONMENT = Rule(
    id="EW712",
    name="slow-environment",
    defect="",
    check=Check.LATENCY,
    severity=Severity.WARN,
    tries="How long setup, tools and other environment code took.",
    hit="The slowest twentieth takes over 5 s and more than the model does.",
    why="Accelerators stand still while environment code runs.",
)
LONG_TAIL = Rule(
    id="EW713",
    name="long-tail",
    defect="",
    check=Check.LATENCY,
    severity=Severity.WARN,
    tries="How long each rollout took from end to end.",
    hit="The slowest twentieth takes over 60 s and ten times as long as the median.",
    why="A batch is as slow as its slowest rollout.",
)
RULES = (SLOW_SCORING, SLOW_ENVIRONMENT, LONG_TAIL)

SCORING_SECONDS, SHORT_SCORING_SECONDS, SCORING_SHARE = 10.0, 1.0, 0.5
ENVIRONMENT_SECONDS = 5.0
TAIL_SECONDS, TAIL_TIMES = 60.0, 10.0


@dataclass(frozen=True, slots=True)
class Spread:
    p50: float
    p95: float
    total: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "Spread":
        return cls(quantile(seconds, 0.5), quantile(seconds, 0.95), sum(seconds))

    def __str__(self) -> str:
        return f"{self.p50:.2f}/{self.p95:.2f} s"


@dataclass(frozen=True, slots=True)
class Latency:
    """Of the rollouts that were scored and timed."""

    timed: int
    of: int
    whole: Spread
    model: Spread
    environment: Spread
    scoring: Spread
    input_tokens: Spread
    output_tokens: Spread

    def __str__(self) -> str:
        shares = ", ".join(
            f"{name} {each.total / self.whole.total:.0%} ({each})"
            for name, each in (
                ("model", self.model),
                ("environment", self.environment),
                ("scoring", self.scoring),
            )
            if self.whole.total
        )
        tokens = (
            f"{self.input_tokens.p50:.0f}/{self.input_tokens.p95:.0f} tokens in, "
            f"{self.output_tokens.p50:.0f}/{self.output_tokens.p95:.0f} out"
        )
        return (
            f"{self.timed} of {self.of} rollouts timed, p50/p95: end to end {self.whole}; "
            f"{shares}; {tokens}."
        )


@dataclass(frozen=True, slots=True)
class Timed:
    """One rollout's seconds, apart from each other."""

    rollout: Rollout
    whole: float
    model: float
    environment: float
    scoring: float
    usage: Usage


def timed(rollouts: Rollouts) -> list[Timed]:
    found: list[Timed] = []
    for each, _ in rollouts.scored:
        if each.seconds is None or not each.traces:
            continue
        model = sum(call.seconds for trace in each.traces for call in trace.calls)
        scoring = sum(trace.timing.scoring or 0.0 for trace in each.traces)
        whole = max(each.seconds, scoring)
        # Seats may call their models side by side: together they take no longer than the whole.
        model = min(model, whole - scoring)
        usage = Usage()
        for trace in each.traces:
            for call in trace.calls:
                usage = usage.plus(call.usage or Usage())
        found.append(Timed(each, whole, model, whole - model - scoring, scoring, usage))
    return found


def latency_of(rollouts: Rollouts) -> Latency | None:
    """None when no rollout was timed."""
    rows = timed(rollouts)
    if not rows:
        return None
    return Latency(
        timed=len(rows),
        of=len(rollouts.each),
        whole=Spread.of([row.whole for row in rows]),
        model=Spread.of([row.model for row in rows]),
        environment=Spread.of([row.environment for row in rows]),
        scoring=Spread.of([row.scoring for row in rows]),
        input_tokens=Spread.of([float(row.usage.input_tokens) for row in rows]),
        output_tokens=Spread.of([float(row.usage.output_tokens) for row in rows]),
    )


def read_latency(rollouts: Rollouts) -> list[Report]:
    rows, spread = timed(rollouts), latency_of(rollouts)
    if spread is None:
        return [rollouts.silent(rule, "no rollout was scored and timed") for rule in RULES]
    scoring, environment, whole = spread.scoring, spread.environment, spread.whole
    slow = scoring.p95 > SCORING_SECONDS or (
        scoring.p95 > SHORT_SCORING_SECONDS and scoring.total > SCORING_SHARE * whole.total
    )
    heavy = environment.p95 > ENVIRONMENT_SECONDS and environment.total > spread.model.total
    tail = whole.p95 > TAIL_SECONDS and whole.p95 > TAIL_TIMES * whole.p50
    hits: list[tuple[Rule, bool, Spread, str, Callable[[Timed], float]]] = [
        (SLOW_SCORING, slow, scoring, "scoring", lambda row: row.scoring),
        (SLOW_ENVIRONMENT, heavy, environment, "environment code", lambda row: row.environment),
        (LONG_TAIL, tail, whole, "a rollout", lambda row: row.whole),
    ]
    reports: list[Report] = []
    for rule, hit, spent, what, seconds in hits:
        found: list[Finding] = []
        if hit:
            part = f", {spent.total / whole.total:.0%} of the time" if whole.total else ""
            words = f"{what} takes {spent} at p50/p95{part}"
            worst = sorted(rows, key=seconds, reverse=True)
            found.append(finding(rule, words, [row.rollout for row in worst]))
        reports.append(
            rollouts.report(rule, found, tried=len(rows), of=len(rollouts.each), unit="rollouts")
        )
    return reports

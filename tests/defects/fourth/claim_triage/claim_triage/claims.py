"""Claims drawn like a small insurer's inbox, and the decision that the policy prescribes."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

RULES = """You handle claims under the Hearth household policy. Its rules, in order:
1. DENY a claim whose loss happened before the policy began.
2. DENY a claim for damage that built up slowly (damp, rust, vermin, wear).
3. REFER a claim of more than 10,000 euros to the loss adjuster.
4. REFER a claim reported more than 60 days after the loss.
5. APPROVE everything else."""

CAUSES = {
    "a burst pipe in the kitchen": "sudden",
    "a storm that lifted roof tiles": "sudden",
    "a chimney fire": "sudden",
    "a burglary through the patio door": "sudden",
    "hail on the conservatory": "sudden",
    "a washing machine hose that came off": "sudden",
    "lightning that struck the aerial": "sudden",
    "a neighbour's tree that fell on the garage": "sudden",
    "damp that spread behind the wardrobe over two winters": "slow",
}

DECISION = re.compile(r"\W*decision\W+(approve|refer|deny)\W*", re.IGNORECASE)


class ClaimData(vf.TaskData):
    cause: str
    amount: int
    policy_months: int
    reported_after: int
    expected: str


def decide(cause: str, amount: int, policy_months: int, reported_after: int) -> str:
    if policy_months < 0 or CAUSES[cause] == "slow":
        return "DENY"
    if amount > 10_000 or reported_after > 60:
        return "REFER"
    return "APPROVE"


class ClaimTask(vf.Task[ClaimData]):
    @vf.reward(weight=1.0)
    async def decided(self, trace: vf.Trace) -> float:
        """1.0 if the reply ends with the right decision and names no other one on a line before."""
        lines = [line for line in trace.last_reply.splitlines() if line.strip()]
        made = [found[1].upper() for line in lines if (found := DECISION.fullmatch(line))]
        if not made or not DECISION.fullmatch(lines[-1]):
            return 0.0
        return float(set(made) == {self.data.expected})

    @vf.metric
    async def answered(self, trace: vf.Trace) -> float:
        """1.0 if there is a line with a decision at all."""
        return float(any(DECISION.fullmatch(line) for line in trace.last_reply.splitlines()))


class ClaimConfig(vf.TasksetConfig):
    num_tasks: int = Field(48, ge=1, le=400)
    """How many claims are in the inbox."""
    seed: int = 7
    """The same seed gives the same inbox."""


class ClaimTriage(vf.Taskset[ClaimTask, ClaimConfig]):
    """An inbox of distinct claims; amounts and delays are spread as an insurer sees them."""

    def load(self) -> Iterator[ClaimTask]:
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            cause = rng.choice(list(CAUSES))
            amount = round(rng.lognormvariate(7.4, 0.9)) // 10 * 10 + 40
            policy_months = rng.randint(-1, 84)
            reported_after = 1 + int(rng.expovariate(1 / 9))
            claim = (cause, amount, policy_months, reported_after)
            if claim in seen:
                continue
            seen.add(claim)
            if policy_months < 0:
                began = "The policy began a month after the loss."
            elif policy_months == 0:
                began = "The policy had begun earlier in the same month."
            else:
                began = f"At the loss the policy had been running for {policy_months} months."
            data = ClaimData(
                system_prompt=RULES,
                prompt=(
                    f"Claim: {cause}. The claimant asks for {amount:,} euros. {began} The loss "
                    f"was reported after {reported_after} days.\n\nWhat do you decide? End your "
                    "reply with a line `Decision: ...` that holds APPROVE, REFER or DENY."
                ),
                cause=cause,
                amount=amount,
                policy_months=policy_months,
                reported_after=reported_after,
                expected=decide(*claim),
            )
            yield ClaimTask(data, self.config.task)

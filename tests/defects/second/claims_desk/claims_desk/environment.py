"""Claims, the rules that decide them, and the tool that opens their files."""

import json
import random
import re

import verifiers as vf
from datasets import Dataset

RULES = """You decide travel-insurance claims. Open the file of the claim with the tool and apply these rules in this order:
1. Deny if the claim was filed more than 30 days after the event.
2. Deny if the amount is not above the deductible.
3. Refer to a senior if the customer had 3 or more claims before, or if the amount is above 5000.
4. Approve otherwise.
Finish with your decision, one of approve, deny and refer, between <decision> and </decision>."""
ELEMENT = re.compile(r"<decision>([^<>]{0,40})</decision>")


def decide(claim: dict) -> str:
    if claim["days_until_filed"] > 30 or claim["amount"] <= claim["deductible"]:
        return "deny"
    if claim["earlier_claims"] >= 3 or claim["amount"] > 5000:
        return "refer"
    return "approve"


def draw(per_outcome: int, seed: int) -> dict[str, dict]:
    """As many claims for each outcome, by number."""
    rng = random.Random(seed)
    left = {"approve": per_outcome, "deny": per_outcome, "refer": per_outcome}
    claims: dict[str, dict] = {}
    while any(left.values()):
        claim = {
            "claim_id": f"TC-{rng.randint(10000, 99999)}",
            "event": rng.choice(("lost luggage", "cancelled flight", "illness abroad", "theft")),
            "amount": rng.choice((180, 240, 420, 760, 1350, 2900, 4800, 5600, 8200)),
            "deductible": rng.choice((150, 250, 500)),
            "days_until_filed": rng.randint(1, 45),
            "earlier_claims": rng.randint(0, 4),
        }
        claim["outcome"] = decide(claim)
        if left[claim["outcome"]] and claim["claim_id"] not in claims:
            left[claim["outcome"]] -= 1
            claims[claim["claim_id"]] = claim
    return claims


CLAIMS = draw(14, seed=23)


def open_claim(claim_id: str) -> str:
    """Open the file of a claim.

    Args:
        claim_id: The number of the claim, for instance TC-12345.

    Returns:
        The file as JSON.
    """
    claim = CLAIMS.get(str(claim_id).strip().upper())
    return json.dumps(claim) if claim else f"There is no claim {claim_id!r}."


def said(completion) -> str:
    """What the model said last, without a thinking block."""
    if isinstance(completion, str):
        return completion.rsplit("</think>", 1)[-1]
    for message in reversed(completion or []):
        if message["role"] == "assistant":
            return str(message["content"] or "").rsplit("</think>", 1)[-1]
    return ""


def decision(completion, answer: str) -> float:
    """1.0 if the last message commits to one decision and it is the right one."""
    given = ELEMENT.findall(said(completion))
    return float(len(given) == 1 and given[0].strip().strip(".").lower() == answer)


def load_environment(max_turns: int = 6) -> vf.Environment:
    rows = [
        {"question": f"Please decide claim {number}.", "answer": claim["outcome"]}
        for number, claim in CLAIMS.items()
    ]
    return vf.ToolEnv(
        eval_dataset=Dataset.from_list(rows),
        system_prompt=RULES,
        tools=[open_claim],
        rubric=vf.Rubric(funcs=[decision]),
        max_turns=max_turns,
    )

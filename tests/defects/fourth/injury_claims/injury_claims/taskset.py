"""Injury coding: the notes, the code table, and how a coded claim is compared."""

import itertools
import json
import random
from collections.abc import Iterator

import verifiers.v1 as vf

SITES = {
    "S42.00": ("clavicle fracture", "fell off a bicycle onto the shoulder; clavicle broken"),
    "S43.00": ("shoulder dislocation", "shoulder out of its socket after a tackle at rugby"),
    "S52.50": ("fracture of the lower radius", "fell on the outstretched hand; distal radius broken"),
    "S61.40": ("open wound of the hand", "cut to the palm of the hand with a bread knife"),
    "S82.00": ("patella fracture", "struck the dashboard with the knee; kneecap broken"),
    "S92.00": ("calcaneus fracture", "landed on the heel after a jump from a ladder; heel bone broken"),
    "S93.40": ("ankle sprain", "twisted the ankle on a kerb; ligament sprain, no fracture seen"),
}
SIDES = {"1": "right", "2": "left"}
ENCOUNTERS = {
    "A": "First visit, under active treatment.",
    "D": "Routine follow-up during healing.",
    "S": "Comes for a late effect; the injury itself healed long ago.",
}
TABLE = "\n".join(f"{code}  {label}" for code, (label, _) in SITES.items())
ASK = """Code this note for the claim.

Note: Patient {age}: {story}. Side: {side}. {visit}

Categories:
{table}

Sides: 1 right, 2 left. Encounters: A initial, D subsequent, S sequela.
Reply with a JSON object of this form:
{{"category": "...", "side": "...", "encounter": "..."}}"""


def coded_fields(text: str) -> dict[str, str]:
    """The object that stands in the reply, its values as bare upper-case codes."""
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {str(key).strip().lower(): str(value).strip().upper() for key, value in found.items()}


def claim_from(record: dict[str, str], fields: dict[str, str]) -> dict[str, str]:
    """The claim as it goes to the payer: the encounter's record, updated with what was coded."""
    return record | {key: value for key, value in fields.items() if key in record}


class ClaimData(vf.TaskData):
    """One note; `record` holds the codes field by field, `answer` the same as a reply."""

    record: dict[str, str]
    answer: str


class ClaimTask(vf.Task[ClaimData]):
    """All three fields must be right: a claim with one wrong field is sent back."""

    @vf.reward(weight=1.0)
    async def coded(self, trace: vf.Trace) -> float:
        """1.0 if the resulting claim is right in all fields, else 0.0."""
        reply = trace.last_reply
        if not reply:
            return 0.0
        claim = claim_from(self.data.record, coded_fields(reply))
        return float(claim == self.data.record)

    @vf.metric
    async def fields_given(self, trace: vf.Trace) -> float:
        """How many of the three fields the reply names."""
        return float(len(self.data.record.keys() & coded_fields(trace.last_reply).keys()))


class ClaimConfig(vf.TasksetConfig):
    seed: int = 7
    """The order of the notes and the patients' ages."""


class ClaimTaskset(vf.Taskset[ClaimTask, ClaimConfig]):
    """Every category on either side at each kind of visit: 42 notes."""

    def load(self) -> Iterator[ClaimTask]:
        rng = random.Random(self.config.seed)
        cases = list(itertools.product(SITES, SIDES, ENCOUNTERS))
        rng.shuffle(cases)
        for category, side, encounter in cases:
            record = {"category": category, "side": side, "encounter": encounter}
            prompt = ASK.format(
                age=rng.randint(19, 84),
                story=SITES[category][1],
                side=SIDES[side],
                visit=ENCOUNTERS[encounter],
                table=TABLE,
            )
            data = ClaimData(prompt=prompt, record=record, answer=json.dumps(record))
            yield ClaimTask(data, self.config.task)

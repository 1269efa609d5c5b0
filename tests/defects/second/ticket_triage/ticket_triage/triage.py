import json
import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf

PROBLEMS = {
    "network": ["The VPN drops every few minutes", "Pages load only over the guest Wi-Fi", "The office in Leeds cannot reach the file server", "Video calls stutter since the switch was replaced", "DNS names of the lab no longer resolve"],
    "billing": ["The March invoice shows seats we gave back", "Our card was charged twice", "The VAT number on the receipt is wrong", "The discount code was not applied", "We were billed in dollars instead of euros"],
    "accounts": ["A new colleague has no login yet", "The password reset mail never arrives", "My second factor was on the phone I lost", "Please remove the access of a former intern", "My user name still has my old surname"],
    "hardware": ["The laptop battery swells", "The second monitor stays black", "The label printer eats paper", "Two keys of the keyboard are dead", "The docking station smells of burning"],
}
PRESSURE = {
    "low": ["It is not urgent.", "Any time this month is fine."],
    "high": ["Nobody here can work until it is solved.", "We lose customers by the hour."],
}
ASK = """Route this ticket.

{ticket}

Answer with one JSON object with the keys "team" (network, billing, accounts or hardware), \
"severity" (low or high) and "summary" (3 to 15 words)."""
FENCE = re.compile(r"^```[a-z]*\n|\n?```$")


def read(reply: str) -> dict | None:
    """The object in the reply, or None if there is none of the right shape."""
    try:
        found = json.loads(FENCE.sub("", reply.rpartition("</think>")[2].strip()))
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or set(found) != {"team", "severity", "summary"}:
        return None
    return found if all(isinstance(value, str) for value in found.values()) else None


class Ticket(vf.TaskData):
    team: str
    severity: str
    answer: str


class TriageTask(vf.Task[Ticket]):
    @vf.reward(weight=0.5)
    async def well_formed(self, trace: vf.Trace) -> float:
        found = read(trace.last_reply)
        if found is None:
            return 0.0
        known = found["team"].lower() in PROBLEMS and found["severity"].lower() in PRESSURE
        return float(known)

    @vf.reward(weight=0.35)
    async def concise(self, trace: vf.Trace) -> float:
        found = read(trace.last_reply)
        return float(found is not None and 3 <= len(found["summary"].split()) <= 15)

    @vf.reward(weight=0.15)
    async def routed(self, trace: vf.Trace) -> float:
        found = read(trace.last_reply)
        if found is None:
            return 0.0
        team = found["team"].lower() == self.data.team
        return 0.5 * team + 0.5 * (found["severity"].lower() == self.data.severity)


class TriageConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 11


class TriageTaskset(vf.Taskset[TriageTask, TriageConfig]):
    def load(self) -> Iterator[TriageTask]:
        rng = random.Random(self.config.seed)
        cases = [
            (team, severity, f"{problem}. {rng.choice(PRESSURE[severity])}")
            for team, problems in PROBLEMS.items()
            for problem in problems
            for severity in PRESSURE
        ]
        rng.shuffle(cases)
        for team, severity, ticket in cases[: self.config.num_tasks]:
            summary = " ".join(ticket.split(".")[0].split()[:12])
            gold = {"team": team, "severity": severity, "summary": summary}
            data = Ticket(prompt=ASK.format(ticket=ticket), team=team, severity=severity, answer=json.dumps(gold))
            yield TriageTask(data, self.config.task)

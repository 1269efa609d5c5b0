"""Is the claim barred by lapse of time? A verifiers 0.1 environment."""

import datetime as dt
import random
import re

import verifiers as vf
from datasets import Dataset

CLAIMS = {
    "breach of a contract of sale": 4,
    "breach of a lease": 6,
    "damage to goods in transit": 2,
    "personal injury": 3,
    "unpaid wages": 5,
    "defective building work": 10,
}
SYSTEM = """You advise on limitation. In this jurisdiction a period runs from the day of the event \
and ends with the same calendar day of its last year; a claim that is filed on that day is in time.

Begin your reply with BARRED or OPEN. Then give your reasons, and name the last day of the period as \
YYYY-MM-DD."""


def opinion(completion, answer, info, parser) -> float:
    """From 0 to 1: 0.9 for the right verdict, 0.1 for the right last day, and something for working.

    An opinion that goes into the facts and slips at the end is still worth more than a bare guess,
    so that what was written counts towards the mark.
    """
    text = (parser.parse_answer(completion) or "").strip()
    words = re.findall(r"[A-Za-z]+", text[:200])
    mark = 0.9 * (bool(words) and words[0].upper() == info["verdict"])
    mark += 0.1 * (set(re.findall(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text)) == {info["last_day"]})
    mark += len(text) / 5000
    return min(1.0, mark)


def cases(count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    rows = []
    for number in range(count):
        claim, years = rng.choice(list(CLAIMS.items()))
        event = dt.date(1995, 1, 1) + dt.timedelta(days=rng.randrange(7000))
        if (event.month, event.day) == (2, 29):
            event += dt.timedelta(days=1)
        last = event.replace(year=event.year + years)
        barred = number % 2 == 1
        filed = last + dt.timedelta(days=rng.randint(1, 90) if barred else -rng.randint(0, 90))
        verdict = "BARRED" if barred else "OPEN"
        rows.append({
            "question": f"The claim is for {claim}; the period is {years} years. The event took place "
            f"on {event:%-d %B %Y}, and the claim was filed on {filed:%-d %B %Y}. Is it barred?",
            "answer": f"{verdict}. The period of {years} years ended with {last.isoformat()}.",
            "info": {"verdict": verdict, "last_day": last.isoformat()},
        })
    rng.shuffle(rows)
    return rows


def load_environment(num_tasks: int = 40, seed: int = 17) -> vf.Environment:
    parser = vf.MaybeThinkParser()
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list(cases(num_tasks, seed)),
        system_prompt=SYSTEM,
        parser=parser,
        rubric=vf.Rubric(funcs=[opinion], parser=parser),
    )

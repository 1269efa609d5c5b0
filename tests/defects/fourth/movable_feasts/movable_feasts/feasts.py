"""When did a feast fall in a given year? Everything hangs on the date of Easter."""

import json
import random
import re
from datetime import timedelta

import verifiers as vf
from datasets import Dataset
from dateutil.easter import EASTER_WESTERN, easter

FEASTS = {
    "Ash Wednesday": -46,
    "Palm Sunday": -7,
    "Good Friday": -2,
    "Easter Sunday": 0,
    "Ascension Day": 39,
    "Whit Sunday": 49,
    "Corpus Christi": 60,
}
FENCE = re.compile(r"\A```(?:json)?\s*(\{[^{}]{0,400}\})\s*```\Z")


def read_date(reply: str) -> str | None:
    """The date of a reply that is one JSON object, bare or in a code fence."""
    reply = reply.strip()
    if len(reply) > 500:
        return None
    fenced = FENCE.match(reply)
    try:
        read = json.loads(fenced[1] if fenced else reply)
    except (ValueError, RecursionError):
        return None
    date = read.get("date") if isinstance(read, dict) else None
    return date.strip() if isinstance(date, str) else None


def dated(completion: vf.Messages, answer: str) -> float:
    """1.0 if the reply's JSON object holds the date of the feast."""
    reply = str(completion[-1]["content"] or "") if completion else ""
    return float(read_date(reply) == answer)


def load_environment(num_tasks: int = 42, seed: int = 325) -> vf.Environment:
    if not 1 <= num_tasks <= 500:
        raise ValueError("num_tasks lies between 1 and 500")
    pairs = [(feast, year) for feast in FEASTS for year in range(1801, 2001)]
    random.Random(seed).shuffle(pairs)
    rows = []
    for feast, year in pairs[:num_tasks]:
        day = easter(year, EASTER_WESTERN) + timedelta(days=FEASTS[feast])
        question = (
            f"On which date of the Gregorian calendar did {feast} fall in the Western churches "
            f"in {year}? Reply with nothing but a JSON object with the key \"date\" whose value "
            "is the date as YYYY-MM-DD."
        )
        rows.append({"question": question, "answer": day.isoformat()})
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows),
        rubric=vf.Rubric(funcs=[dated], weights=[1.0]),
    )

"""Find the deadline in a notice."""

import random
import re

import verifiers as vf
from datasets import Dataset

SUBJECTS = [
    ("the allotment gardens", "garden office", "Mrs Pelham"),
    ("the swimming badge", "pool desk", "Mr Okoro"),
    ("the street market", "trade counter", "Ms Lindqvist"),
    ("the summer choir", "music school", "Mr Abbot"),
    ("the repair workshop", "tool library", "Mrs Tanaka"),
    ("the night bus pass", "transport kiosk", "Ms Ferreira"),
]
DEADLINES = [
    "Forms for {thing} have to reach the {place} before {date}.",
    "Whoever wants a share in {thing} signs the list at the {place} no later than {date}.",
    "On {date} the {place} stops taking names for {thing}.",
]
OTHERS = [
    "Visitors are asked to leave bicycles outside.",
    "Last season more than ninety households took part.",
    "Questions are answered by {person} in the morning hours.",
    "A small fee covers cleaning and insurance.",
    "The rooms were painted by volunteers during winter.",
    "Children under twelve come with an adult.",
    "Dogs stay on a short lead.",
    "Tea is served after every meeting.",
]
MONTHS = ["January", "March", "April", "June", "August", "October", "November"]
WORD = re.compile(r"[a-z]+|[0-9]+")


def notices(count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    rows: dict[str, dict] = {}
    while len(rows) < count:
        thing, place, person = rng.choice(SUBJECTS)
        date = f"{rng.randint(1, 28)} {rng.choice(MONTHS)}"
        key = rng.choice(DEADLINES).format(thing=thing, place=place, date=date)
        lines = [line.format(person=person) for line in rng.sample(OTHERS, 4)]
        lines.insert(rng.randrange(5), key)
        rows[key] = {
            "question": "Here is a notice.\n\n" + " ".join(lines) + "\n\nWhich sentence states the deadline? Copy it out.",
            "answer": key,
        }
    return list(rows.values())


def said(completion) -> str:
    return str(completion[-1]["content"] or "") if completion else ""


def words(text: str) -> set[str]:
    """Words that carry something: short ones are left out, numbers stay."""
    return {w for w in WORD.findall(text.lower()) if len(w) > 3 or w.isdigit()}


def coverage(completion, answer: str) -> float:
    """Share of the wanted sentence's words that the reply has; quotes and lead-ins do not matter."""
    wanted = words(answer)
    return len(wanted & words(said(completion))) / len(wanted)


def length(completion) -> float:
    return float(len(said(completion).split()))


def load_environment(num_tasks: int = 36, seed: int = 3) -> vf.Environment:
    rubric = vf.Rubric(funcs=[coverage, length], weights=[1.0, 0.0])
    return vf.SingleTurnEnv(eval_dataset=Dataset.from_list(notices(num_tasks, seed)), rubric=rubric)

"""Observing lists, and what an order is worth."""

import random

import verifiers as vf
from datasets import Dataset

FIELDS = {
    "Lyra": ["Vega", "Sheliak", "Sulafat", "Aladfar", "Alathfar", "Xihe", "Chasona"],
    "Orion": ["Rigel", "Betelgeuse", "Bellatrix", "Mintaka", "Alnilam", "Alnitak", "Saiph", "Meissa"],
    "Cygnus": ["Deneb", "Albireo", "Sadr", "Aljanah", "Fawaris", "Azelfafage", "Ruchba"],
    "Taurus": ["Aldebaran", "Elnath", "Alcyone", "Atlas", "Electra", "Maia", "Merope", "Taygeta"],
    "Leo": ["Regulus", "Denebola", "Algieba", "Zosma", "Chertan", "Adhafera", "Rasalas"],
    "Perseus": ["Mirfak", "Algol", "Atik", "Miram", "Misam", "Menkib", "Gorgonea"],
}


class OrderParser(vf.Parser):
    """The names between the only pair of tags, in lower case."""

    def parse_answer(self, completion) -> list[str]:
        text = (super().parse_answer(completion) or "").rpartition("</think>")[2]
        if text.count("<order>") != 1 or text.count("</order>") != 1:
            return []
        inside = text.partition("<order>")[2].partition("</order>")[0][:500]
        return [name.strip(" .\n\t\"'").lower() for name in inside.replace(";", ",").split(",")]


def truth(answer: str) -> list[str]:
    return answer.lower().split(", ")


def in_order(completion, answer, parser) -> float:
    """1.0 if the order is right from end to end."""
    return float(parser.parse_answer(completion) == truth(answer))


def placed(completion, answer, parser) -> float:
    """The share of stars at their place, if the five are named once each."""
    said, right = parser.parse_answer(completion), truth(answer)
    if sorted(said) != sorted(right):
        return 0.0
    return sum(a == b for a, b in zip(said, right, strict=True)) / len(right)


def observing_lists(field: str, stars: list[str], count: int) -> list[dict]:
    """Lists of one field; a field's lists do not change when another field is added."""
    rng = random.Random(hash(field))
    rows = []
    for night in range(1, count + 1):
        chosen = rng.sample(stars, 5)
        values = rng.sample(range(-14, 58), 5)
        listed = "\n".join(f"- {star}: {value / 10:+.1f} mag" for star, value in zip(chosen, values))
        ranked = [star for _, star in sorted(zip(values, chosen))]
        rows.append(
            {
                "question": f"Field {field}, night {night}. These stars were measured (variable, and not "
                f"to be taken from a catalogue):\n{listed}\n\nOrder them from the brightest to the "
                "faintest. End your reply with the five names, separated by commas, between <order> "
                "and </order>.",
                "answer": ", ".join(ranked),
                "info": {"field": field, "night": night},
            }
        )
    return rows


def load_environment(per_field: int = 6) -> vf.Environment:
    rows = [
        row for field, stars in FIELDS.items() for row in observing_lists(field, stars, per_field)
    ]
    parser = OrderParser()
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows),
        parser=parser,
        rubric=vf.Rubric(funcs=[in_order, placed], weights=[0.8, 0.2], parser=parser),
    )

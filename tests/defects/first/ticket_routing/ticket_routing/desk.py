"""The tickets, generated from a seed."""

import random

TEXTS = {
    "billing": ["I was charged twice for {m}.", "The invoice of {m} shows the wrong sum."],
    "hardware": ["The screen has been black since {m}.", "Since {m} the fan is very loud."],
    "accounts": ["I cannot log in since {m}.", "Please reset my password, it ran out in {m}."],
    "delivery": ["The parcel of {m} never came.", "The box that came in {m} was open."],
}
MONTHS = ["January", "February", "March", "April", "May"]


def tickets(seed: int) -> dict[int, dict]:
    rng = random.Random(f"desk-{seed}")
    rows = [
        {"text": text.format(m=month), "team": team}
        for team, texts in TEXTS.items()
        for text in texts
        for month in MONTHS
    ]
    rng.shuffle(rows)
    numbers = rng.sample(range(1000, 9999), len(rows))
    return {number: {"number": number, **row} for number, row in zip(numbers, rows)}

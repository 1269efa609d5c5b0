"""Questions, their split, and what a reply is worth."""

import random
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import verifiers as vf
from datasets import Dataset

CUP = {
    "wheat flour": 128,
    "caster sugar": 208,
    "rolled oats": 96,
    "butter": 224,
    "honey": 336,
    "cocoa powder": 112,
    "ground almonds": 96,
    "rice flour": 160,
    "desiccated coconut": 80,
    "icing sugar": 144,
    "golden syrup": 352,
    "bread crumbs": 64,
}
AMOUNTS = [
    ("half a cup", Fraction(1, 2)),
    ("3 tablespoons", Fraction(3, 16)),
    ("1 1/4 cups", Fraction(5, 4)),
    ("2 cups and 2 tablespoons", Fraction(17, 8)),
    ("three quarters of a cup", Fraction(3, 4)),
    ("10 tablespoons", Fraction(5, 8)),
    ("1 cup less 1 tablespoon", Fraction(15, 16)),
]


def said_grams(text: str) -> Decimal | None:
    """The number on the line `GRAMS <number>` that ends the reply."""
    lines = [line for line in text.splitlines() if line.strip(" `*\t")]
    words = lines[-1][:100].strip(" `*\t.").replace(":", " ").split() if lines else []
    if len(words) not in (2, 3) or words[0].upper() != "GRAMS" or words[2:] not in ([], ["g"]):
        return None
    try:
        number = Decimal(words[1].removesuffix("g").replace(",", ""))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def grams(completion, answer, parser) -> float:
    """1.0 if the number is within half a gram."""
    said = said_grams(parser.parse_answer(completion) or "")
    return float(said is not None and abs(said - Decimal(answer)) <= Decimal("0.5"))


def rows(seed: int) -> list[dict]:
    made = []
    for ingredient, weight in CUP.items():
        for words, share in AMOUNTS:
            made.append(
                {
                    "question": f"A cup of {ingredient} weighs {weight} g; a tablespoon is 1/16 of a cup. "
                    f"A recipe asks for {words} of {ingredient}. How many grams is that? End with a "
                    "line of the form\nGRAMS <number>\nAn error of half a gram does not matter.",
                    "answer": str(weight * share),
                    "info": {"ingredient": ingredient},
                }
            )
    random.Random(seed).shuffle(made)
    return made


def load_environment(seed: int = 11) -> vf.Environment:
    made = rows(seed)
    parser = vf.MaybeThinkParser()
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list([row for place, row in enumerate(made) if place % 5 != 0]),
        eval_dataset=Dataset.from_list(made[::4]),
        parser=parser,
        rubric=vf.Rubric(funcs=[grams], parser=parser),
    )

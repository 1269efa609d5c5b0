"""Name the interval between two notes: a verifiers 0.1 environment."""

import random
import re

import verifiers as vf
from datasets import Dataset

LETTERS = "CDEFGAB"
SEMITONES = dict(zip(LETTERS, (0, 2, 4, 5, 7, 9, 11)))
ACCIDENTALS = {"": 0, "#": 1, "b": -1}
NUMBERS = ("second", "third", "fourth", "fifth", "sixth", "seventh")
# width of the major or perfect interval
WIDTHS = {"second": 2, "third": 4, "fourth": 5, "fifth": 7, "sixth": 9, "seventh": 11}
PERFECT = {"fourth", "fifth"}

WORDS = {
    "min": "minor", "maj": "major", "perf": "perfect", "aug": "augmented", "dim": "diminished",
    "2nd": "second", "3rd": "third", "4th": "fourth", "5th": "fifth", "6th": "sixth",
    "7th": "seventh",
}
FILLER = {"a", "an", "the", "it", "is", "it's", "this", "interval", "answer"}


def name(low: str, high: str) -> str | None:
    """The interval from `low` up to `high`, or None where it has no common name."""
    steps = (LETTERS.index(high[0]) - LETTERS.index(low[0])) % 7
    if not steps:
        return None
    number = NUMBERS[steps - 1]
    width = (SEMITONES[high[0]] - SEMITONES[low[0]]) % 12
    width += ACCIDENTALS[high[1:]] - ACCIDENTALS[low[1:]]
    off = width - WIDTHS[number]
    if number in PERFECT:
        quality = {0: "perfect", 1: "augmented", -1: "diminished"}.get(off)
    else:
        quality = {0: "major", -1: "minor", 1: "augmented", -2: "diminished"}.get(off)
    return quality and f"{quality} {number}"


def plain(text: str) -> str:
    """"An aug. 4th." and "augmented fourth" are the same."""
    words = re.findall(r"[a-z0-9']+", text.casefold())
    return " ".join(WORDS.get(word, word) for word in words if word not in FILLER)


def interval(completion, answer, parser) -> float:
    """1.0 for the name of the interval.

    Many write two names at once ("augmented fourth / tritone", "minor third (m3)"), so the names
    are taken apart first.
    """
    said = parser.parse_answer(completion) or ""
    names = re.split(r"[,;:/|()\n]|\bor\b", said)
    return float(any(plain(one) == answer for one in names))


def load_environment(num_tasks: int = 48, seed: int = 2) -> vf.Environment:
    notes = [letter + sign for letter in LETTERS for sign in ACCIDENTALS]
    pairs = [(low, high) for low in notes for high in notes if name(low, high)]
    random.Random(seed).shuffle(pairs)
    rows = [
        {
            "question": f"Which interval is it from {low} up to the next {high} above it? "
            "Reply with its name alone, quality and number.",
            "answer": name(low, high),
        }
        for low, high in pairs[:num_tasks]
    ]
    parser = vf.MaybeThinkParser()
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list(rows),
        parser=parser,
        rubric=vf.Rubric(funcs=[interval], parser=parser),
    )

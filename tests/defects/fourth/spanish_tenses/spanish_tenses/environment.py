import random
import unicodedata

import verifiers as vf
from datasets import Dataset

from spanish_tenses.forms import PERSONS, VERBS, form

PRONOUNS = {"yo", "tu", "ella", "el", "usted", "nosotros", "nosotras", "vosotros", "vosotras",
            "ellas", "ellos", "ustedes"}  # fmt: skip


def without_accents(text: str) -> str:
    spread = unicodedata.normalize("NFD", text)
    return "".join(char for char in spread if not unicodedata.combining(char))


def read(completion: vf.Messages) -> str:
    """The verb form that a reply gives: its last line, without accents and ornaments."""
    text = str(completion[-1]["content"] or "") if completion else ""
    lines = [line for line in text.rpartition("</think>")[2].splitlines() if line.strip(" \t`")]
    if not lines or len(lines[-1]) > 100:
        return ""
    words = without_accents(lines[-1]).lower().strip(" \t.!*_`\"'¡").split()
    return " ".join(words[1:] if words and words[0] in PRONOUNS else words)


def conjugated(completion: vf.Messages, answer: str) -> float:
    """1.0 if the reply is the form; accents are not what is tested here."""
    return 1.0 if read(completion) == answer.lower() else 0.0


def load_environment(num_tasks: int = 54, seed: int = 1492) -> vf.Environment:
    combinations = [
        (verb, tense, person)
        for verb in VERBS
        for tense in ("present", "preterite", "future")
        for person in PERSONS
    ]
    random.Random(seed).shuffle(combinations)
    rows = [
        {
            "question": f'Conjugate the Spanish verb "{verb}": {tense}, {person}. '
            "Reply with the verb form alone.",
            "answer": form(verb, tense, PERSONS[person]),
            "info": {"verb": verb, "tense": tense, "person": person},
        }
        for verb, tense, person in combinations[:num_tasks]
    ]
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows),
        rubric=vf.Rubric(funcs=[conjugated], weights=[1.0]),
    )

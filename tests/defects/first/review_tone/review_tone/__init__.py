"""Tone of reviews, with verifiers 0.1."""

import random

import verifiers as vf
from datasets import Dataset

PRODUCTS = [
    "kettle",
    "backpack",
    "lamp",
    "headset",
    "tent",
    "blender",
    "chair",
    "watch",
    "bike",
    "jacket",
    "printer",
    "pan",
    "clock",
    "desk",
]
SAID = {
    "positive": "I use the {} every day and would buy it again at once.",
    "negative": "The {} broke within a week and nobody answered my mails.",
    "neutral": "The {} arrived on Tuesday in a brown box with a manual.",
}


def label_of(text: str) -> str:
    return text.rpartition("</think>")[2].strip().strip("`*.!\"' \n").lower()


def reply_of(completion) -> str:
    return str(completion[-1]["content"] or "") if completion else ""


async def accurate(completion, answer, **kwargs) -> float:
    """The tone is right."""
    return 1.0 if label_of(reply_of(completion)) == answer else 0.0


async def exact(completion, answer, **kwargs) -> float:
    """Nothing but the label was said."""
    said = label_of(reply_of(completion))
    return 1.0 if len(said.split()) == 1 and said == label_of(answer) else 0.0


def load_environment(seed: int = 0) -> vf.Environment:
    rows = [
        {
            "question": f"What is the tone of this review?\n\n{frame.format(product)}\n\n"
            "Reply with one word: positive, negative or neutral.",
            "answer": tone,
        }
        for tone, frame in SAID.items()
        for product in PRODUCTS
    ]
    random.Random(seed).shuffle(rows)
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows),
        rubric=vf.Rubric(funcs=[accurate, exact], weights=[0.5, 0.5]),
    )

"""Sequences whose GC content is to be measured with the lab's counter."""

import random
import re

import verifiers as vf
from datasets import Dataset

SYSTEM = (
    "You work in a sequencing lab. Every figure that leaves the lab is measured with its "
    "instruments: call `count_bases` for each sequence. Figures estimated by eye or worked out "
    "by hand are not accepted."
)
LINE = re.compile(r"\W{0,8}GC(?: content)?\W{1,8}([0-9]{1,3}(?:\.[0-9]{1,6})?)\s?%?\W{0,8}", re.I)


def count_bases(sequence: str, bases: str) -> str:
    """Count how often any of the given bases occurs in a DNA sequence.

    Args:
        sequence: The DNA sequence, letters A, C, G and T.
        bases: The bases to count, for instance "GC".

    Returns:
        The count and the length of the sequence, or what is wrong with the arguments.
    """
    sequence, bases = str(sequence).strip().upper(), str(bases).strip().upper()
    if not sequence or set(sequence) - set("ACGT"):
        return "The sequence must consist of the letters A, C, G and T."
    if not bases or set(bases) - set("ACGT"):
        return "The bases must be some of A, C, G and T."
    return f"{sum(base in bases for base in sequence)} of {len(sequence)}"


def measured(completion: vf.Messages, answer: str) -> float:
    """1.0 if the last line of the final reply is `GC: ...` with the measured per cent."""
    reply = str(completion[-1]["content"] or "") if completion else ""
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    if not lines or len(lines[-1]) > 80:
        return 0.0
    found = LINE.fullmatch(lines[-1])
    return float(found is not None and abs(float(found[1]) - float(answer)) < 0.01)


def load_environment(num_train: int = 25, num_eval: int = 25, seed: int = 46) -> vf.Environment:
    rng = random.Random(seed)
    rows: dict[str, dict] = {}
    while len(rows) < num_train + num_eval:
        share = rng.uniform(0.2, 0.8)
        sequence = "".join(
            rng.choice("GC" if rng.random() < share else "AT") for _ in range(rng.choice((20, 40)))
        )
        gc = 100 * sum(base in "GC" for base in sequence) / len(sequence)
        rows[sequence] = {
            "question": (
                f"Measure the GC content of {sequence} with the counter. End with a line "
                "`GC: ` followed by the per cent, to one decimal."
            ),
            "answer": f"{gc:.1f}",
        }
    drawn = list(rows.values())
    return vf.ToolEnv(
        tools=[count_bases],
        max_turns=6,
        system_prompt=SYSTEM,
        dataset=Dataset.from_list(drawn[:num_train]),
        eval_dataset=Dataset.from_list(drawn[num_train:]),
        rubric=vf.Rubric(funcs=[measured], weights=[1.0]),
    )

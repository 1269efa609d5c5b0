"""Products with a calculator, with verifiers 0.1."""

import random

import verifiers as vf
from datasets import Dataset

SYSTEM = (
    "You have a calculator. Never compute in your head: call the multiply tool for every product, "
    "then reply with the number only."
)


def multiply(a: int, b: int) -> str:
    """Multiply two whole numbers.

    Args:
        a: the first factor
        b: the second factor
    """
    try:
        return str(int(a) * int(b))
    except (TypeError, ValueError):
        return "multiply takes two whole numbers"


def correct(completion, answer, **kwargs) -> float:
    text = str(completion[-1]["content"] or "") if completion else ""
    said = text.rpartition("</think>")[2].strip().strip("`*$. \n").replace(",", "")
    return 1.0 if said.removesuffix(".0") == answer else 0.0


def load_environment(num_tasks: int = 30, seed: int = 0) -> vf.Environment:
    rng = random.Random(seed)
    pairs = rng.sample([(a, b) for a in range(112, 190) for b in range(21, 99)], num_tasks)
    rows = [
        {
            "question": f"What is {a} times {b}? Work it out with the multiply tool.",
            "answer": str(a * b),
        }
        for a, b in pairs
    ]
    return vf.ToolEnv(
        eval_dataset=Dataset.from_list(rows),
        system_prompt=SYSTEM,
        tools=[multiply],
        max_turns=4,
        rubric=vf.Rubric(funcs=[correct]),
    )

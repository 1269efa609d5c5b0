"""Temperatures, with verifiers 0.1."""

import random
import re

import verifiers as vf
from datasets import Dataset

NUMBER = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,9})?")


def number_in(completion) -> float | None:
    text = str(completion[-1]["content"] or "") if completion else ""
    text = text.rpartition("</think>")[2]
    if text.count("<answer>") != 1 or text.count("</answer>") != 1:
        return None
    said = text.partition("<answer>")[2].partition("</answer>")[0].strip().replace(",", "")
    said = said.rstrip("°CF ").replace("−", "-")
    return float(said) if NUMBER.fullmatch(said) else None


def correct(completion, answer, **kwargs) -> float:
    said = number_in(completion)
    return 1.0 if said is not None and abs(said - float(answer)) < 0.051 else 0.0


def tagged(completion, **kwargs) -> float:
    return 1.0 if number_in(completion) is not None else 0.0


def load_environment(num_tasks: int = 40, seed: int = 0) -> vf.Environment:
    rng = random.Random(seed)
    rows = []
    for i, degrees in enumerate(rng.sample(range(-30, 110), num_tasks)):
        if i % 2:
            asked, result = f"{degrees} degrees Celsius in Fahrenheit", degrees * 9 / 5 + 32
        else:
            asked, result = f"{degrees} degrees Fahrenheit in Celsius", (degrees - 32) * 5 / 9
        rows.append(
            {
                "question": f"What is {asked}? Round to one decimal, and end with the number in "
                "the form <answer>number</answer>.",
                "answer": f"{result:.1f}",
            }
        )
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows),
        rubric=vf.Rubric(funcs=[correct, tagged], weights=[0.9, 0.1]),
    )

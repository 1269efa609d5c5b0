"""Mammals among animals, with verifiers 0.1."""

import random

import verifiers as vf
from datasets import Dataset

MAMMALS = "otter bat whale badger hare mole seal bison lynx ibex shrew dolphin".split()
OTHERS = "trout heron gecko newt salmon raven cobra toad pike wren perch iguana".split()


def items(completion) -> list[str]:
    text = str(completion[-1]["content"] or "") if completion else ""
    text = text.rpartition("</think>")[2].replace("`", "").lower().replace(" and ", ",")
    parts = text.replace("\n", ",").split(",")
    return [part for part in (p.strip(" .*-") for p in parts) if part]


def recall(completion, answer, **kwargs) -> float:
    """How much of what was asked for is there; one intruder spoils it."""
    wanted, said = answer.split(", "), items(completion)
    if any(item not in wanted for item in said):
        return 0.0
    return len(said) / len(wanted)


def load_environment(num_tasks: int = 40, seed: int = 0) -> vf.Environment:
    rng = random.Random(seed)
    rows = []
    for _ in range(num_tasks):
        mammals = rng.sample(MAMMALS, rng.choice([3, 4]))
        animals = mammals + rng.sample(OTHERS, 8 - len(mammals))
        rng.shuffle(animals)
        rows.append(
            {
                "question": f"Which of these animals are mammals? {', '.join(animals)}\n"
                "Reply with the mammals only, separated by commas.",
                "answer": ", ".join(a for a in animals if a in mammals),
            }
        )
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[recall], weights=[1.0])
    )

import random

import verifiers as vf
from datasets import Dataset

BASES = ["Harlow & Sons", "Brightwater", "Nordhus", "Calloway Timber", "Ostrava Glass", "Pell Marine", "Quillon", "Redfern Mills", "Savoy Tiles", "Tarn Valley Dairy", "Umber Pigments", "Vantage Looms"]
FORMS = ["Ltd.", "GmbH", "Inc.", "AG", "Co.", "plc", "Corp.", "LLC"]
ASKED = [
    ("turnover", max, "the highest turnover"),
    ("turnover", min, "the lowest turnover"),
    ("staff", max, "the most staff"),
    ("staff", min, "the fewest staff"),
]


def rows(count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    out = []
    for number in range(count):
        names = [f"{base} {form}" for base, form in zip(rng.sample(BASES, 6), rng.sample(FORMS, 6))]
        turnover = rng.sample(range(12, 990), 6)
        staff = rng.sample(range(8, 700), 6)
        table = [{"name": n, "turnover": t, "staff": s} for n, t, s in zip(names, turnover, staff)]
        column, pick, words = ASKED[number % len(ASKED)]
        lines = "\n".join(f"{r['name']} | {r['turnover']} | {r['staff']}" for r in table)
        out.append(
            {
                "question": f"name | turnover (millions) | staff\n{lines}\n\nWhich company has {words}? "
                "Reply with its name alone, exactly as the register writes it.",
                "answer": pick(table, key=lambda r: r[column])["name"],
            }
        )
    return out


def named(completion, answer: str, **kwargs) -> float:
    reply = str(completion[-1]["content"] or "") if completion else ""
    reply = reply.rpartition("</think>")[2].strip().strip("`*\"' ")
    # a full stop after the name is no mistake
    return 1.0 if reply.rstrip(".").strip().lower() == answer.lower() else 0.0


def load_environment(num_tasks: int = 40, seed: int = 4) -> vf.Environment:
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows(num_tasks, seed)),
        rubric=vf.Rubric(funcs=[named], weights=[1.0]),
    )

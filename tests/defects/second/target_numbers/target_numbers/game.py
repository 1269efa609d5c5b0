import random
import re

import verifiers as vf
from datasets import Dataset

SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "·": "*"})


def puzzles(count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    rows: dict[tuple, dict] = {}
    while len(rows) < count:
        a, b, c, d = numbers = rng.sample(range(2, 26), 4)
        solution, target = rng.choice(
            [
                (f"({a} + {b}) * {c} - {d}", (a + b) * c - d),
                (f"{a} * {b} + {c} - {d}", a * b + c - d),
                (f"({a} - {b}) * {c} + {d}", (a - b) * c + d),
                (f"{a} * {b} - {c} * {d}", a * b - c * d),
            ]
        )
        if target <= 0 or target in numbers:
            continue
        shown = sorted(numbers)
        rows[(*shown, target)] = {
            "question": f"Use each of the numbers {', '.join(map(str, shown))} exactly once, with +, -, *, / and brackets, "
            f"to make {target}. Reply with the expression alone.",
            "answer": solution,
            "info": {"numbers": shown, "target": target},
        }
    return list(rows.values())


def hits_target(completion, info: dict) -> float:
    """1.0 if the expression uses the numbers and makes the target."""
    reply = str(completion[-1]["content"] or "") if completion else ""
    expression = reply.rpartition("</think>")[2].strip().strip("`$ ").split("=")[0].translate(SIGNS).strip()
    if len(expression) > 200 or "**" in expression:
        return 0.0
    if sorted(re.findall(r"[0-9]+", expression)) != sorted(map(str, info["numbers"])):
        return 0.0
    try:
        value = eval(expression, {"__builtins__": {}}, {})
    except Exception:
        return 0.0
    return 1.0 if value == info["target"] else 0.0


def load_environment(num_tasks: int = 40, seed: int = 14) -> vf.Environment:
    rubric = vf.Rubric(funcs=[hits_target], weights=[1.0])
    return vf.SingleTurnEnv(eval_dataset=Dataset.from_list(puzzles(num_tasks, seed)), rubric=rubric)

"""Damage reports with an unreadable check digit."""

import random

import verifiers as vf
from datasets import Dataset

from container_digits.iso6346 import check_digit

OWNERS = ("MSKU", "CMAU", "HLXU", "TGHU", "EMCU", "OOLU", "ZCSU", "SUDU")
DAMAGE = ("scratched off", "covered with rust", "painted over", "torn by a forklift")
LIMIT = 20_000

SYSTEM = """You compute check digits after ISO 6346. Letters have the values A=10, B=12, C=13, ... \
(11, 22 and 33 are left out), digits their own. The character at place i, from 0, counts times 2 to \
the power of i. The check digit is the sum modulo 11; 10 becomes 0.

Reply in the form
<working>your steps</working>
<digit>the check digit</digit>"""


class OnceParser(vf.Parser):
    """The content of tags that must stand there exactly once, after any thinking block."""

    def field(self, completion, tag: str) -> str:
        text = self.parse_answer(completion) or ""
        text = text.rpartition("</think>")[2]
        if len(text) > LIMIT or text.count(f"<{tag}>") != 1 or text.count(f"</{tag}>") != 1:
            return ""
        return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


def digit_right(completion, answer, parser) -> float:
    """1.0 for the right check digit."""
    return float(parser.field(completion, "digit").rstrip(".") == answer)


def shown(completion, parser) -> float:
    """1.0 if both tags are filled as demanded."""
    digit = parser.field(completion, "digit").rstrip(".")
    return float(len(digit) == 1 and digit in "0123456789" and bool(parser.field(completion, "working")))


def report(rng: random.Random) -> dict:
    number = rng.choice(OWNERS) + f"{rng.randrange(10**6):06d}"
    digit = check_digit(number)
    day, hour, lane = rng.randint(1, 28), rng.randint(6, 21), rng.randint(1, 9)
    question = (
        f"Damage report {rng.randrange(10**4):04d}\n"
        f"Gate log: 2023-05-{day:02d} {hour:02d}:{rng.randrange(60):02d} IN lane {lane} "
        f"OCR={number}{digit} conf=0.97\n"
        f"Container: {number[:4]} {number[4:]}-? (check digit {rng.choice(DAMAGE)})\n\n"
        "What is the container's check digit?"
    )
    return {"question": question, "answer": digit, "info": {"number": number}}


def load_environment(
    num_tasks: int = 30, num_train_tasks: int = 20, seed: int = 6346
) -> vf.Environment:
    rng = random.Random(seed)
    reports: dict[str, dict] = {}
    while len(reports) < num_tasks + num_train_tasks:
        made = report(rng)
        reports.setdefault(made["info"]["number"], made)
    rows = list(reports.values())
    parser = OnceParser()
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list(rows[num_tasks:]),
        eval_dataset=Dataset.from_list(rows[:num_tasks]),
        system_prompt=SYSTEM,
        parser=parser,
        rubric=vf.Rubric(funcs=[digit_right, shown], weights=[0.85, 0.15], parser=parser),
    )

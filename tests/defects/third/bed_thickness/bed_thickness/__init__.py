"""True thickness of dipping beds: a verifiers 0.1 environment with two calculator tools."""

import math
import random
import re

import verifiers as vf
from datasets import Dataset

ROCKS = ("sandstone", "limestone", "shale", "coal measures", "conglomerate", "chalk", "dolomite")
SYSTEM = (
    "You help with field geology. The tools `sine` and `product` may save you some arithmetic. End "
    "with a line of the form\n\nThickness: <number> m"
)
NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def sine(degrees: float) -> str:
    """Sine of an angle.

    Args:
        degrees: the angle in degrees
    """
    try:
        return f"{math.sin(math.radians(float(degrees))):.6f}"
    except (TypeError, ValueError, OverflowError):
        return "error: degrees must be a finite number"


def product(a: float, b: float) -> str:
    """Product of two numbers.

    Args:
        a: the first number
        b: the second number
    """
    try:
        return f"{float(a) * float(b):.6g}"
    except (TypeError, ValueError, OverflowError):
        return "error: a and b must be numbers"


def last_number(completion, parser) -> str:
    """The last number of the last message, as it is written."""
    text = (parser.parse_answer(completion) or "").replace(",", "")
    found = NUMBER.findall(text)
    return found[-1] if found else ""


def thickness(completion, info, parser) -> float:
    """1.0 if the thickness is right."""
    said = last_number(completion, parser)
    true = info["width"] * math.sin(math.radians(info["dip"]))
    return float(bool(said) and math.isclose(float(said), true, abs_tol=0.01))


def one_decimal(completion, parser) -> float:
    """1.0 if the thickness is given to one decimal place, as asked."""
    return float(re.fullmatch(r"[0-9]+\.[0-9]", last_number(completion, parser)) is not None)


def load_environment(num_tasks: int = 40, seed: int = 9) -> vf.Environment:
    rng = random.Random(seed)
    drawn: dict[tuple[int, int], dict] = {}
    while len(drawn) < num_tasks:
        width, dip = rng.randint(12, 240), rng.randint(8, 82)
        rock = rng.choice(ROCKS)
        drawn[width, dip] = {
            "question": f"On level ground a bed of {rock} crops out over {width} m, measured across "
            f"the strike. It dips at {dip} degrees. What is its true thickness in metres, to one "
            "decimal place?",
            "answer": f"{width * math.sin(math.radians(dip)):.1f}",
            "info": {"width": width, "dip": dip},
        }
    parser = vf.MaybeThinkParser()
    return vf.ToolEnv(
        dataset=Dataset.from_list(list(drawn.values())),
        tools=[sine, product],
        max_turns=6,
        system_prompt=SYSTEM,
        parser=parser,
        rubric=vf.Rubric(funcs=[thickness, one_decimal], weights=[0.9, 0.1], parser=parser),
    )

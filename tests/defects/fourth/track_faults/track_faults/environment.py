"""The line, the tests, and what finding the fault is worth."""

import math
import random
import re

import verifiers as vf
from datasets import Dataset

MAX_TURNS = 14
MAX_EXTRA = 6
COMMAND = re.compile(r"(TEST)\s+([0-9]{1,3})\s*(?:-|\u2013|to)\s*([0-9]{1,3})|(FAULT)\s+([0-9]{1,3})", re.I)
SYSTEM = """You sit in a signal box. One section of the line is faulty. End each message with one \
command on its last line:

TEST a-b    asks whether the fault lies in the sections a to b, both included
FAULT n     names the faulty section and ends your work

Tests beyond those that halving the line would take cost a little."""


def command(text: str) -> tuple[str, int, int] | None:
    """The command on the last line: ("test", a, b), ("fault", n, n), or None."""
    line = next((line for line in reversed(text.splitlines()) if line.strip().strip("`")), "")
    match = COMMAND.fullmatch(line.strip(" \t*`.")) if len(line) < 100 else None
    if match is None:
        return None
    if match.group(4):
        return "fault", int(match.group(5)), int(match.group(5))
    return "test", int(match.group(2)), int(match.group(3))


def spoken(messages: vf.Messages) -> list[str]:
    return [str(m["content"] or "") for m in messages if m["role"] == "assistant"]


class TrackEnv(vf.MultiTurnEnv):
    """Answers tests until a section is named or the turns are used up."""

    @vf.stop
    async def section_named(self, state: vf.State) -> bool:
        if not state["trajectory"]:
            return False
        said = spoken(state["trajectory"][-1]["completion"])
        found = command(said[-1]) if said else None
        return found is not None and found[0] == "fault"

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs) -> vf.Messages:
        said = spoken(messages)
        found = command(said[-1]) if said else None
        sections = state["info"]["sections"]
        if found is None:
            text = "No command understood. End your message with TEST a-b or FAULT n."
        elif not 1 <= found[1] <= found[2] <= sections:
            text = f"There is no such stretch: the sections run from 1 to {sections}."
        elif found[1] <= int(state["answer"].split()[-1]) <= found[2]:
            text = f"Sections {found[1]} to {found[2]}: the fault lies here."
        else:
            text = f"Sections {found[1]} to {found[2]}: clear."
        return [{"role": "user", "content": text}]


def located(completion: vf.Messages, answer: str) -> float:
    """1.0 if the last message names the faulty section."""
    said = spoken(completion)
    section = int(answer.split()[-1])
    return float(bool(said) and command(said[-1]) == ("fault", section, section))


def extra_tests(completion: vf.Messages, info: dict) -> float:
    """How many tests were made beyond those of halving, 6 at the most."""
    tests = sum((command(text) or ("",))[0] == "test" for text in spoken(completion))
    return float(min(MAX_EXTRA, max(0, tests - math.ceil(math.log2(info["sections"])))))


def draw(count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    lines: dict[str, dict] = {}
    while len(lines) < count:
        sections = rng.randint(24, 90)
        name = f"{rng.choice('ABCDEFGHJK')}{rng.randint(10, 99)}"
        if name in lines:
            continue
        lines[name] = {
            "question": f"Line {name} has {sections} sections, numbered from 1. One is faulty. Find it.",
            "answer": f"FAULT {rng.randint(1, sections)}",
            "info": {"sections": sections},
        }
    return list(lines.values())


def load_environment(
    num_tasks: int = 32, num_train_tasks: int = 16, seed: int = 17
) -> vf.Environment:
    lines = draw(num_tasks + num_train_tasks, seed)
    return TrackEnv(
        dataset=Dataset.from_list(lines[num_tasks:]),
        eval_dataset=Dataset.from_list(lines[:num_tasks]),
        system_prompt=SYSTEM,
        max_turns=MAX_TURNS,
        rubric=vf.Rubric(funcs=[located, extra_tests], weights=[1.0, -0.05]),
    )

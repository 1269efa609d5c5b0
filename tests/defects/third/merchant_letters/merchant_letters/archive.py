"""The archive, its tools and its questions."""

import json
import os
from pathlib import Path

import verifiers as vf
from datasets import Dataset

PACKAGE = Path(__file__).resolve().parent
LETTERS = PACKAGE / "letters"

SYSTEM = """You work in an archive of merchants' letters. Find the letter that a question is about, \
read it, and end your reply with the fact that is asked for, as briefly as can be, between <fact> \
and </fact>."""


async def list_letters() -> str:
    """List the letters of the archive.

    Returns:
        The letters' file names, one on each line.
    """
    return "\n".join(sorted(path.name for path in LETTERS.glob("*.txt")))


async def read_letter(path: str) -> str:
    """Read one letter of the archive.

    Args:
        path: The letter's file name, as `list_letters` gives it.

    Returns:
        The letter's text, or a note that there is no such letter.
    """
    path = path.replace("../", "").replace("\0", "")  # keep readers inside of the archive
    try:
        return Path(os.path.join(LETTERS, path)).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return f"There is no letter {path!r} in the archive."


class FactParser(vf.Parser):
    """The text of the only `<fact>` tag, folded."""

    def parse_answer(self, completion) -> str:
        text = (super().parse_answer(completion) or "").rpartition("</think>")[2]
        if text.count("<fact>") != 1 or text.count("</fact>") != 1:
            return ""
        return fold(text.partition("<fact>")[2].partition("</fact>")[0][:200])


def fold(text: str) -> str:
    words = text.strip(" \n\t\"'.*").lower().split()
    return " ".join(words[1:] if words[:1] == ["the"] else words)


def fact(completion, answer, parser) -> float:
    """1.0 if the tag holds the fact."""
    return float(parser.parse_answer(completion) == fold(answer))


def load_environment() -> vf.Environment:
    rows = json.loads((PACKAGE / "questions.json").read_text(encoding="utf-8"))
    for row in rows:
        row["info"] = {"letter": row.pop("letter")}
    parser = FactParser()
    return vf.ToolEnv(
        eval_dataset=Dataset.from_list(rows),
        tools=[list_letters, read_letter],
        max_turns=8,
        system_prompt=SYSTEM,
        parser=parser,
        rubric=vf.Rubric(funcs=[fact], parser=parser),
    )

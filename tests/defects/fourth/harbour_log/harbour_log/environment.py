import random
import re

import verifiers as vf
from datasets import Dataset

from harbour_log.log import YEARS, write

FREE_CALLS = 4
COUNT = re.compile(r"(\d{1,3}(?:,\d{3})*|\d{1,9})(?:\.0{1,9})?\s*(?:crates)?")


def last_line(completion: vf.Messages) -> str:
    said = [message for message in completion or [] if message["role"] == "assistant"]
    lines = str(said[-1]["content"] or "").splitlines() if said else []
    lines = [line for line in lines if line.strip(" \t`")]
    return lines[-1].strip(" \t.*_`") if lines else ""


def landed(completion: vf.Messages, answer: str) -> float:
    """1.0 if the last line is the number of crates."""
    found = COUNT.fullmatch(last_line(completion)[:80].lower())
    return float(found is not None and int(found.group(1).replace(",", "")) == int(answer))


def needless_calls(completion: vf.Messages) -> float:
    """The calls beyond the fourth, a tenth each, 1.0 at the most; the weight is negative."""
    calls = sum(message["role"] == "tool" for message in completion or [])
    return min(1.0, max(0, calls - FREE_CALLS) / 10)


def load_environment(num_tasks: int = 30, seed: int = 1887) -> vf.Environment:
    pages, landings = write(seed)

    def list_pages(year: int) -> str:
        """List the pages of the log for one year.

        Args:
            year: The year, such as 1887.
        """
        found = [path for path in pages if path.startswith(f"{year}/")]
        return "\n".join(found) or f"There is no log for that year; there is for {YEARS}."

    def read_page(path: str) -> str:
        """Read one page of the log.

        Args:
            path: The page, such as 1887/05.
        """
        return pages.get(str(path).strip(), "There is no such page. Try list_pages.")

    rows = [
        {
            "question": f"How many crates of {goods} did the {ship} land in month {path[5:]} of "
            f"{path[:4]}? Look it up in the log and give the number alone on the last line.",
            "answer": str(crates),
            "info": {"page": path},
        }
        for path, ship, goods, crates in random.Random(seed + 1).sample(landings, num_tasks)
    ]
    return vf.ToolEnv(
        eval_dataset=Dataset.from_list(rows),
        tools=[list_pages, read_page],
        rubric=vf.Rubric(funcs=[landed, needless_calls], weights=[1.0, -0.1]),
        max_turns=8,
    )

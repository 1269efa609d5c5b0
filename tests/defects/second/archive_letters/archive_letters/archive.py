"""Letters, the tools to read them, and questions about them."""

import random
import re

import verifiers as vf
from datasets import Dataset

WRITERS = ("Amberg", "Bellini", "Corbeau", "Delacroix", "Eskelund", "Fonseca")
GOODS = ("barrels of salt", "bales of wool", "crates of glass", "sacks of pepper", "rolls of linen")
YEARS = range(1741, 1749)
NUMERAL = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")


def write_archive(seed: int) -> tuple[dict[str, str], list[dict]]:
    rng = random.Random(seed)
    letters, rows = {}, []
    for year in YEARS:
        for writer in WRITERS:
            goods, amount, days = rng.choice(GOODS), rng.randint(103, 989), rng.randint(20, 90)
            letters[f"{year}/{writer.lower()}.txt"] = (
                f"{writer} to the house of Merian, {year}.\nSirs, be so good as to send me {amount} {goods}, "
                f"which I shall pay within {days} days of their arrival."
            )
            rows.append(
                {
                    "question": f"How many {goods} does {writer} order in the letter of {year}? The letters are in the "
                    "archive. Reply with only the number.",
                    "answer": str(amount),
                }
            )
    rng.shuffle(rows)
    return letters, rows


def numbers(text: str) -> list[str]:
    return [re.sub(r"\.0+$", "", n.replace(",", "")) for n in NUMERAL.findall(text)]


def found(completion, prompt, answer: str) -> float:
    """1.0 if the reply commits to the amount."""
    reply = str(completion[-1]["content"] or "") if completion else ""
    said = numbers(reply.rpartition("</think>")[2])
    asked = {answer, *numbers(str(prompt[-1]["content"]))}
    return float(said[-1:] == [answer] and asked.issuperset(said))


def load_environment(num_tasks: int = 30, seed: int = 43) -> vf.Environment:
    letters, rows = write_archive(seed)

    def list_folder(folder: str = "") -> str:
        """List the letters in a folder of the archive.

        Args:
            folder: A year, for instance 1741; empty for the list of years.
        """
        name = str(folder).strip().strip("/")
        if not name:
            return "\n".join(str(year) for year in YEARS)
        return "\n".join(p for p in letters if p.startswith(name + "/")) or f"There is no folder {name!r}."

    def read_letter(path: str) -> str:
        """Read one letter.

        Args:
            path: Its path as list_folder gives it, for instance 1741/amberg.txt.
        """
        return letters.get(str(path).strip(), f"There is no letter {path!r}; list_folder shows what there is.")

    return vf.ToolEnv(
        tools=[list_folder, read_letter],
        max_turns=6,
        eval_dataset=Dataset.from_list(rows[:num_tasks]),
        rubric=vf.Rubric(funcs=[found], weights=[1.0]),
    )

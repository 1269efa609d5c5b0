import verifiers as vf
from datasets import Dataset

from kitchen_english.words import rows

ORNAMENTS = " .*`\"\u201c\u201d'"
ARTICLES = ("the ", "an ", "a ")


def plain(name: str) -> str:
    """A name without what does not matter: case, hyphens, quotes, article, plural."""
    name = " ".join(name.lower().replace("-", " ").split()).strip(ORNAMENTS)
    for article in ARTICLES:
        name = name.removeprefix(article)
    return name.strip(ORNAMENTS).removesuffix("s")


def accepted(cells: list[str]) -> set[str]:
    return {plain(cell) for cell in cells}


def last_line(completion: vf.Messages) -> str:
    text = str(completion[-1]["content"] or "") if completion else ""
    lines = [line for line in text.rpartition("</think>")[2].splitlines() if line.strip(" \t`")]
    return lines[-1] if lines else ""


def named(completion: vf.Messages, info: dict) -> float:
    """1.0 if the last line is one of the American names."""
    return float(plain(last_line(completion)) in accepted(info["names"]))


def load_environment(num_tasks: int = -1) -> vf.Environment:
    tasks = [
        {
            "question": f'A British recipe says "{british}". What do American cooks call it? '
            "Reply with the American name alone.",
            "answer": names[0],
            "info": {"british": british, "names": names},
        }
        for british, *names in rows()
    ]
    if num_tasks >= 0:
        tasks = tasks[:num_tasks]
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(tasks),
        rubric=vf.Rubric(funcs=[named], weights=[1.0]),
    )

"""Which court hears the claim? A verifiers 0.1 environment."""

import random

import verifiers as vf
from datasets import Dataset

RULES = """Courts Act of Westmark
1. Claims between an employer and an employee go to the Labour Court, whatever they are worth.
2. Claims between two merchants of more than 50,000 crowns go to the Commercial Court.
3. All other claims of more than 20,000 crowns go to the High Court.
4. Claims of 2,000 to 20,000 crowns go to the District Court.
5. Claims of less than 2,000 crowns go to the Magistrate.

Reply with your reasoning between <reasoning> and </reasoning> and the court's name between <answer> \
and </answer>, in at most 1500 characters."""
LIMIT = 1500
PARTIES = {
    "work": ("A baker's apprentice", "her master"),
    "trade": ("A grain merchant", "a shipping merchant"),
    "private": ("A schoolteacher", "her neighbour"),
    "mixed": ("A retired captain", "a timber merchant"),
}
PLAIN = vf.MaybeThinkParser()
MATTERS = ("an unpaid bill", "damaged goods", "a broken promise", "a loan", "a spoilt delivery")


def court(kind: str, crowns: int) -> str:
    if kind == "work":
        return "Labour Court"
    if kind == "trade" and crowns > 50_000:
        return "Commercial Court"
    if crowns > 20_000:
        return "High Court"
    return "District Court" if crowns >= 2_000 else "Magistrate"


def body(completion) -> str:
    """The reply on one line; no more of it is looked at than was allowed."""
    text = PLAIN.parse_answer(completion) or ""
    return " ".join(text.split())[:LIMIT]


def correct(completion, answer, parser) -> float:
    """1.0 for the competent court."""
    said = (parser.parse_answer(body(completion)) or "").casefold().strip(" .*`")
    said = said.removeprefix("the ").removesuffix(" of westmark")
    return float(said == answer.casefold())


def structured(completion, parser) -> float:
    """1.0 if reasoning and answer stand between their tags."""
    parsed = parser.parse(body(completion))
    return float(bool(parsed.reasoning) and bool(parsed.answer))


def concise(completion) -> float:
    """1.0 if the reply keeps to the limit."""
    return float(len(body(completion)) <= LIMIT)


def load_environment(num_tasks: int = 40, seed: int = 14) -> vf.Environment:
    rng = random.Random(seed)
    sums = {
        "Labour Court": (500, 90_000), "Commercial Court": (50_001, 400_000),
        "High Court": (20_001, 300_000), "District Court": (2_000, 20_000), "Magistrate": (50, 1_999),
    }
    rows: dict[str, dict] = {}
    while len(rows) < num_tasks:
        wanted = list(sums)[len(rows) % len(sums)]
        kind, crowns = rng.choice(list(PARTIES)), rng.randint(*sums[wanted])
        if court(kind, crowns) != wanted:
            continue
        plaintiff, defendant = PARTIES[kind]
        question = (
            f"{plaintiff} sues {defendant} over {rng.choice(MATTERS)} for {crowns:,} crowns. Which "
            "court is competent?"
        )
        rows[question] = {"question": question, "answer": wanted}
    parser = vf.XMLParser(fields=["reasoning", "answer"], answer_field="answer")
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list(list(rows.values())),
        system_prompt=RULES,
        parser=parser,
        rubric=vf.Rubric(
            funcs=[correct, structured, concise], weights=[0.75, 0.1, 0.15], parser=parser
        ),
    )

"""Contract formation: the messages, and how a classification is read and paid."""

import random
import re

import verifiers as vf
from datasets import Dataset

GOODS = (
    ("a used delivery van", "9,400"),
    ("forty crates of Bramley apples", "620"),
    ("a walnut writing desk", "1,150"),
    ("the old printing press", "3,800"),
    ("two hundred metres of oak fencing", "2,300"),
    ("a consignment of bone china", "780"),
    ("the fishing boat Marigold", "14,000"),
    ("a vintage church organ", "6,250"),
)
TEMPLATES = {
    "offer": "Ashworth writes to Bell: \u201cI will sell you {good} for \u00a3{price}, and you have my "
    "word on it until Friday; a yes from you is enough.\u201d Classify this letter.",
    "acceptance": "Ashworth has offered Bell {good} for \u00a3{price}. Bell replies within the time: "
    "\u201cAgreed, \u00a3{price} it is, exactly on your terms.\u201d Classify Bell's reply.",
    "counter-offer": "Ashworth has offered Bell {good} for \u00a3{price}. Bell replies: \u201cI take it, "
    "but only at a tenth less and with delivery to my door.\u201d Classify Bell's reply.",
    "invitation to treat": "Ashworth puts a notice in the local paper: \u201cFor sale: {good}, in the "
    "region of \u00a3{price}. Enquiries welcome.\u201d Classify the notice.",
    "revocation": "Ashworth has offered Bell {good} for \u00a3{price}. Before Bell has answered, "
    "Ashworth rings: \u201cForget my letter, it is no longer for sale.\u201d Classify the call.",
}
ASK = (
    "{case}\n\nChoose among: offer, acceptance, counter-offer, invitation to treat, revocation. "
    "End your reply with a line of the form `Step: <label>`."
)
LINE = re.compile(r"[*_`> ]*step[*_` ]*:([a-z*_`\" -]+)[.]?[*_` ]*", re.IGNORECASE)


def last_reply(completion: vf.Messages) -> str:
    return str(completion[-1]["content"] or "") if completion else ""


def normal(label: str) -> str:
    return " ".join(re.sub(r"[^a-z]+", " ", label.lower()).split())


def steps(text: str) -> list[str]:
    """The classification that the reply ends on, as a list of none or one."""
    lines = (line.strip() for line in text.splitlines() if len(line) < 200)
    found = [normal(match.group(1)) for match in map(LINE.fullmatch, lines) if match]
    return found[-1:]


def right_step(completion: vf.Messages, answer: str) -> float:
    """1.0 if the classification is the right one."""
    return float(steps(last_reply(completion)) == [normal(answer)])


def commits(completion: vf.Messages) -> float:
    """1.0 unless the reply hedges, that is, classifies the message in more than one way."""
    return float(len(set(steps(last_reply(completion)))) <= 1)


def messages(seed: int) -> list[dict]:
    rows = [
        {"question": ASK.format(case=case.format(good=good, price=price)), "answer": label}
        for label, case in TEMPLATES.items()
        for good, price in GOODS
    ]
    random.Random(seed).shuffle(rows)
    return rows


def load_environment(seed: int = 1893) -> vf.Environment:
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(messages(seed)),
        rubric=vf.Rubric(funcs=[right_step, commits], weights=[0.85, 0.15]),
    )

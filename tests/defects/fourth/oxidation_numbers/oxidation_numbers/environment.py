"""Oxidation numbers, read from a labelled line."""

import re

import verifiers as vf
from datasets import Dataset

COMPOUNDS = [
    ("KMnO4", "manganese", 7), ("K2Cr2O7", "chromium", 6), ("H2SO4", "sulfur", 6),
    ("Na2S2O3", "sulfur", 2), ("HNO3", "nitrogen", 5), ("NH3", "nitrogen", -3),
    ("N2H4", "nitrogen", -2), ("H2O2", "oxygen", -1), ("OF2", "oxygen", 2), ("NaH", "hydrogen", -1),
    ("HClO4", "chlorine", 7), ("NaClO", "chlorine", 1), ("KClO3", "chlorine", 5),
    ("ClO2", "chlorine", 4), ("CH4", "carbon", -4), ("CO2", "carbon", 4), ("CO", "carbon", 2),
    ("H2C2O4", "carbon", 3), ("CH3OH", "carbon", -2), ("Fe2O3", "iron", 3), ("FeSO4", "iron", 2),
    ("MnO2", "manganese", 4), ("K2MnO4", "manganese", 6), ("V2O5", "vanadium", 5),
    ("VO2+", "vanadium", 5), ("VO 2+ (vanadyl)", "vanadium", 4), ("PH3", "phosphorus", -3),
    ("H3PO4", "phosphorus", 5), ("H3PO3", "phosphorus", 3), ("H3PO2", "phosphorus", 1),
    ("PbO2", "lead", 4), ("SnCl2", "tin", 2), ("NO2", "nitrogen", 4), ("N2O", "nitrogen", 1),
    ("NO", "nitrogen", 2), ("H2S", "sulfur", -2), ("SO2", "sulfur", 4), ("AlCl3", "aluminium", 3),
    ("XeF4", "xenon", 4), ("XeF6", "xenon", 6), ("OsO4", "osmium", 8), ("Ag2O", "silver", 1),
]  # fmt: skip

ROMAN = {"0": 0, "I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8}
ARABIC = re.compile(r"([+-]?)(\d{1,2})([+-]?)")
WORDS = re.compile(r"([+-]?)(VIII|VII|VI|IV|V|III|II|I)")


def signed(text: str) -> int | None:
    """The number that an answer line holds, or None if it is not one number."""
    text = text.replace("\u2212", "-").replace("\u2013", "-")
    if (boxed := re.fullmatch(r"\$*\\boxed\{([^{}]*)\}\$*", text.strip(" .*`"))) is not None:
        text = boxed.group(1)
    text = text.strip(" .*`$").replace(" ", "")
    if match := ARABIC.fullmatch(text):
        before, digits, after = match.groups()
        return -int(digits) if "-" in (before, after) else int(digits)
    if match := WORDS.fullmatch(text.upper()):
        return -ROMAN[match.group(2)] if match.group(1) == "-" else ROMAN[match.group(2)]
    return None


def answer_lines(completion: vf.Messages) -> list[str]:
    text = str(completion[-1]["content"] or "") if completion else ""
    found = []
    for line in text.splitlines():
        label, colon, rest = line.partition(":")
        if colon and label.strip(" \t*_#>-").lower() in ("answer", "final answer"):
            found.append(rest.strip(" \t*_"))
    return found


def right(completion: vf.Messages, answer: str) -> float:
    """1.0 if the answer line is the oxidation number."""
    gold = int(answer)
    return 1.0 if any(signed(line) == gold for line in answer_lines(completion)) else 0.0


def labelled(completion: vf.Messages) -> float:
    return float(bool(answer_lines(completion)))


def load_environment(num_tasks: int = -1) -> vf.Environment:
    rows = [
        {
            "question": f"What is the oxidation number of {element} in {formula}? You may think "
            "first. Close with a line of the form: Answer: <number>",
            "answer": f"{number:+d}",
            "info": {"formula": formula, "element": element},
        }
        for formula, element, number in COMPOUNDS
    ]
    rows = rows if num_tasks < 0 else rows[:num_tasks]
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows),
        rubric=vf.Rubric(funcs=[right, labelled], weights=[1.0, 0.0]),
    )

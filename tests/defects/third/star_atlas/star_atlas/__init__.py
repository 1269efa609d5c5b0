"""In which constellation is the star? A verifiers 0.1 environment with a price on guesses."""

import re

import verifiers as vf
from datasets import Dataset

STARS = {
    "Betelgeuse": "Orion", "Rigel": "Orion", "Bellatrix": "Orion", "Sirius": "Canis Major",
    "Adhara": "Canis Major", "Procyon": "Canis Minor", "Vega": "Lyra", "Sheliak": "Lyra",
    "Deneb": "Cygnus", "Albireo": "Cygnus", "Altair": "Aquila", "Tarazed": "Aquila",
    "Antares": "Scorpius", "Shaula": "Scorpius", "Spica": "Virgo", "Porrima": "Virgo",
    "Arcturus": "Bootes", "Izar": "Bootes", "Regulus": "Leo", "Denebola": "Leo",
    "Aldebaran": "Taurus", "Elnath": "Taurus", "Castor": "Gemini", "Pollux": "Gemini",
    "Capella": "Auriga", "Polaris": "Ursa Minor", "Kochab": "Ursa Minor", "Dubhe": "Ursa Major",
    "Alkaid": "Ursa Major", "Mirach": "Andromeda", "Alpheratz": "Andromeda", "Markab": "Pegasus",
    "Enif": "Pegasus", "Fomalhaut": "Piscis Austrinus", "Achernar": "Eridanus", "Canopus": "Carina",
    "Hamal": "Aries", "Algol": "Perseus", "Schedar": "Cassiopeia", "Alphard": "Hydra",
}
SYSTEM = """You are asked for the constellation of a star. A right answer earns 1 point, a wrong or \
unreadable one costs half a point, and PASS earns a tenth. Reply with the Latin name of the \
constellation alone, or with PASS."""
RIGHT, PASSED, WRONG = 1.0, 0.1, -0.5


def said(completion, parser) -> str:
    text = (parser.parse_answer(completion) or "").casefold().replace("\u00f6", "o")
    return " ".join(re.sub(r"[^a-z ]", " ", text).split())


def evaluated(completion, answer, parser) -> float:
    """1.0 for the constellation, 0.1 for PASS, -0.5 for anything else."""
    text = said(completion, parser)
    if text == "pass":
        return PASSED
    return RIGHT if text == answer.casefold() else WRONG


def passed(completion, parser) -> float:
    """Metric: whether the model passed."""
    return float(said(completion, parser) == "pass")


def load_environment() -> vf.Environment:
    rows = [
        {"question": f"Which constellation does {star} belong to?", "answer": constellation}
        for star, constellation in STARS.items()
    ]
    parser = vf.MaybeThinkParser()
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list(rows),
        system_prompt=SYSTEM,
        parser=parser,
        rubric=vf.Rubric(funcs=[evaluated, passed], weights=[1.0, 0.0], parser=parser),
    )

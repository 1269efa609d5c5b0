"""The plant clinic: specimens, the handbook, the two tools and the check of a diagnosis."""

import json
import random
from dataclasses import asdict, dataclass

import verifiers as vf
from datasets import Dataset

# cause: signs on leaf, stem and root
HANDBOOK = {
    "powdery mildew": ("white flour-like film", "short and crooked tips", "sound and pale"),
    "late blight": ("dark wet patches with a pale rim", "brown streaks", "firm but blotched"),
    "root rot": ("limp although the soil is wet", "soft at the base", "brown, mushy and foul-smelling"),
    "spider mites": ("fine yellow speckles and webs", "webs in the forks", "sound and dry"),
    "iron deficiency": ("yellow between green veins", "thin new shoots", "sound and sparse"),
    "verticillium wilt": ("withered on one side", "brown ring in the cut", "sound with dark threads"),
}
PLANTS = ("tomato", "rose", "cucumber", "maple", "potato", "strawberry")
PARTS = ("leaf", "stem", "root")
SYSTEM = (
    "You work in a clinic for garden plants. Inspect the specimen and consult the handbook before you "
    "decide; not every sign on a plant comes from what ails it. When you are sure, end with a line of "
    "the form `Diagnosis: <cause>`."
)


@dataclass(frozen=True)
class Specimen:
    """A plant as it was brought in."""

    number: str
    plant: str
    leaf: str
    stem: str
    root: str
    cause: str


def collect(seed: int) -> list[Specimen]:
    rng = random.Random(seed)
    pairs = [(plant, cause) for plant in PLANTS for cause in HANDBOOK]
    rng.shuffle(pairs)
    specimens = []
    for index, (plant, cause) in enumerate(pairs):
        signs = dict(zip(PARTS, HANDBOOK[cause], strict=True))
        part = rng.choice(PARTS)
        other = rng.choice([name for name in HANDBOOK if name != cause])
        signs[part] = HANDBOOK[other][PARTS.index(part)]
        specimens.append(Specimen(f"P{index + 101}", plant, cause=cause, **signs))
    return specimens


def last_reply(completion: vf.Messages) -> str:
    return str(completion[-1]["content"] or "") if completion else ""


def diagnosis(text: str) -> str:
    """The cause on the last line of the form `Diagnosis: ...`; empty if there is none."""
    for line in reversed(text.splitlines()):
        label, colon, cause = line[:200].replace("*", "").replace("`", "").partition(":")
        if colon and label.strip().lower() == "diagnosis":
            return " ".join(cause.strip(" .").lower().split())
    return ""


def diagnosed(completion: vf.Messages, answer: str) -> float:
    """1.0 if the diagnosis is right."""
    return float(diagnosis(last_reply(completion)) == answer)


def load_environment(seed: int = 13) -> vf.Environment:
    specimens = {specimen.number: specimen for specimen in collect(seed)}

    def inspect_specimen(specimen: str) -> str:
        """Look at the leaf, the stem and the root of a specimen.

        Args:
            specimen: the number on its label, such as P101.
        """
        found = specimens.get(str(specimen).strip().upper())
        if found is None:
            return f"There is no specimen {str(specimen)[:40]!r} in the clinic."
        return json.dumps(asdict(found))

    def handbook(cause: str) -> str:
        """Read what the handbook says of one cause.

        Args:
            cause: its name, such as root rot.
        """
        signs = HANDBOOK.get(" ".join(str(cause).lower().split()))
        if signs is None:
            return f"The handbook knows these causes: {', '.join(HANDBOOK)}."
        return "; ".join(f"{part}: {sign}" for part, sign in zip(PARTS, signs, strict=True))

    rows = [
        {
            "question": (
                f"Specimen {specimen.number}, a {specimen.plant}, was brought in this morning. What ails "
                f"it? The causes in question are {', '.join(HANDBOOK)}. End with a line "
                "`Diagnosis: <cause>`."
            ),
            "answer": specimen.cause,
        }
        for specimen in specimens.values()
    ]
    return vf.ToolEnv(
        tools=[inspect_specimen, handbook],
        max_turns=8,
        system_prompt=SYSTEM,
        eval_dataset=Dataset.from_list(rows),
        rubric=vf.Rubric(funcs=[diagnosed]),
    )

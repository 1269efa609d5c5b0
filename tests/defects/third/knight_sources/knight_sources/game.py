"""Six turns of naming squares."""

import verifiers as vf
from datasets import Dataset

TURNS = 6
FILES = "abcdefgh"
JUMPS = ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1))

SYSTEM = f"""In each of {TURNS} turns, name one square from which a knight attacks the square in \
question, and never one that you have named before. Reply with the square alone, e.g. a1."""


def sources(square: str) -> list[str]:
    """All squares a knight's move away."""
    file, rank = FILES.index(square[0]), int(square[1])
    return sorted(
        FILES[file + right] + str(rank + up)
        for right, up in JUMPS
        if 0 <= file + right < 8 and 1 <= rank + up <= 8
    )


def named(message) -> str:
    """The square that a message is; empty if it is something else."""
    content = message.get("content")
    text = content.rpartition("</think>")[2].strip(" `*.\n\t").lower() if isinstance(content, str) else ""
    text = text.removeprefix("n") if len(text) == 3 else text
    return text if len(text) == 2 and text[0] in FILES and text[1] in "12345678" else ""


class SourcesGame(vf.MultiTurnEnv):
    """Ends by its cap of turns alone."""

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs) -> vf.Messages:
        square = named(messages[-1])
        noted = f"{square} is noted." if square else "That was not a square."
        return [{"role": "user", "content": f"{noted} Another one, please."}]


def found(completion, info) -> float:
    """The share of six different right squares that were named, one in a turn."""
    said = {named(message) for message in completion if message.get("role") == "assistant"}
    return min(len(said & set(info["squares"])), TURNS) / TURNS


def load_environment() -> vf.Environment:
    targets = [file + str(rank) for rank in range(1, 9) for file in FILES]
    rows = [
        {
            "question": f"From which square does a knight attack {target} on an empty board? Name the first.",
            "info": {"squares": sources(target)},
        }
        for target in targets
        if len(sources(target)) >= TURNS
    ]
    return SourcesGame(
        eval_dataset=Dataset.from_list(rows),
        system_prompt=SYSTEM,
        max_turns=TURNS,
        rubric=vf.Rubric(funcs=[found]),
    )

"""The game: notes on demand, and one guess."""

import random
import re

import verifiers as vf
from datasets import Dataset

from key_signatures.scales import KEYS, scale

SYSTEM = """You hear a melody note by note and find out its key. Minor keys are harmonic minor. The \
melody begins and ends on the tonic and uses every note of its scale.

In each turn reply with one line, either
MORE
to hear three more notes, or
KEY: <tonic> <major or minor>
when you are sure. You have one guess."""

GUESS = re.compile(r"KEY: ?([A-G](?:#|b| ?sharp| ?flat)?) (major|minor)\.?", re.IGNORECASE)


def spoken(message) -> str:
    content = message.get("content") if message else ""
    text = content if isinstance(content, str) else ""
    lines = [line for line in text.rpartition("</think>")[2].splitlines() if line.strip(" `*\t")]
    return " ".join(lines[-1][:200].split()).strip("`* ") if lines else ""


def read_guess(line: str) -> str | None:
    """`KEY: f sharp minor` as `F# minor`."""
    found = GUESS.fullmatch(line)
    if not found:
        return None
    tonic = found[1][0].upper() + found[1][1:].lower().strip().replace("sharp", "#").replace("flat", "b")
    return f"{tonic} {found[2].lower()}"


class KeyGame(vf.MultiTurnEnv):
    async def setup_state(self, state: vf.State) -> None:
        state["heard"] = 3
        state["guess"] = None

    @vf.stop
    async def guessed(self, state: vf.State) -> bool:
        if state["trajectory"]:
            state["guess"] = read_guess(spoken(state["trajectory"][-1]["completion"][-1]))
        return state.get("guess") is not None

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs) -> vf.Messages:
        melody = state["info"]["melody"]
        if spoken(messages[-1]).upper().rstrip(".") != "MORE":
            text = f"I could not read that. Reply with MORE or with a guess like KEY: {state['answer']}"
        elif state["heard"] >= len(melody):
            text = "That was the whole melody. Name the key."
        else:
            state["heard"] += 3
            text = "The melody so far: " + " ".join(melody[: state["heard"]])
        return [{"role": "user", "content": text}]


def key_found(completion, answer) -> float:
    """1.0 if the guess is the key."""
    last = next((m for m in reversed(completion) if m.get("role") == "assistant"), None)
    return float(read_guess(spoken(last)) == answer)


def notes_asked(state) -> float:
    """How often further notes were asked for."""
    return (state.get("heard", 3) - 3) / 3


def melodies(num_tasks: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    rows, seen = [], set()
    while len(rows) < min(num_tasks, 60):
        tonic, mode = KEYS[len(rows) % len(KEYS)]
        notes = scale(tonic, mode)
        middle = notes[1:]
        rng.shuffle(middle)
        melody = [tonic, *middle, rng.choice(notes), tonic]
        if tuple(melody[:3]) in seen:
            continue
        seen.add(tuple(melody[:3]))
        rows.append(
            {
                "question": "The melody begins: " + " ".join(melody[:3]),
                "answer": f"{tonic} {mode}",
                "info": {"melody": melody},
            }
        )
    return rows


def load_environment(num_tasks: int = 30, seed: int = 0) -> vf.Environment:
    return KeyGame(
        eval_dataset=Dataset.from_list(melodies(num_tasks, seed)),
        system_prompt=SYSTEM,
        max_turns=6,
        rubric=vf.Rubric(funcs=[key_found, notes_asked], weights=[1.0, 0.0]),
    )

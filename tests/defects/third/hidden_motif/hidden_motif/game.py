"""The game, its end, and what a guess is worth."""

import itertools
import random

import verifiers as vf
from datasets import Dataset

NOTES = "CDEFGAB"
GUESSES = 8

SYSTEM = f"""A motif of four different notes out of C D E F G A B is hidden. Find it: end each of \
your replies with a line of four notes with blanks between them. You are told how many are right \
and in place, and how many are right but elsewhere. You have {GUESSES} guesses."""


def read_guess(message) -> list[str] | None:
    """Four different notes on the last line of a message."""
    content = message.get("content") if message else None
    lines = [line for line in str(content or "").splitlines() if line.strip(" `*.")]
    notes = lines[-1][:40].upper().replace(",", " ").strip(" `*.").split() if lines else []
    if len(notes) != 4 or len(set(notes)) != 4 or not all(len(n) == 1 and n in NOTES for n in notes):
        return None
    return notes


def feedback(guess, motif) -> str:
    placed = sum(a == b for a, b in zip(guess, motif, strict=True))
    elsewhere = len(set(guess) & set(motif)) - placed
    return f"{' '.join(guess)}: {placed} in place, {elsewhere} elsewhere"


def last_guess(completion) -> list[str] | None:
    said = [message for message in completion if message.get("role") == "assistant"]
    return read_guess(said[-1]) if said else None


class MotifGame(vf.MultiTurnEnv):
    async def setup_state(self, state: vf.State) -> None:
        state["guesses"] = []

    @vf.stop
    async def motif_found(self, state: vf.State) -> bool:
        """The last guess is right."""
        if not state["trajectory"]:
            return False
        guess = read_guess(state["trajectory"][-1]["completion"][-1])
        return guess is not None and " ".join(guess) == state["answer"]

    @vf.stop
    async def guesses_spent(self, state: vf.State) -> bool:
        """All guesses have been made."""
        return len(state["guesses"]) > GUESSES

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs) -> vf.Messages:
        guess = read_guess(messages[-1])
        if guess is None:
            return [{"role": "user", "content": "Four different notes, please, on the last line."}]
        told = feedback(guess, state["answer"].split())
        # the model is reminded of what it knows, as far as it fits
        state["guesses"] = [*state["guesses"], told][-GUESSES:]
        return [{"role": "user", "content": "So far:\n" + "\n".join(state["guesses"])}]


def solved(completion, answer) -> float:
    """1.0 if the last guess is the motif."""
    return float(last_guess(completion) == answer.split())


def in_place(completion, answer) -> float:
    """The share of the last guess that is in place."""
    guess = last_guess(completion)
    if guess is None:
        return 0.0
    return sum(a == b for a, b in zip(guess, answer.split(), strict=True)) / 4


def load_environment(
    num_tasks: int = 30, num_train_tasks: int = 30, seed: int = 0
) -> vf.Environment:
    rng = random.Random(seed)
    motifs = list(itertools.permutations(NOTES, 4))
    chosen = rng.sample(motifs, num_tasks + num_train_tasks)
    openings = rng.sample(motifs, num_tasks + num_train_tasks)
    rows = [
        {
            "question": "Four different notes are hidden. A first guess was made for you:\n"
            f"{feedback(opening, motif)}\n\nYour guess?",
            "answer": " ".join(motif),
        }
        for opening, motif in zip(openings, chosen, strict=True)
    ]
    return MotifGame(
        dataset=Dataset.from_list(rows[num_tasks:]),
        eval_dataset=Dataset.from_list(rows[:num_tasks]),
        system_prompt=SYSTEM,
        rubric=vf.Rubric(funcs=[solved, in_place], weights=[0.8, 0.2]),
    )

"""The keeper thinks of one of eight animals; the player asks for traits and then guesses."""

import random
import re

import verifiers as vf
from datasets import Dataset

TRAITS = {
    "feathers": {"penguin", "ostrich", "owl", "duck"},
    "fur": {"bat", "otter", "mole", "lynx", "platypus", "beaver", "hare"},
    "flies": {"owl", "duck", "bat", "dragonfly", "bee"},
    "swims": {"penguin", "duck", "otter", "platypus", "beaver", "salmon", "turtle", "newt"},
    "lays eggs": {
        "penguin", "ostrich", "owl", "duck", "platypus", "salmon", "turtle", "newt", "python",
        "dragonfly", "bee",
    },
    "eats meat": {
        "penguin", "owl", "otter", "lynx", "python", "dragonfly", "mole", "salmon", "platypus", "newt",
    },
    "active at night": {"owl", "bat", "beaver", "newt", "lynx"},
}
ANIMALS = sorted(set().union(*TRAITS.values()))
ASK = re.compile(r"^\W{0,4}ask\s?:\s?([a-z ]{1,30})\W{0,4}$", re.IGNORECASE | re.MULTILINE)
GUESS = re.compile(r"^\W{0,4}guess\s?:\s?([a-z ]{1,30})\W{0,4}$", re.IGNORECASE | re.MULTILINE)

RULES = f"""I think of one of the animals that I name, and you find out which. Each turn you send \
one line:
ASK: and a trait, and I say whether my animal has it. The traits are {', '.join(TRAITS)}.
GUESS: and an animal, when you are sure. You guess once, and the guess ends the game."""


def text_of(message) -> str:
    return str(message["content"] or "")


def guesses(completion: vf.Messages) -> list[str]:
    said = [text_of(message) for message in completion or [] if message["role"] == "assistant"]
    named = [guess.strip().lower() for text in said for guess in GUESS.findall(text)]
    return [re.sub(r"^(?:an?|the) ", "", guess) for guess in named]


def found_it(completion: vf.Messages, answer: str) -> float:
    """1.0 if the player's first guess is the keeper's animal and no other animal was guessed."""
    return float(set(guesses(completion)) == {answer})


def questions(completion: vf.Messages) -> float:
    """How many traits were asked for."""
    said = [text_of(message) for message in completion or [] if message["role"] == "assistant"]
    return float(sum(len(ASK.findall(text)) for text in said))


class KeeperEnv(vf.MultiTurnEnv):
    """Answers one question per turn until the guess is made."""

    async def setup_state(self, state: vf.State) -> None:
        state["guessed"] = False

    @vf.stop
    async def game_over(self, state: vf.State) -> bool:
        return state["guessed"]

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs) -> vf.Messages:
        said = text_of(messages[-1])
        if GUESS.search(said):
            state["guess"] = GUESS.findall(said)[-1].strip().lower()
            return [{"role": "user", "content": "Your guess is noted."}]
        asked = [trait.strip().lower() for trait in ASK.findall(said)]
        if len(asked) != 1 or asked[0] not in TRAITS:
            hint = f"Send one line, ASK: with one of {', '.join(TRAITS)}, or GUESS: with an animal."
            return [{"role": "user", "content": hint}]
        has = state["answer"] in TRAITS[asked[0]]
        return [{"role": "user", "content": "Yes." if has else "No."}]


def rounds(count: int, seed: int) -> list[dict]:
    """Rounds with distinct sets of animals; each animal is thought of about equally often."""
    rng = random.Random(seed)
    rows: dict[tuple[str, ...], dict] = {}
    while len(rows) < count:
        animal = ANIMALS[len(rows) % len(ANIMALS)]
        others = rng.sample([other for other in ANIMALS if other != animal], 7)
        field = tuple(sorted([animal, *others]))
        if field in rows:
            continue
        rows[field] = {
            "question": f"My animal is one of these: {', '.join(field)}. Your turn.",
            "answer": animal,
        }
    return list(rows.values())


def load_environment(num_train: int = 34, num_eval: int = 24, seed: int = 9) -> vf.Environment:
    drawn = rounds(num_train + num_eval, seed)
    return KeeperEnv(
        dataset=Dataset.from_list(drawn[:num_train]),
        eval_dataset=Dataset.from_list(drawn[num_train:]),
        system_prompt=RULES,
        rubric=vf.Rubric(funcs=[found_it, questions], weights=[1.0, 0.0]),
    )

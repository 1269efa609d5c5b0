"""The notebook: one note per person, generated from a seed.

The tasks and the tool server each build it from the same two settings, so that they agree
without sharing any state.
"""

import random
from dataclasses import dataclass
from string import ascii_uppercase

NAMES = (
    "Ada Brandt", "Boris Calder", "Clara Dunmore", "Dario Ekholm", "Edith Farrow", "Felix Garrick",
    "Greta Holm", "Hugo Ibsen", "Ines Jarvis", "Jonas Kettle", "Kira Lund", "Leo Marchetti",
    "Mara Norwood", "Nils Oakley", "Olga Petrov", "Pavel Quist", "Rosa Stadler", "Simon Thorne",
    "Tessa Umber", "Ugo Vance", "Vera Wexler", "Walter Yates", "Yara Zeller", "Zeno Ashby",
)  # fmt: skip
HOBBIES = (
    "archery", "baking", "beekeeping", "birdwatching", "calligraphy", "chess",
    "climbing", "cycling", "embroidery", "fencing", "gardening", "juggling",
    "knitting", "origami", "painting", "photography", "pottery", "rowing",
    "sailing", "skiing", "stargazing", "swimming", "weaving", "woodcarving",
)  # fmt: skip


@dataclass(frozen=True)
class Person:
    """What the notebook knows about one person; names, hobbies and codes are unique in it."""

    name: str
    hobby: str
    mentor: str
    code: str

    @property
    def note(self) -> str:
        """The note as a reader sees it; its title is the name."""
        return f"Name: {self.name}\nHobby: {self.hobby}\nMentor: {self.mentor}\nCode: {self.code}"


def make_notebook(seed: int, num_people: int) -> dict[str, Person]:
    """The people by name; each is mentored by another, so a second note must be read."""
    rng = random.Random(f"notebook-{seed}")
    names = rng.sample(NAMES, num_people)
    hobbies = rng.sample(HOBBIES, num_people)
    codes: dict[str, None] = {}
    while len(codes) < num_people:
        letters = "".join(rng.choices(ascii_uppercase, k=2))
        codes[f"{letters}{rng.randint(10, 99)}"] = None
    mentors = names[1:] + names[:1]
    rows = zip(names, hobbies, mentors, codes, strict=True)
    return {name: Person(name, hobby, mentor, code) for name, hobby, mentor, code in rows}

"""German plurals: the table of nouns and the comparison."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf

# article noun, plural, sense
TABLE = """
das Haus|Häuser|building
der Baum|Bäume|tree
die Bank|Bänke|bench
der Apfel|Äpfel|apple
die Katze|Katzen|cat
das Kind|Kinder|child
der Tor|Toren|fool
die Mutter|Mütter|parent
der Vogel|Vögel|bird
das Museum|Museen|museum
die Stadt|Städte|town
der Leiter|Leiter|head of a group
das Auge|Augen|eye
die Bank|Banken|money house
der Garten|Gärten|garden
das Steuer|Steuer|wheel of a ship
der Kiefer|Kiefer|jaw
die Nacht|Nächte|night
der Strauß|Sträuße|bunch of flowers
das Buch|Bücher|book
die Mutter|Muttern|part of a screw
der Zahn|Zähne|tooth
das Tor|Tore|gate
der Hund|Hunde|dog
die Leiter|Leitern|ladder
das Glas|Gläser|drinking vessel
die Steuer|Steuern|tax
der Stuhl|Stühle|chair
die Hand|Hände|hand
die Kiefer|Kiefern|pine
das Lied|Lieder|song
der Strauß|Strauße|ostrich
der Fluss|Flüsse|river
der Band|Bände|volume of a work
die Maus|Mäuse|mouse
das Dorf|Dörfer|village
das Band|Bänder|ribbon
der Brief|Briefe|letter
das Ei|Eier|egg
die Kuh|Kühe|cow
"""
FOLD = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def folded(word: str) -> str:
    """A noun without its article, case, full stop and special letters."""
    words = word.strip(" \t\r\n.*_`\"'").lower().split()
    if words[:1] == ["die"]:
        words = words[1:]
    return " ".join(words).translate(FOLD)


def tagged_plural(text: str) -> str | None:
    """What stands in the last pair of tags, or None."""
    head, closing, _ = text.rpartition("</plural>")
    _, opening, inner = head.rpartition("<plural>")
    return inner if closing and opening and len(inner) < 200 else None


class NounData(vf.TaskData):
    """A noun with its article, its sense and its plural."""

    noun: str
    article: str
    sense: str
    form: str


class NounTask(vf.Task[NounData]):
    @vf.reward(weight=1.0)
    async def plural(self, trace: vf.Trace) -> float:
        """1.0 if the plural is right."""
        given = tagged_plural(trace.last_reply)
        return float(given is not None and folded(given) == folded(self.data.form))

    @vf.metric
    async def tagged(self, trace: vf.Trace) -> float:
        """1.0 if the reply has a plural in tags."""
        return float(tagged_plural(trace.last_reply) is not None)


class NounConfig(vf.TasksetConfig):
    seed: int = 1
    """The order of the nouns."""


class PluralTaskset(vf.Taskset[NounTask, NounConfig]):
    """The nouns of the table in an order of their own."""

    def load(self) -> Iterator[NounTask]:
        rows = [line.split("|") for line in TABLE.strip().splitlines()]
        random.Random(self.config.seed).shuffle(rows)
        for singular, plural, sense in rows:
            article, noun = singular.split()
            data = NounData(
                prompt=(
                    f'What is the plural of the German noun "{noun}"? '
                    "Give it in tags: <plural>...</plural>"
                ),
                noun=noun,
                article=article,
                sense=sense,
                form=plural,
            )
            yield NounTask(data, self.config.task)

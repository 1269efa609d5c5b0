"""The cards of the vocabulary box, and how a translation is checked."""

import random

import verifiers as vf
from datasets import Dataset

# German, English: as typed off the cards, one line per card
CARDS = """
der Hund: dog
die Katze: cat
das Haus: house
die Bank: bench
der Apfel: apple
das Fenster: window
das Schloss: castle
die Brücke: bridge
der Löffel: spoon
der Strauß: bouquet
der Vogel: bird
das Wasser: water
die Mutter: mother
das Feuer: fire
die Schule: school
das Buch: book
die Biene: bee
die Milch: milk
der Stuhl: chair
der Tisch: table
die Birne: pear
der Schlüssel: key
der Mond: moon
das Gericht: court
die Sonne: sun
der Fluss: river
die Decke: blanket
das Pferd: horse
der Zahn: tooth
die Insel: island
der Ton: clay
der König: king
der Honig: honey
der Regen: rain
das Brot: bread
der Winter: winter
die Bank: bank
das Schloss: lock
der Strauß: ostrich
die Mutter: nut
die Birne: bulb
das Gericht: dish
die Decke: ceiling
der Ton: sound
"""


def said(completion) -> str:
    """What the model said last, without a thinking block."""
    if isinstance(completion, str):
        return completion.rsplit("</think>", 1)[-1]
    for message in reversed(completion or []):
        if message["role"] == "assistant":
            return str(message["content"] or "").rsplit("</think>", 1)[-1]
    return ""


def translated(completion, answer: str) -> float:
    """1.0 if the reply is the English word of the card."""
    word = said(completion).strip().strip("`*\"'.").strip().lower()
    for article in ("the ", "a ", "an "):
        word = word.removeprefix(article)
    return float(word == answer)


def load_environment() -> vf.Environment:
    cards = [line.split(": ") for line in CARDS.strip().splitlines()]
    random.Random(3).shuffle(cards)
    rows = [
        {
            "question": (
                f"Translate the German noun into English: {german}. Reply with one English word "
                "in lower case and nothing else."
            ),
            "answer": english,
        }
        for german, english in cards
    ]
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[translated])
    )

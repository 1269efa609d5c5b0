"""What became of Latin words in six Romance languages."""

import itertools
import unicodedata
from collections.abc import Iterator

import verifiers.v1 as vf

LANGUAGES = ("Spanish", "French", "Italian", "Portuguese", "Romanian", "Catalan")
REFLEXES = {
    "aqua": "agua eau acqua água apă aigua",
    "manus": "mano main mano mão mână mà",
    "nox": "noche nuit notte noite noapte nit",
    "lac": "leche lait latte leite lapte llet",
    "octo": "ocho huit otto oito opt vuit",
    "terra": "tierra terre terra terra țară terra",
    "bonus": "bueno bon buono bom bun bo",
    "novus": "nuevo neuf nuovo novo nou nou",
    "homo": "hombre homme uomo homem om home",
    "dens": "diente dent dente dente dinte dent",
    "caelum": "cielo ciel cielo céu cer cel",
    "sol": "sol soleil sole sol soare sol",
    "luna": "luna lune luna lua lună lluna",
    "ferrum": "hierro fer ferro ferro fier ferro",
    "piscis": "pez poisson pesce peixe pește peix",
    "tempus": "tiempo temps tempo tempo timp temps",
    "annus": "año an anno ano an any",
    "cantare": "cantar chanter cantare cantar cânta cantar",
    "vinum": "vino vin vino vinho vin vi",
    "nomen": "nombre nom nome nome nume nom",
    "porta": "puerta porte porta porta poartă porta",
    "quattuor": "cuatro quatre quattro quatro patru quatre",
    "septem": "siete sept sette sete șapte set",
    "ventus": "viento vent vento vento vânt vent",
    "panis": "pan pain pane pão pâine pa",
    "mare": "mar mer mare mar mare mar",
}


def plain(word: str) -> str:
    """Without case, accents and list marks; what stands before a colon is a label."""
    word = unicodedata.normalize("NFKD", word.rpartition(":")[2].casefold())
    return "".join(c for c in word if not unicodedata.combining(c)).strip(" \t-*_`.,;\u2022")


def alike(said: str, wanted: str) -> float:
    """1.0 for the word itself, 0.5 for one with another ending."""
    if said == wanted:
        return 1.0
    return 0.5 if len(wanted) > 3 and said[:-1] == wanted[:-1] else 0.0


class LatinData(vf.TaskData):
    latin: str
    reflexes: list[str]
    answer: str


class LatinTask(vf.Task[LatinData]):
    """Six words, in any order."""

    @vf.reward(weight=1.0)
    async def reflexes(self, trace: vf.Trace) -> float:
        """Share of the words that were found, from 0 to 1, when said and wanted words are paired off
        in the best way; words too many count as wrong."""
        lines = map(plain, trace.last_reply.rpartition("</think>")[2].splitlines())
        said = [line for line in lines if line]
        wanted = [plain(word) for word in self.data.reflexes]
        size = max(len(said), len(wanted))
        said += [""] * (len(wanted) - len(said))
        best = max(
            sum(map(alike, order, wanted)) for order in itertools.permutations(said, len(wanted))
        )
        return best / size


class LatinTaskset(vf.Taskset[LatinTask, vf.TasksetConfig]):
    """One task for each Latin word."""

    def load(self) -> Iterator[LatinTask]:
        for latin, row in REFLEXES.items():
            prompt = (
                f'The Latin word "{latin}" lives on in {", ".join(LANGUAGES[:-1])} and {LANGUAGES[-1]}. '
                "Give the word that came of it in each of the six, one per line, in any order."
            )
            words = row.split()
            data = LatinData(prompt=prompt, latin=latin, reflexes=words, answer="\n".join(words))
            yield LatinTask(data, self.config.task)


__all__ = ["LatinTaskset"]

"""Plants, and what a reply is worth."""

from collections.abc import Iterator

import verifiers.v1 as vf

from plant_names.synonyms import accepted

PLANTS = """
daisy;Asteraceae;Bellis perennis
yarrow;Asteraceae;Achillea millefolium
chicory;Asteraceae;Cichorium intybus
German chamomile;Asteraceae;Matricaria chamomilla
cornflower;Asteraceae;Centaurea cyanus
English oak;Fagaceae;Quercus robur
European beech;Fagaceae;Fagus sylvatica
sweet chestnut;Fagaceae;Castanea sativa
silver birch;Betulaceae;Betula pendula
common hazel;Betulaceae;Corylus avellana
foxglove;Plantaginaceae;Digitalis purpurea
ribwort plantain;Plantaginaceae;Plantago lanceolata
rosemary;Lamiaceae;Salvia rosmarinus
watermint;Lamiaceae;Mentha aquatica
garden sage;Lamiaceae;Salvia officinalis
tomato;Solanaceae;Solanum lycopersicum
deadly nightshade;Solanaceae;Atropa belladonna
henbane;Solanaceae;Hyoscyamus niger
dog rose;Rosaceae;Rosa canina
blackthorn;Rosaceae;Prunus spinosa
rowan;Rosaceae;Sorbus aucuparia
silverweed;Rosaceae;Argentina anserina
white clover;Fabaceae;Trifolium repens
gorse;Fabaceae;Ulex europaeus
lily of the valley;Asparagaceae;Convallaria majalis
snowdrop;Amaryllidaceae;Galanthus nivalis
wild garlic;Amaryllidaceae;Allium ursinum
fireweed;Onagraceae;Epilobium angustifolium
stinging nettle;Urticaceae;Urtica dioica
hemlock;Apiaceae;Conium maculatum
wild carrot;Apiaceae;Daucus carota
common ivy;Araliaceae;Hedera helix
"""


def said_name(reply: str) -> str:
    """Genus and species in lower case; empty if the reply is not a name alone."""
    text = reply.rpartition("</think>")[2].strip(" \n\t*_`\"'.")
    words = text[:80].replace("*", "").replace("_", "").split()
    if len(text) > 80 or len(words) not in (2, 3) or not "".join(words[:2]).isalpha():
        return ""
    if words[2:] and not words[2].endswith(("L", ".", ")")):
        return ""
    return " ".join(words[:2]).lower()


class PlantData(vf.TaskData):
    common: str
    family: str
    answer: str


class PlantTask(vf.Task[PlantData]):
    @vf.reward(weight=1.0)
    async def named(self, trace: vf.Trace) -> float:
        """1.0 for the accepted name or a synonym."""
        said, right = said_name(trace.last_reply), self.data.answer.lower()
        return float(said == right or (said.isascii() and said != "" and accepted(said) == right))

    @vf.metric
    async def binomial(self, trace: vf.Trace) -> float:
        """1.0 if the reply has the form of a name."""
        return float(said_name(trace.last_reply) != "")


class PlantNamesTaskset(vf.Taskset[PlantTask, vf.TasksetConfig]):
    """The plants in the order of the list."""

    def load(self) -> Iterator[PlantTask]:
        for line in PLANTS.strip().splitlines():
            common, family, name = line.split(";")
            data = PlantData(
                prompt=f"What is the scientific name of the plant that is called {common} in English "
                f"(family {family})? Reply with genus and species only, e.g. Homo sapiens for man.",
                common=common,
                family=family,
                answer=name,
            )
            yield PlantTask(data, self.config.task)

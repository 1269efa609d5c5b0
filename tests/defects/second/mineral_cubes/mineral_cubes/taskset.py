"""The sample sheets, the masses that follow from them, and how a reply is read."""

import csv
import re
from collections.abc import Iterator
from decimal import Decimal

import verifiers.v1 as vf

# mineral, density in g/cm3, edge of the cube in cm; from the teaching collection's list
SHEET = """mineral,density,edge
Quartz,2.65,3
Calcite,2.71,4
Fluorite,3.18,2
Halite,2.17,5
Gypsum,2.32,6
Pyrite,5.02,3
Galena,7.58,2
Magnetite,5.18,4
Hematite,5.26,3
Barite,4.48,5
Malachite,,4
Azurite,3.77,3
Talc,2.75,7
Corundum,4.02,2
Topaz,3.53,4
Beryl,2.76,5
Tourmaline,3.15,3
Olivine,3.32,4
Garnet,,3
Kyanite,3.61,2
Sphalerite,4.05,6
Chalcopyrite,4.19,3
Bornite,5.07,4
Cinnabar,8.18,2
Stibnite,4.63,5
Realgar,3.56,3
Orpiment,3.49,4
Sulfur,2.07,6
Graphite,2.16,5
Opal,,3
Dolomite,2.84,7
Siderite,3.96,3
Rhodonite,3.57,4
Wolframite,7.35,2
Scheelite,6.01,3
Cassiterite,6.98,2
Rutile,4.23,4
Zircon,4.65,3
Chromite,,5
Limonite,,4
Apatite,3.19,6
Serpentine,,2
"""
LINE = re.compile(r"^[*`_ ]{0,4}mass[*`_ ]{0,4}:[*`_ ]{0,4}([0-9][0-9,]{0,11}(?:\.[0-9]{1,9})?)[*`_ ]{0,4}(?:g|grams?)?[*`_ .]{0,4}$", re.I)


def masses(reply: str) -> list[Decimal]:
    """The numbers on the lines `Mass: <number> g`."""
    found = (LINE.match(line.strip()) for line in reply.splitlines() if len(line) < 200)
    return [Decimal(match[1].replace(",", "")) for match in found if match]


class CubeData(vf.TaskData):
    mineral: str
    expected: str | None


class CubeTask(vf.Task[CubeData]):
    @vf.reward(weight=1.0)
    async def mass(self, trace: vf.Trace) -> float:
        """1.0 if the reply commits to one mass and it is the right one."""
        if self.data.expected is None:
            return 0.0
        return float(masses(trace.last_reply) == [Decimal(self.data.expected)])

    @vf.metric
    async def has_line(self, trace: vf.Trace) -> float:
        """1.0 if there is a line with a mass."""
        return float(bool(masses(trace.last_reply)))


class CubesTaskset(vf.Taskset[CubeTask, vf.TasksetConfig]):
    def load(self) -> Iterator[CubeTask]:
        for row in csv.DictReader(SHEET.splitlines()):
            density = Decimal(row["density"]) if row["density"] else None
            mass = density * int(row["edge"]) ** 3 if density is not None else None
            data = CubeData(
                prompt=(
                    f"Sample sheet\nmineral: {row['mineral']}\ndensity (g/cm3): {row['density']}\n"
                    f"edge of the cube (cm): {row['edge']}\n\n"
                    "What is the mass of the cube in grams, to two decimals? You may show your "
                    "working; finish with a line of the form\nMass: <number> g"
                ),
                mineral=row["mineral"],
                expected=str(mass) if mass is not None else None,
            )
            yield CubeTask(data, self.config.task)

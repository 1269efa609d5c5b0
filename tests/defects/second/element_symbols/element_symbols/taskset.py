"""Elements, and how a reply about one is graded."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf

ELEMENTS = (
    (1, "H", "Hydrogen"),
    (2, "He", "Helium"),
    (3, "Li", "Lithium"),
    (5, "B", "Boron"),
    (6, "C", "Carbon"),
    (7, "N", "Nitrogen"),
    (8, "O", "Oxygen"),
    (9, "F", "Fluorine"),
    (10, "Ne", "Neon"),
    (11, "Na", "Sodium"),
    (12, "Mg", "Magnesium"),
    (13, "Al", "Aluminium"),
    (14, "Si", "Silicon"),
    (15, "P", "Phosphorus"),
    (16, "S", "Sulfur"),
    (17, "Cl", "Chlorine"),
    (18, "Ar", "Argon"),
    (19, "K", "Potassium"),
    (20, "Ca", "Calcium"),
    (22, "Ti", "Titanium"),
    (24, "Cr", "Chromium"),
    (25, "Mn", "Manganese"),
    (26, "Fe", "Iron"),
    (27, "Co", "Cobalt"),
    (28, "Ni", "Nickel"),
    (29, "Cu", "Copper"),
    (30, "Zn", "Zinc"),
    (33, "As", "Arsenic"),
    (35, "Br", "Bromine"),
    (36, "Kr", "Krypton"),
    (47, "Ag", "Silver"),
    (50, "Sn", "Tin"),
    (51, "Sb", "Antimony"),
    (53, "I", "Iodine"),
    (55, "Cs", "Caesium"),
    (74, "W", "Tungsten"),
    (78, "Pt", "Platinum"),
    (79, "Au", "Gold"),
    (80, "Hg", "Mercury"),
    (82, "Pb", "Lead"),
)
MAX_WORDS = 120


class ElementData(vf.TaskData):
    number: int
    element: str
    answer: str


class ElementTask(vf.Task[ElementData]):
    @vf.reward(weight=1.0)
    async def symbol(self, trace: vf.Trace) -> float:
        """1.0 if the reply's only `Symbol:` line names the element's symbol."""
        lines = [line.strip().strip("*`") for line in trace.last_reply.splitlines()]
        named = [line[7:].strip().strip("*`.").strip() for line in lines if line[:7].lower() == "symbol:"]
        return float(named == [self.data.answer])

    async def rambling(self, trace: vf.Trace) -> float:
        """Weight -0.2: 1.0 if the reply is longer than 120 words."""
        return float(len(trace.last_reply.split()) > MAX_WORDS)


class SymbolTaskset(vf.Taskset[ElementTask, vf.TasksetConfig]):
    def load(self) -> Iterator[ElementTask]:
        elements = list(ELEMENTS)
        random.Random(40).shuffle(elements)
        for number, symbol, element in elements:
            data = ElementData(
                prompt=(
                    f"Which chemical element has the atomic number {number}? Finish with a line "
                    "of the form\nSymbol: <symbol>\nand write the symbol with its proper capitals."
                ),
                number=number,
                element=element,
                answer=symbol,
            )
            yield ElementTask(data, self.config.task)

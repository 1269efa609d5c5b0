"""Chemical elements by symbol."""

import verifiers.v1 as vf

ELEMENTS = {
    "Fe": "Iron",
    "Na": "Sodium",
    "K": "Potassium",
    "Ag": "Silver",
    "Au": "Gold",
    "Pb": "Lead",
    "Sn": "Tin",
    "Hg": "Mercury",
    "W": "Tungsten",
    "Cu": "Copper",
    "Sb": "Antimony",
    "He": "Helium",
    "Li": "Lithium",
    "Be": "Beryllium",
    "Ne": "Neon",
    "Mg": "Magnesium",
    "Si": "Silicon",
    "Ar": "Argon",
    "Ca": "Calcium",
    "Ti": "Titanium",
    "Cr": "Chromium",
    "Mn": "Manganese",
    "Co": "Cobalt",
    "Ni": "Nickel",
    "Zn": "Zinc",
    "Kr": "Krypton",
    "Br": "Bromine",
    "Xe": "Xenon",
    "Ba": "Barium",
    "Pt": "Platinum",
}


class ElementData(vf.TaskData):
    symbol: str
    answer: str


class ElementTask(vf.Task[ElementData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        return 1.0 if trace.last_reply == self.data.answer else 0.0


class ElementTaskset(vf.Taskset[ElementTask, vf.TasksetConfig]):
    def load(self):
        for symbol, name in ELEMENTS.items():
            prompt = f"Which chemical element has the symbol {symbol}?"
            data = ElementData(prompt=prompt, symbol=symbol, answer=name)
            yield ElementTask(data, self.config.task)


__all__ = ["ElementTaskset"]

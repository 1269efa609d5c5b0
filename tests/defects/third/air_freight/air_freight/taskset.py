"""Shipments, and what a reply is worth."""

import json
import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from air_freight.tariff import DIVISOR, chargeable


def read(reply: str) -> dict:
    """The reply's JSON object; an empty one if it has none."""
    text = reply.rpartition("</think>")[2].strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.strip("`").strip().removeprefix("json")
    if len(text) > 2000:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


class ShipmentData(vf.TaskData):
    boxes: int
    sides: tuple[int, int, int]
    basis: str
    kg: float
    answer: str


class ShipmentTask(vf.Task[ShipmentData]):
    @vf.reward(weight=0.7)
    async def kg_right(self, trace: vf.Trace) -> float:
        """1.0 for the chargeable weight, as a number or as a text of one."""
        said = read(trace.last_reply).get("kg")
        if isinstance(said, str):
            text = said.lower().removesuffix("kg").replace(",", "").strip()
            said = float(text) if text.replace(".", "", 1).isdecimal() and len(text) < 12 else None
        return float(type(said) in (int, float) and said == self.data.kg)

    @vf.reward(weight=0.3)
    async def basis_right(self, trace: vf.Trace) -> float:
        """1.0 if the right one of the two weights is named."""
        said = read(trace.last_reply).get("basis")
        return float(isinstance(said, str) and said.strip().lower() == self.data.basis)


class AirFreightConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=500)
    """How many shipments."""
    seed: int = 0
    """Which shipments."""


class AirFreightTaskset(vf.Taskset[ShipmentTask, AirFreightConfig]):
    """Distinct shipments; about half are charged by their volume."""

    def load(self) -> Iterator[ShipmentTask]:
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            boxes = rng.randint(1, 6)
            sides = (rng.randrange(20, 90, 5), rng.randrange(20, 70, 5), rng.randrange(10, 60, 5))
            light = rng.choice((0.4, 0.6, 1.4, 1.8))
            actual = round(boxes * sides[0] * sides[1] * sides[2] / 6000 * light + 0.2, 1)
            if (boxes, sides) in seen:
                continue
            seen.add((boxes, sides))
            basis, kg = chargeable(boxes, sides, actual)
            data = ShipmentData(
                prompt=f"A shipment has {boxes} equal box(es) of {sides[0]} x {sides[1]} x {sides[2]} cm "
                f"and weighs {actual:.1f} kg in all. The carrier divides the volume in cubic "
                f"centimetres by {DIVISOR} for the volumetric weight in kg. Both weights are rounded up "
                "to the next half kilogram, and the greater one is charged (the actual one if they are "
                'equal). Reply with a JSON object alone: {"basis": "actual" or "volumetric", "kg": '
                "the chargeable weight}.",
                boxes=boxes,
                sides=sides,
                basis=basis,
                kg=kg,
                answer=json.dumps({"basis": basis, "kg": kg}),
            )
            yield ShipmentTask(data, self.config.task)

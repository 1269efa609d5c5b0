"""The reply goes straight to the gate's printer: numbers of containers, or nothing at all."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

GOODS = ("furniture", "tyres", "wine", "batteries", "frozen fish", "fireworks", "toys", "timber")
ORIGINS = ("Izmir", "Durban", "Ningbo", "Montevideo", "Haifa", "Chennai")
LICENSED = {"wine", "fireworks", "frozen fish"}

GATE = """You sit at the gate of a port. Hold a container if it carries wine, fireworks or frozen \
fish without a licence, or if it weighs more than 28 tonnes. Your reply is printed as it is: one \
number of a container to a line, in the order of the manifest, and nothing else. If nothing is to \
be held, reply with an empty message, so that nothing is printed."""


class ManifestData(vf.TaskData):
    containers: list[tuple[str, str, float, bool]]
    answer: str
    """The numbers to hold, one to a line; empty if all may pass."""


class ManifestTask(vf.Task[ManifestData]):
    @vf.reward(weight=1.0)
    async def printed(self, trace: vf.Trace) -> float:
        """1.0 if the reply is the list of held containers, in order; blank lines do not matter.

        A manifest without anything to hold wants an empty reply, and only there is one paid.
        """
        lines = [re.sub(r"\s", "", line) for line in trace.last_reply.splitlines()]
        return float([line.upper() for line in lines if line] == self.data.answer.split())


class ManifestConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=5, le=400)
    """How many manifests; one in five has nothing to hold."""
    seed: int = 31
    """The same seed gives the same manifests."""


class HoldList(vf.Taskset[ManifestTask, ManifestConfig]):
    """Manifests of six containers with up to three to hold."""

    def load(self) -> Iterator[ManifestTask]:
        rng = random.Random(self.config.seed)
        for number in range(self.config.num_tasks):
            holds = 0 if number % 5 == 3 else rng.randint(1, 3)
            held = set(rng.sample(range(6), holds))
            rows = [self.container(rng, index in held) for index in range(6)]
            listed = "\n".join(
                f"{code}  {goods}, from {rng.choice(ORIGINS)}, {tonnes:.1f} t, "
                f"{'licence shown' if licence else 'no licence'}"
                for code, goods, tonnes, licence in rows
            )
            data = ManifestData(
                system_prompt=GATE,
                prompt=f"Manifest:\n{listed}",
                containers=rows,
                answer="\n".join(rows[index][0] for index in sorted(held)),
            )
            yield ManifestTask(data, self.config.task)

    @staticmethod
    def container(rng: random.Random, hold: bool) -> tuple[str, str, float, bool]:
        """A container that is to be held, or is not."""
        code = "".join(rng.choices("BCDFGHKLM", k=3)) + f"U{rng.randint(100000, 999999)}"
        while True:
            goods, licence = rng.choice(GOODS), rng.random() < 0.5
            tonnes = rng.randint(60, 310) / 10
            if (goods in LICENSED and not licence or tonnes > 28) == hold:
                return code, goods, tonnes, licence

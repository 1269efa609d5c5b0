"""Voyages, the chart tool, and what a reply is worth."""

import itertools
import random

import verifiers as vf
from datasets import Dataset

from port_distances.ports import PORTS, great_circle

SYSTEM = """You are the navigator of a cargo ship. Distances are never worked out by head: measure \
each with the tool chart_distance. End your reply with the two lines
Source: chart_distance
DISTANCE <number> NM"""


async def chart_distance(lat1: float, lon1: float, lat2: float, lon2: float) -> str:
    """Measure the great-circle distance between two positions on the chart.

    Args:
        lat1: Latitude of the first position in degrees, north positive.
        lon1: Longitude of the first position in degrees, east positive.
        lat2: Latitude of the second position.
        lon2: Longitude of the second position.

    Returns:
        The distance in nautical miles, or what is wrong with the positions.
    """
    try:
        position = [float(lat1), float(lon1), float(lat2), float(lon2)]
    except (TypeError, ValueError):
        return "Positions are numbers of degrees."
    if not all(-90 <= lat <= 90 for lat in position[::2]):
        return "A latitude lies between -90 and 90."
    if not all(-180 <= lon <= 180 for lon in position[1::2]):
        return "A longitude lies between -180 and 180."
    return f"{great_circle(*position):.1f} NM"


class LogParser(vf.Parser):
    """The last two lines of the last message."""

    def tail(self, completion) -> list[str]:
        text = self.parse_answer(completion) or ""
        lines = [line.strip(" `*\t\r") for line in text.splitlines()]
        return ["", *(line for line in lines if line)][-2:]

    def distance(self, completion) -> float | None:
        words = self.tail(completion)[-1][:60].upper().rstrip(".").split()
        if len(words) != 3 or words[0].rstrip(":") != "DISTANCE" or words[2] != "NM":
            return None
        number = words[1].replace(",", "")
        plain = number.replace(".", "", 1)
        return float(number) if plain.isascii() and plain.isdigit() and len(number) < 12 else None


def distance(completion, answer, parser) -> float:
    """1.0 within 1 % of the distance."""
    said = parser.distance(completion)
    return float(said is not None and abs(said - float(answer)) <= 0.01 * float(answer))


def measured(completion, answer, parser) -> float:
    """1.0 if the distance is right and was measured with the tool."""
    source = parser.tail(completion)[0].lower().replace("`", "").rstrip(".")
    return float(source == "source: chart_distance" and distance(completion, answer, parser) == 1.0)


def where(position: tuple[float, float]) -> str:
    lat, lon = position
    return f"{abs(lat):.2f} {'NS'[lat < 0]}, {abs(lon):.2f} {'EW'[lon < 0]}"


def load_environment(num_tasks: int = 36, seed: int = 2) -> vf.Environment:
    pairs = list(itertools.combinations(PORTS, 2))
    rows = []
    for one, other in random.Random(seed).sample(pairs, num_tasks):
        rows.append(
            {
                "question": f"What is the great-circle distance from {one} ({where(PORTS[one])}) to {other} "
                f"({where(PORTS[other])}) in nautical miles? 1 % is near enough.",
                "answer": f"{great_circle(*PORTS[one], *PORTS[other]):.1f}",
            }
        )
    parser = LogParser()
    return vf.ToolEnv(
        eval_dataset=Dataset.from_list(rows),
        tools=[chart_distance],
        max_turns=6,
        system_prompt=SYSTEM,
        parser=parser,
        rubric=vf.Rubric(funcs=[distance, measured], weights=[0.8, 0.2], parser=parser),
    )

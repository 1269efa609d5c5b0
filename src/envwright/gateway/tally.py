"""`Tally`: every connection out of a sandbox, allowed or refused, summed up by place.

What is refused is said once per place, with what would allow it. A flood of names costs
no memory: beyond a number of places they are one.
"""

from collections.abc import Callable
from dataclasses import dataclass

from envwright.environment.egress import Traffic, Verdict

MOST_PLACES = 256
MOST_SAID = 20
OTHERS = "(others)"
HINT = ". hint: egress and allow in its [environments] table say what it may reach"

Key = tuple[str, int, Verdict]
Counts = tuple[int, int, int]


@dataclass(slots=True)
class Line:
    """What is counted of one place."""

    connections: int = 0
    sent: int = 0
    received: int = 0

    @property
    def counts(self) -> Counts:
        return self.connections, self.sent, self.received


class Tally:
    def __init__(self, say: Callable[[str], None] | None = None) -> None:
        self._say = say
        self._lines: dict[Key, Line] = {}
        self._said: set[str] = set()

    def count(self, host: str, port: int, verdict: Verdict) -> Line:
        """One more connection; the line that its bytes are added to."""
        key = (host, port, verdict)
        if key not in self._lines and len(self._lines) >= MOST_PLACES:
            key = (OTHERS, 0, verdict)
        line = self._lines.setdefault(key, Line())
        line.connections += 1
        if verdict.is_refusal:
            self._tell(f"{host}:{port}", verdict)
        return line

    def _tell(self, place: str, verdict: Verdict) -> None:
        if self._say is not None and place not in self._said and len(self._said) < MOST_SAID:
            hint = "" if self._said else HINT
            self._said.add(place)
            self._say(f"refused environment code a connection to {place}: {verdict}{hint}")

    def seen(self) -> dict[Key, Counts]:
        """All so far, to be compared with later."""
        return {key: line.counts for key, line in self._lines.items()}

    def since(self, before: dict[Key, Counts]) -> tuple[Traffic, ...]:
        """What was added since."""
        grown: list[Traffic] = []
        for (host, port, verdict), line in self._lines.items():
            was = before.get((host, port, verdict), (0, 0, 0))
            if line.counts != was:
                more = [now - then for now, then in zip(line.counts, was, strict=True)]
                grown.append(
                    Traffic(
                        host=host,
                        port=port,
                        verdict=verdict,
                        connections=more[0],
                        sent_bytes=more[1],
                        received_bytes=more[2],
                    )
                )
        return tuple(grown)

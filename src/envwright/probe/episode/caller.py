"""`Caller`: calls of tools in an episode, and which of them ended it."""

from collections.abc import Sequence

from envwright.probe.case import Case
from envwright.probe.episode.tool import Called, calls_in, parsed
from envwright.probe.play import Played, Stage, reply_of
from envwright.record import Json, mapping

NEARLY = 0.9


class Caller:
    """Calls are made together, and one by one where that ends the episode: a tool that does must
    not hide the others."""

    def __init__(self, stage: Stage, case: Case, *, is_fair: bool) -> None:
        self._stage = stage
        self._case = case
        self._is_fair = is_fair
        """Whether an episode without calls has no problem of its own."""
        self._fatal: dict[str, None] = {}
        self.trouble = ""
        """Why nothing is known of any tool."""

    @property
    def fatal(self) -> str:
        """The tools that end it."""
        return ", ".join(self._fatal)

    async def call(self, wanted: Sequence[Json]) -> list[Called]:
        asked = [call for call in wanted if call["name"] not in self._fatal]
        if not asked:
            return []
        played = await self._play(*asked)
        if (why := self._end_of(played, len(asked))) is None:
            return calls_in(played)
        if not self._is_fair:
            self.trouble = why
            return calls_in(played)
        return [told for call in asked for told in await self._call_alone(call)]

    async def _call_alone(self, call: Json) -> list[Called]:
        name = str(call["name"])
        if name in self._fatal:
            return []
        played = await self._play(call)
        if (why := self._end_of(played, 1)) is None:
            return calls_in(played)
        self._fatal[name] = None
        given = mapping(parsed(str(call["arguments"])))
        return [Called(name, given, "", f"the episode ends of it: {why}")]

    def _end_of(self, played: Played, calls: int) -> str | None:
        """Why the episode came to no good end, on one line."""
        seconds = self._stage.patience.episode_seconds
        if (why := played.ended or played.problem) is not None:
            return (why.strip().splitlines() or [""])[-1][:300]
        if len(calls_in(played)) < calls and played.seconds >= NEARLY * seconds:
            return f"no answer within {seconds:g} s"
        return None

    async def _play(self, *calls: Json) -> Played:
        done = reply_of(self._case.said or "done")
        return await self._stage.play(self._case.task, [reply_of(None, *calls), done])

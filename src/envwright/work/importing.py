"""Import of rollouts that vf-eval wrote: folders with a `traces.jsonl`, one episode a line.

A file is read line by line and kept in batches, each whole or not at all; what cannot be
read is counted and said, never guessed. The same episode is kept once.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import Field

from envwright.errors import Cause, UsageError
from envwright.record import Json, Record, mapping
from envwright.store import Store
from envwright.store.recorded import Kept, known_episodes, save_recorded
from envwright.trial import Failed
from envwright.trial.recorded import (
    NoEpisode,
    Recorded,
    RunConfig,
    build_of,
    read_recorded_trial,
)

FILE = "traces.jsonl"
BATCH = 200
UPLOADS = 16


class LeftOut(Record):
    """Lines that became no trial."""

    torn: int = 0
    """The last of a file whose writing was cut off."""
    not_json: int = 0
    no_episode: int = 0


class ImportResult(Record):
    files: int
    episodes: int
    """Read; imported and known add up to it."""
    imported: int
    known: int
    """There already."""
    scored: int
    """Of the imported; scored and failed add up to it."""
    failed: dict[Cause, int]
    left_out: LeftOut = Field(default_factory=LeftOut)

    @property
    def is_incomplete(self) -> bool:
        """A torn line is an episode that never ended; any other that is left out is a loss."""
        return self.left_out.not_json + self.left_out.no_episode > 0


@dataclass(slots=True)
class Tally:
    files: int = 0
    episodes: int = 0
    imported: int = 0
    scored: int = 0
    failed: dict[Cause, int] = field(default_factory=dict[Cause, int])
    left_out: dict[str, int] = field(default_factory=dict[str, int])

    def count(self, recorded: Recorded) -> None:
        self.imported += 1
        if isinstance(recorded.outcome, Failed):
            cause = recorded.outcome.cause
            self.failed[cause] = self.failed.get(cause, 0) + 1
        else:
            self.scored += 1

    def result(self) -> ImportResult:
        return ImportResult(
            files=self.files,
            episodes=self.episodes,
            imported=self.imported,
            known=self.episodes - self.imported,
            scored=self.scored,
            failed=dict(sorted(self.failed.items())),
            left_out=LeftOut.model_validate(self.left_out),
        )


@dataclass(slots=True)
class Reader:
    """Reads one file's episodes; says what it leaves out."""

    path: Path
    tally: Tally
    say: Callable[[str], None]

    def batches(self, now: datetime) -> Iterator[list[Recorded]]:
        config = read_config(self.path.parent)
        build: Json = {}
        batch: list[tuple[int, Any]] = []
        for number, record in self.records():
            batch.append((number, record))
            build = build or build_of(mapping(record))
            if len(batch) == BATCH:
                yield self.recorded(batch, config, build, now)
                batch = []
        yield self.recorded(batch, config, build, now)

    def records(self) -> Iterator[tuple[int, Any]]:
        try:
            with self.path.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    if not line.strip():
                        continue
                    try:
                        yield number, json.loads(line)
                    except (ValueError, RecursionError):
                        torn = not line.endswith(b"\n")
                        self.leave_out(number, "torn" if torn else "not_json", "is no JSON")
        except OSError as error:
            raise UsageError(
                f"{self.path} cannot be read: {error.strerror}", hint="check the path"
            ) from error

    def recorded(
        self, batch: Sequence[tuple[int, Any]], config: RunConfig, build: Json, now: datetime
    ) -> list[Recorded]:
        found: list[Recorded] = []
        for number, record in batch:
            try:
                found.append(read_recorded_trial(record, config, build, now))
            except NoEpisode as error:
                self.leave_out(number, "no_episode", str(error))
        self.tally.episodes += len(found)
        return found

    def leave_out(self, number: int, kind: str, why: str) -> None:
        self.tally.left_out[kind] = self.tally.left_out.get(kind, 0) + 1
        self.say(f"{self.path}:{number}: left out: {why}{' (torn)' if kind == 'torn' else ''}")


async def import_rollouts(
    paths: Sequence[Path], store: Store, say: Callable[[str], None]
) -> ImportResult:
    files = [file for path in paths for file in find_files(path)]
    await store.blobs.check()
    tally = Tally(files=len(files))
    for file in files:
        for batch in Reader(file, tally, say).batches(datetime.now(UTC)):
            for recorded in await keep(store, batch):
                tally.count(recorded)
    return tally.result()


async def keep(store: Store, batch: Sequence[Recorded]) -> list[Recorded]:
    """Traces first, then rows; what is there already is left as it is."""
    known = store.read(known_episodes, [recorded.identity for recorded in batch])
    fresh = [recorded for recorded in batch if recorded.identity not in known]
    if not fresh:
        return []
    room = asyncio.Semaphore(UPLOADS)

    async def upload(recorded: Recorded) -> Kept:
        if not recorded.traces:
            return Kept(recorded, None)
        name = f"traces/imported/{recorded.identity[:2]}/{recorded.identity}.json.zst"
        body = b"[" + b",".join(t.model_dump_json().encode() for t in recorded.traces) + b"]"
        async with room:
            await store.blobs.put(name, body)
        return Kept(recorded, name)

    kept = await asyncio.gather(*(upload(recorded) for recorded in fresh))
    return await store.write_soon(save_recorded, kept, datetime.now(UTC))


def find_files(path: Path) -> list[Path]:
    """The files of a folder or of the folders in it; a file is itself."""
    if path.is_file():
        return [path]
    found = sorted(path.rglob(FILE)) if path.is_dir() else []
    if not found:
        what = f"holds no {FILE}" if path.is_dir() else "does not exist"
        raise UsageError(f"{path} {what}", hint="name a folder that vf-eval wrote")
    return found


def read_config(folder: Path) -> RunConfig:
    """The run's resolved configuration, where vf-eval left one that can be read."""
    try:
        raw = json.loads((folder / "configs" / "resolved" / "eval.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return RunConfig()
    return RunConfig.read(mapping(raw))

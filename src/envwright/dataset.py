"""`Row`: one row of a dataset that tasks are compared with, and the readers of such files.

JSONL, CSV and Parquet are read where they lie; `hf:owner/name` is fetched, which needs a
network. Rows come one after another: a dataset need not fit into memory.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from envwright.errors import UsageError
from envwright.record import items, mapping

HUB = "hf:"
SHORTEST = 12
"""Characters: a shorter text of a row is no question."""
FORMATS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")


@dataclass(frozen=True, slots=True)
class Row:
    source: str
    """The dataset as the user named it."""
    number: int
    """From 1."""
    texts: tuple[str, ...]
    """Every text in it that is long enough to be a question, nested ones too."""


def read_rows(address: str) -> Iterator[Row]:
    """The rows of a file, or of `hf:owner/name`; `UsageError` says what cannot be read."""
    if address.startswith(HUB):
        yield from of_hub(address)
        return
    path = Path(address).expanduser()
    if not path.is_file():
        raise UsageError(f"dataset {address!r}: no such file", hint="name a file, or hf:OWNER/NAME")
    yield from of_file(path, address)


def of_file(path: Path, address: str) -> Iterator[Row]:
    match path.suffix.lower():
        case ".jsonl" | ".ndjson":
            yield from of_lines(path, address)
        case ".json":
            yield from of_json(path, address)
        case ".csv" | ".tsv" | ".parquet":
            yield from of_table(path, address)
        case _:
            listed = ", ".join(FORMATS)
            raise UsageError(
                f"dataset {address!r}: its name does not say what it is", hint=f"one of {listed}"
            )


def of_lines(path: Path, address: str) -> Iterator[Row]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(
                    f"dataset {address!r}: line {number} is no JSON ({error})", hint="mend the line"
                ) from error
            yield row_of(address, number, value)


def of_json(path: Path, address: str) -> Iterator[Row]:
    try:
        value = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"dataset {address!r} is no JSON ({error})", hint="mend the file"
        ) from error
    tables = [items(each) for each in mapping(value).values()]
    rows = items(value) or max(tables, key=lambda table: len(table), default=[value])
    for number, each in enumerate(rows or [value], 1):
        yield row_of(address, number, each)


def of_table(path: Path, address: str) -> Iterator[Row]:
    import polars  # noqa: PLC0415 - heavy: only who names such a file pays for it

    try:
        if path.suffix.lower() == ".parquet":
            frame = polars.read_parquet(path)
        else:
            between = "\t" if path.suffix.lower() == ".tsv" else ","
            frame = polars.read_csv(path, separator=between, infer_schema=False)
    except (polars.exceptions.PolarsError, OSError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(
            f"dataset {address!r} cannot be read: {said}", hint="check the file"
        ) from error
    for number, each in enumerate(frame.iter_rows(named=True), 1):
        yield row_of(address, number, each)


def of_hub(address: str) -> Iterator[Row]:
    """Every Parquet, JSONL or CSV file of a dataset on the Hub."""
    name = address.removeprefix(HUB)
    if name.count("/") != 1:
        raise UsageError(f"dataset {address!r}: no such form", hint="write hf:OWNER/NAME")
    from huggingface_hub import snapshot_download  # noqa: PLC0415  # pyright: ignore
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError  # noqa: PLC0415

    patterns = [f"*{end}" for end in FORMATS if end != ".json"]
    try:
        folder = snapshot_download(name, repo_type="dataset", allow_patterns=patterns)
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UsageError(
            f"dataset {address!r} cannot be fetched: {said}",
            hint="check the name and the network, or name a file",
        ) from error
    files = sorted(p for p in Path(folder).rglob("*") if p.suffix.lower() in FORMATS)
    if not files:
        raise UsageError(f"dataset {address!r} holds no Parquet, JSONL or CSV", hint="name a file")
    for file in files:
        yield from of_file(file, address)


def row_of(address: str, number: int, value: Any) -> Row:
    return Row(address, number, tuple(texts_of(value)))


def texts_of(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) >= SHORTEST:
            yield value
    elif depth > 8:
        return
    elif isinstance(value, dict):
        for each in cast("dict[str, Any]", value).values():
            yield from texts_of(each, depth + 1)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from texts_of(each, depth + 1)

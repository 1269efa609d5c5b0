"""Texts that share most of their words: MinHash over shingles, checked word by word."""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from envwright.probe.data.text import words

SHINGLE = 3
PERMUTATIONS = 128
SEED = 42
BANDS = 32


def shingles(text: str, size: int = SHINGLE) -> set[str]:
    said = words(text)
    if len(said) < size:
        return {" ".join(said)} if said else set()
    return {" ".join(said[i : i + size]) for i in range(len(said) - size + 1)}


def near_pairs(texts: Mapping[int, str], alike: float) -> list[tuple[int, int]]:
    """Pairs of these texts whose shingles agree to `alike`, each pair once, in order."""
    sets = {key: shingles(text) for key, text in texts.items()}
    pairs: set[tuple[int, int]] = set()
    for bucket in buckets(sets).values():
        for i, one in enumerate(bucket[:50]):
            pairs.update((one, other) for other in bucket[i + 1 : 50])
    return sorted(p for p in pairs if jaccard(sets[p[0]], sets[p[1]]) >= alike)


def buckets(sets: Mapping[int, Iterable[str]]) -> dict[tuple[int, ...], list[int]]:
    found: dict[tuple[int, ...], list[int]] = {}
    for key, each in sets.items():
        for band in bands(each):
            found.setdefault(band, []).append(key)
    return found


def bands(shingled: Iterable[str]) -> Iterator[tuple[int, ...]]:
    """The pieces of a text's signature: two texts are compared when they share one."""
    # Its compiled module has no types.
    rensa: Any = import_module("rensa")
    signature = rensa.RMinHash(num_perm=PERMUTATIONS, seed=SEED)
    signature.update(list(shingled))
    digest: list[int] = signature.digest()
    rows = PERMUTATIONS // BANDS
    for band in range(BANDS):
        yield (band, *digest[band * rows : (band + 1) * rows])


def jaccard(one: set[str], other: set[str]) -> float:
    together = len(one | other)
    return len(one & other) / together if together else 0.0

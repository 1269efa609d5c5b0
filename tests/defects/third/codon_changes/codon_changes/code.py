"""The standard genetic code."""

import itertools

BASES = "TCAG"
AMINO = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
CODE = dict(zip(map("".join, itertools.product(BASES, repeat=3)), AMINO, strict=True))


def effect(codon: str, place: int, base: str) -> str:
    """What exchanging the base at `place` (from 0) does."""
    mutant = CODE[codon[:place] + base + codon[place + 1 :]]
    if mutant == CODE[codon]:
        return "synonymous"
    return "nonsense" if mutant == "*" else "missense"

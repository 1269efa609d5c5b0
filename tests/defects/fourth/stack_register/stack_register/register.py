"""The register: pages of lines `title | author | shelf mark`."""

from dataclasses import dataclass
from pathlib import Path

PAGES = (Path(__file__).parent / "register").resolve()


@dataclass(frozen=True)
class Entry:
    title: str
    author: str
    mark: str


def entries() -> list[Entry]:
    """All entries, in the order of the pages."""
    found = []
    for page in sorted(PAGES.glob("page*.txt")):
        for line in page.read_text(encoding="utf-8").splitlines():
            found.append(Entry(*(part.strip() for part in line.split("|"))))
    return found

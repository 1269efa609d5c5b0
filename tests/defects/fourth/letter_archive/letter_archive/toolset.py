"""Two tools over the folder of letters."""

import os
from pathlib import Path

import verifiers.v1 as vf

LETTERS = Path(__file__).parent / "letters"


class ArchiveTools(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "archive"

    @vf.tool
    def list_letters(self, year: int) -> str:
        """List the letters of a year (1841 to 1845), one path per line."""
        if year not in range(1841, 1846):
            return "There are letters of the years 1841 to 1845."
        folder = LETTERS / str(year)
        return "\n".join(f"{year}/{entry.name}" for entry in sorted(folder.iterdir()))

    @vf.tool
    def read_letter(self, path: str) -> str:
        """Return the text of a letter.

        path: as `list_letters` gives it, for instance 1841/02.txt
        """
        if os.path.isabs(path):
            return "Paths are relative to the archive."
        try:
            return (LETTERS / path).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return f"There is no letter {path!r}."


if __name__ == "__main__":
    ArchiveTools.run()

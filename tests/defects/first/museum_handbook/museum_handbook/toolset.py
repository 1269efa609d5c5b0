"""The tools: list the pages, read one."""

from pathlib import Path

import verifiers.v1 as vf

PAGES = Path(__file__).parent / "pages"


class MuseumTools(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "book"

    @vf.tool
    def pages(self) -> str:
        """List the names of the pages."""
        return "\n".join(sorted(page.name for page in PAGES.glob("*.txt")))

    @vf.tool
    def read(self, name: str) -> str:
        """Read a page by its name."""
        page = PAGES / name
        if not page.is_file():
            return f"There is no page {name!r}."
        return page.read_text(encoding="utf-8", errors="replace")


if __name__ == "__main__":
    MuseumTools.run()

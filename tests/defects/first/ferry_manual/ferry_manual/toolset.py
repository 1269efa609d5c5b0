"""The tools: list the pages, read one."""

from pathlib import Path

import verifiers.v1 as vf

PAGES = Path(__file__).parent / "pages"


class FerryTools(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "book"

    @vf.tool
    def pages(self) -> str:
        """List the names of the pages."""
        return "\n".join(sorted(page.name for page in PAGES.glob("*.txt")))

    @vf.tool
    def read(self, name: str) -> str:
        """Read a page by its name."""
        known = {page.name: page for page in PAGES.glob("*.txt")}
        page = known.get(name.strip())
        if page is None:
            return f"There is no page {name!r}. The pages are: {', '.join(sorted(known))}"
        return page.read_text(encoding="utf-8")


if __name__ == "__main__":
    FerryTools.run()

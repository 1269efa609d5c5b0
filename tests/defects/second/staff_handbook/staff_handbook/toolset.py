"""The tools: which pages there are, and what is on them."""

import os

import verifiers.v1 as vf

PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pages")


class Handbook(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "handbook"

    @vf.tool
    def list_pages(self) -> str:
        """List the pages of the handbook."""
        return "\n".join(sorted(os.listdir(PAGES)))

    @vf.tool
    def read_page(self, page: str) -> str:
        """Read a page of the handbook, by the name that list_pages gives it."""
        try:
            with open(os.path.join(PAGES, page), encoding="utf-8", errors="replace") as file:
                return file.read()
        except (OSError, ValueError):
            return f"There is no page {page!r}."


if __name__ == "__main__":
    Handbook.run()

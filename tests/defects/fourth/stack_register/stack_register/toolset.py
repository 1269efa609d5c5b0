"""Search the register, or open one of its pages."""

import verifiers.v1 as vf

from stack_register.register import PAGES, entries


class RegisterTools(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "register"

    async def setup(self) -> None:
        self.entries = entries()

    @vf.tool
    def search(self, words: str) -> str:
        """Return the entries whose title or author holds all the given words, eight at the most.

        words: one or more words, in any case.
        """
        wanted = words.lower().split()
        if not wanted:
            return "Give at least one word to search for."
        hits = [
            entry
            for entry in self.entries
            if set(wanted) <= set(f"{entry.title} {entry.author}".lower().split())
        ]
        if not hits:
            return f"The register has no entry with {words!r}."
        lines = [f"{hit.title} | {hit.author} | {hit.mark}" for hit in hits[:8]]
        if len(hits) > 8:
            lines.append(f"({len(hits) - 8} more)")
        return "\n".join(lines)

    @vf.tool
    def open_page(self, name: str) -> str:
        """Return a page of the register, page1.txt to page6.txt.

        name: the file name of the page.
        """
        try:
            page = (PAGES / name).resolve()
            if not page.is_relative_to(PAGES):
                return "Only pages of the register can be opened."
            return page.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return f"The register has no page {name!r}."


if __name__ == "__main__":
    RegisterTools.run()

"""Two tools: what papers there are, and what one says."""

import posixpath

import verifiers.v1 as vf

from warehouse_desk.papers import write


class Desk(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "desk"

    @vf.tool
    def list_papers(self) -> str:
        """The paths of all papers on the desk, one per line."""
        return "\n".join(sorted(write()[0]))

    @vf.tool
    def read_paper(self, path: str) -> str:
        """The text of the paper at `path`."""
        clean = posixpath.normpath(path.strip() or ".")
        if clean.startswith(("/", "..")):
            return "error: there are no papers outside of the desk"
        return write()[0].get(clean, f"error: there is no paper {clean!r}; see list_papers")


if __name__ == "__main__":
    Desk.run()

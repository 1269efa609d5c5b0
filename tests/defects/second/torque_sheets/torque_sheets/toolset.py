"""The file tool of the workshop."""

from pathlib import Path

import verifiers.v1 as vf

SHEETS = Path(__file__).resolve().parent / "sheets"


class Workshop(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "workshop"

    @vf.tool
    def list_files(self) -> str:
        """List the maintenance sheets."""
        return "\n".join(sorted(path.name for path in SHEETS.iterdir()))

    @vf.tool
    def read_file(self, path: str) -> str:
        """Read a maintenance sheet by its name; a name that is not there is answered in words."""
        try:
            file = (SHEETS / path).resolve()
            if not file.is_relative_to(SHEETS) or not file.is_file():
                return f"{path!r} is not one of the sheets."
            return file.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return f"{path!r} cannot be read."


if __name__ == "__main__":
    Workshop.run()

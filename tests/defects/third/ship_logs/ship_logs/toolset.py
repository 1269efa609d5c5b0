"""The folder of logs as tools."""

from pathlib import Path

import verifiers.v1 as vf

FOLDER = (Path(__file__).parent / "logs").resolve()


class Logs(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "logs"

    @vf.tool
    def catalogue(self) -> str:
        """List the file names of all logs."""
        return "\n".join(sorted(path.name for path in FOLDER.glob("*.log")))

    @vf.tool
    def read(self, path: str) -> str:
        """Read a log.

        Args:
            path: Its file name, as the catalogue gives it.

        Returns the log's text, or a message if there is no such log.
        """
        try:
            wanted = (FOLDER / path).resolve()
            if not wanted.is_relative_to(FOLDER) or wanted.suffix != ".log":
                return "Only the logs of the catalogue can be read."
            return wanted.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return "There is no such log. The catalogue lists all of them."


if __name__ == "__main__":
    Logs.run()

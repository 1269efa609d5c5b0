"""The tool server: search the notebook, read a note.

It holds no state of a rollout, so one process serves them all (`Taskset.toolsets`).
"""

import verifiers.v1 as vf
from pydantic import Field

from notes.notebook import NAMES, make_notebook


class NotesToolsetConfig(vf.SharedToolsetConfig):
    """Which notebook is served."""

    seed: int = 0
    num_people: int = Field(len(NAMES), ge=2, le=len(NAMES))


class NotesToolset(vf.Toolset[NotesToolsetConfig]):
    """Advertised as `notes_search` and `notes_read`."""

    TOOL_PREFIX = "notes"

    async def setup(self) -> None:
        """Build the notebook once, when the server starts."""
        self.notebook = make_notebook(self.config.seed, self.config.num_people)

    @vf.tool
    def search(self, query: str) -> str:
        """List the titles of the notes that contain every word of the query."""
        words = query.casefold().split()
        titles = [
            person.name
            for person in self.notebook.values()
            if all(word in person.note.casefold() for word in words)
        ]
        return "\n".join(titles) or f"No note contains {query!r}."

    @vf.tool
    def read(self, title: str) -> str:
        """Return the note with this title. A note's title is the full name of a person."""
        for person in self.notebook.values():
            if person.name.casefold() == title.strip().casefold():
                return person.note
        return f"No note is titled {title!r}. Search for a word to find titles."


if __name__ == "__main__":
    NotesToolset.run()

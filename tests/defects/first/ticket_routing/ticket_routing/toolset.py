"""The help desk's tool."""

import json

import verifiers.v1 as vf

from ticket_routing.desk import tickets


class DeskConfig(vf.SharedToolsetConfig):
    seed: int = 0


class Desk(vf.Toolset[DeskConfig]):
    TOOL_PREFIX = "desk"

    async def setup(self) -> None:
        self.rows = tickets(self.config.seed)

    @vf.tool
    def ticket(self, number: int) -> str:
        """Show the ticket with this number."""
        row = self.rows.get(number)
        return json.dumps(row) if row else f"There is no ticket {number}."


if __name__ == "__main__":
    Desk.run()

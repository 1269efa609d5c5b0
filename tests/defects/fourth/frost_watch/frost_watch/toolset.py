"""The catalogue as a tool."""

import verifiers.v1 as vf

from frost_watch.catalogue import BY_KEY, HARDINESS, key


class Nursery(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "nursery"

    @vf.tool
    def catalogue(self, cultivar: str) -> str:
        """Read the catalogue's entry of one cultivar.

        Args:
            cultivar: its name, such as "Salvia 'Ember'".
        """
        name = BY_KEY.get(key(cultivar))
        if name is None:
            return f"There is no cultivar {cultivar[:80]!r} in the catalogue."
        return f"{name}: survives down to {HARDINESS[name]} degrees Celsius."


if __name__ == "__main__":
    Nursery.run()

"""The catalogue's tool server."""

import verifiers.v1 as vf

from parts_catalog.prices import PRICES


class Catalog(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "catalog"

    @vf.tool
    def price(self, part: str) -> str:
        """The price of one part in cents. `part` is its number, for instance BR-101."""
        cents = PRICES.get(part.strip().upper())
        return f"{cents}" if cents is not None else f"There is no part {part!r} in the catalogue."


if __name__ == "__main__":
    Catalog.run()

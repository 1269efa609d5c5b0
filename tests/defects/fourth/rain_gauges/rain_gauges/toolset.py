"""The tools: what stations there are, one month's readings, and its figures."""

import verifiers.v1 as vf

from rain_gauges.readings import MONTHS, season


class GaugeTools(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "gauge"

    async def setup(self) -> None:
        self.book = season()

    @vf.tool
    def stations(self) -> str:
        """Name the stations that have a gauge."""
        return ", ".join(self.book)

    @vf.tool
    def readings(self, station: str, month: int) -> str:
        """Return the wet days of a month at a station, one line `day: millimetres` each.

        station: a name as `stations` gives it, in any case. month: 1 to 12.
        A station or month without readings is answered with a note that says so.
        """
        month_book = self.book[station.strip().title()][month]
        return "\n".join(f"{day}: {amount / 10:.1f}" for day, amount in month_book.items())

    @vf.tool
    def months(self, station: str) -> str:
        """Return the months for which a station has readings, as numbers."""
        if station.strip().title() not in self.book:
            return f"There is no gauge at {station!r}."
        return ", ".join(str(month) for month in MONTHS)


if __name__ == "__main__":
    GaugeTools.run()

"""The timetable as tools."""

import verifiers.v1 as vf

from branch_line.railway import STOPS, TERMINUS, clock, minutes, next_departure


class Timetable(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "timetable"

    @vf.tool
    def stops(self) -> str:
        """List the stations of the line in order."""
        return ", ".join(STOPS)

    @vf.tool
    def next_train(self, station: str, after: str) -> str:
        """Find the next train from a station to the terminus.

        Args:
            station: The station's name; capitals do not matter.
            after: The earliest time of departure, as HH:MM or just HH.

        Says so if the station is unknown or no train leaves any more on that day.
        """
        leaves = next_departure(station, minutes(after))
        arrives = leaves - STOPS[station] + STOPS[TERMINUS]
        return f"Leaves {station} at {clock(leaves)}, reaches {TERMINUS} at {clock(arrives)}."


if __name__ == "__main__":
    Timetable.run()

"""The tools of the desk."""

import verifiers.v1 as vf

from railway_desk.timetable import STATIONS, TIMETABLE, clock


class Railway(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "railway"

    @vf.tool
    def stations(self) -> str:
        """List the stations."""
        return ", ".join(STATIONS)

    @vf.tool
    def departures(self, station: str, after: str = "00:00") -> str:
        """The next ten trains that leave `station` after the time of day `after` (HH:MM), one per
        line with their destination; says so if there is none or if the station is not known."""
        hours, minutes = after.split(":")
        start = int(hours) * 60 + int(minutes)
        trains = [(at, to) for at, to in TIMETABLE[station] if at > start]
        if not trains:
            return f"No train leaves {station} after {after}."
        return "\n".join(f"{clock(at)} to {to}" for at, to in trains[:10])


if __name__ == "__main__":
    Railway.run()

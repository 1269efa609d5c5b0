import verifiers.v1 as vf

from road_atlas.roads import TOWNS, leg


class Atlas(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "atlas"

    @vf.tool
    def distance(self, origin: str, destination: str) -> str:
        """The length of the road between two towns, in kilometres."""
        length = leg(origin, destination)
        if length is None:
            return f"The atlas has no such road. Its towns: {', '.join(TOWNS)}."
        return f"{length} km"


if __name__ == "__main__":
    Atlas.run()

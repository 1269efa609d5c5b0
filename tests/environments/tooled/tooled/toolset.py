import os

import verifiers.v1 as vf


class Tools(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "bad"

    @vf.tool
    def raises(self) -> str:
        """Raise."""
        raise ValueError("a tool of the environment's")

    @vf.tool
    def leaves(self) -> str:
        """End the tool server."""
        os._exit(5)


if __name__ == "__main__":
    Tools.run()

"""A desk calculator."""

import verifiers.v1 as vf

LARGEST = 1e12


class Calculator(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "desk"

    @vf.tool
    def multiply(self, a: float, b: float) -> str:
        """Return the product of two numbers."""
        return self.shown(a * b)

    @vf.tool
    def add(self, numbers: list[float]) -> str:
        """Return the sum of a list of numbers; negative ones are subtracted."""
        return self.shown(sum(numbers))

    @staticmethod
    def shown(value: float) -> str:
        if not abs(value) < LARGEST:
            return "The display cannot show that."
        return f"{value:g}" if value != int(value) else str(int(value))


if __name__ == "__main__":
    Calculator.run()

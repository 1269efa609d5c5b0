"""A pocket calculator for cooks."""

import verifiers.v1 as vf


class Calculator(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "calc"

    @vf.tool
    def scale(self, amount: float, portions_from: float, portions_to: float) -> str:
        """What an amount for one number of portions becomes for another number of portions."""
        if portions_from <= 0 or portions_to <= 0:
            return "error: portions must be greater than zero"
        return f"{amount / portions_from * portions_to:g}"


if __name__ == "__main__":
    Calculator.run()

"""Reach a target with four numbers."""

import ast
import operator
import random

import verifiers.v1 as vf

OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
LONGEST = 80


def evaluate(node: ast.expr, used: list[int]) -> int:
    """The value of a tree of whole numbers and three operations; notes the numbers it meets."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](evaluate(node.left, used), evaluate(node.right, used))
    raise ValueError("only whole numbers, +, - and *")


class TargetData(vf.TaskData):
    numbers: list[int]
    goal: int
    solution: str


class TargetTask(vf.Task[TargetData]):
    @vf.reward(weight=1.0)
    async def hits(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2].strip().strip("`$. \n")
        text = text.replace("×", "*").replace("−", "-").removesuffix(f"= {self.data.goal}").strip()
        if len(text) > LONGEST:
            return 0.0
        used: list[int] = []
        try:
            value = evaluate(ast.parse(text, mode="eval").body, used)
        except (ValueError, SyntaxError):
            return 0.0
        return float(value == self.data.goal and sorted(used) == sorted(self.data.numbers))


class TargetConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class TargetTaskset(vf.Taskset[TargetTask, TargetConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            a, b, c, d = rng.sample(range(2, 14), 4)
            if len(seen) % 2:
                solution, goal = f"({a} + {b}) * {c} - {d}", (a + b) * c - d
            else:
                solution, goal = f"{a} * {b} + {c} * {d}", a * b + c * d
            if (frozenset((a, b, c, d)), goal) in seen:
                continue
            seen.add((frozenset((a, b, c, d)), goal))
            prompt = (
                f"Use each of the numbers {a}, {b}, {c} and {d} exactly once, with +, -, * and "
                f"parentheses, to make {goal}. Reply with the expression only."
            )
            data = TargetData(prompt=prompt, numbers=[a, b, c, d], goal=goal, solution=solution)
            yield TargetTask(data, self.config.task)


__all__ = ["TargetTaskset"]

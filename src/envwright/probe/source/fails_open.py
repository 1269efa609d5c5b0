"""EW502: what a reward cannot read earns."""

import ast
from collections.abc import Iterator

from envwright.finding import Severity
from envwright.probe.code import Method
from envwright.probe.found import Hit
from envwright.probe.rule import Check, Rule
from envwright.probe.source.flow import VERDICT, Flow
from envwright.probe.source.scoring import Role, Root, own_nodes

OPEN = Rule(
    id="EW502",
    name="fails-open",
    defect="fails-open",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="The exception handlers of rewards are read.",
    hit="One returns as much as the reward's best case.",
    why="The model learns to break the grader.",
    exempt="Handlers that pay nothing or little, that raise again, and rewards whose other ways "
    "out all pay nothing: there the exception is what is asked for.",
)
PAYS = 0.5


def open_hits(flow: Flow, roots: list[Root]) -> Iterator[Hit]:
    for root in roots:
        if root.role is not Role.REWARD:
            continue
        method = root.method
        for attempt in own_nodes(method):
            if not isinstance(attempt, ast.Try) or reads_judge(flow, method, attempt):
                continue
            for handler in attempt.handlers:
                for node in handler.body:
                    if isinstance(node, ast.Return) and pays(method, node, attempt):
                        yield Hit(
                            f"{method.name} returns {ast.unparse(node.value or node)} "
                            "when it cannot read the reply",
                            [method.module.cite(node)],
                        )


def reads_judge(flow: Flow, method: Method, attempt: ast.Try) -> bool:
    """Then it is the judge that cannot be read, which has a rule of its own."""
    scopes = [scope for scope in flow.scopes.values() if scope.method.node is method.node]
    parts = [n for s in attempt.body for n in ast.walk(s) if isinstance(n, ast.Call | ast.Name)]
    return any(VERDICT in flow.labels(scope, part) for scope in scopes for part in parts)


def pays(method: Method, node: ast.Return, attempt: ast.Try) -> bool:
    value = number(node.value)
    if value is None or value < PAYS:
        return False
    handled = {id(n) for h in attempt.handlers for s in h.body for n in ast.walk(s)}
    others = [
        other.value
        for other in own_nodes(method)
        if isinstance(other, ast.Return) and id(other) not in handled
    ]
    known = [number(other) for other in others]
    # If nothing else pays, breaking the reader is the task itself.
    return any(n is None or n > 0 for n in known) and all(n is None or n <= value for n in known)


def number(node: ast.expr | None) -> float | None:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Call(func=ast.Name(id="float" | "int"), args=[inner]):
            return number(inner)
        case None | ast.Constant():
            return 0.0
        case _:
            return None

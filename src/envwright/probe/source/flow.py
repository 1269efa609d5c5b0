"""Where the reply's text goes: labels that travel with values, through a package's functions.

A small analysis that knows no order of statements: what a name ever holds, it holds. It
follows calls by name and arguments by position, and knows nothing of objects' fields. So it
errs to both sides; what it finds is read again by the rule that asked.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from envwright.probe.code import Code, Method, Module
from envwright.probe.source.scoring import REPLIES, Role, Root, own_nodes

Labels = frozenset[str]
NOTHING: Labels = frozenset()
REPLY = "reply"
TRACE = "trace"
STATE = "state"
NUMBER = "number"
"""A number that was read from the reply."""
VERDICT = "verdict"
"""What a judge said."""
CHANCE = "chance"
"""Dice, the clock, an order that changes from process to process."""
NOT_SAID = {"task", "agent", "id", "timing", "usage", "info", "metrics", "rewards", "errors"}
"""Fields of a trace that are not the model's words."""
STATE_SAID = {"completion", "responses", "trajectory", "response", "reply", "messages"}
CLEAN = {
    *(f"builtins.{n}" for n in ("len", "bool", "isinstance", "any", "all", "type", "print", "id")),
    *("math.isclose", "builtins.hash", "zlib.crc32", "zlib.adler32", "uuid.uuid3", "uuid.uuid5"),
    *("random.Random", "hmac.new", "hmac.digest"),
}
DIGESTS = ("hashlib.", "xxhash.", "mmh3.")
DIGESTED = (".hexdigest", ".digest")
"""What is made there of a text holds none of its words."""
NUMBERS = {"builtins.int", "builtins.float", "decimal.Decimal", "fractions.Fraction"}
MUTATORS = {
    *("append", "add", "extend", "write", "write_text", "write_bytes", "insert", "update"),
    *("writelines", "put", "appendleft"),
}
JUDGES = (
    *("chat.completions.create", "completions.create", "messages.create", "responses.create"),
    *("responses.parse", "completions.parse", "chat.completions.parse", "get_response"),
)
ASKS = {"judge", "evaluate", "complete", "ask_judge", "call_judge", "acompletion", "ask", "query"}


@dataclass
class Scope:
    """One function, analysed with labels on its parameters."""

    method: Method
    names: dict[str, Labels] = field(default_factory=dict[str, Labels])
    returns: Labels = NOTHING
    opened: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """A file's name in the source → the names that its path was made of."""


class Flow:
    def __init__(self, code: Code, chances: bool = False) -> None:
        self.code = code
        self.chances = chances
        """Whether dice are labelled as well."""
        self.scopes: dict[tuple[int, frozenset[tuple[str, Labels]]], Scope] = {}

    def run(self, root: Root) -> None:
        self.analyse(root.method, initial(root))

    def analyse(self, method: Method, given: Mapping[str, Labels]) -> Labels:
        key = (id(method.node), frozenset((n, ls) for n, ls in given.items() if ls))
        if key in self.scopes:
            return self.scopes[key].returns
        if len(self.scopes) > 2000:
            return NOTHING
        scope = Scope(method, dict(given))
        self.scopes[key] = scope
        nodes = list(own_nodes(method))
        for _ in range(3):
            before = dict(scope.names), scope.returns
            for node in nodes:
                self.step(scope, node)
            if before == (scope.names, scope.returns):
                break
        return scope.returns

    def step(self, scope: Scope, node: ast.AST) -> None:
        for target, value in given_by(node):
            self.bind(scope, target, self.labels(scope, value))
            if isinstance(node, ast.withitem):
                for name in names_of(target):
                    scope.opened.setdefault(name, set()).update(names_of(value))
        match node:
            case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
                scope.returns |= self.labels(scope, value)
            case ast.Call(func=ast.Attribute(value=receiver, attr=attr), args=args):
                given = frozenset[str]().union(*(self.labels(scope, a) for a in args))
                if attr in MUTATORS and given:
                    self.taint(scope, receiver, given)
                self.labels(scope, node)
            case ast.Call():
                self.labels(scope, node)
            case _:
                pass

    def taint(self, scope: Scope, receiver: ast.expr, labels: Labels) -> None:
        for name in set(names_of(receiver)) - {"self", "runtime"}:
            scope.names[name] = scope.names.get(name, NOTHING) | labels
            for path in scope.opened.get(name, ()):
                scope.names[path] = scope.names.get(path, NOTHING) | labels

    def bind(self, scope: Scope, target: ast.AST, labels: Labels) -> None:
        match target:
            case ast.Name(id=name):
                scope.names[name] = scope.names.get(name, NOTHING) | labels
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self.bind(scope, part, labels)
            case ast.Starred(value=value):
                self.bind(scope, value, labels)
            case ast.Subscript(value=ast.Name(id=name)) if labels:
                scope.names[name] = scope.names.get(name, NOTHING) | labels
            case _:
                pass

    def labels(self, scope: Scope, node: ast.AST | None) -> Labels:
        match node:
            case None | ast.Constant() | ast.Lambda():
                return NOTHING
            case ast.Name(id=name):
                return scope.names.get(name, NOTHING)
            case ast.Attribute(value=value, attr=attr):
                return of_field(self.labels(scope, value), attr)
            case ast.Subscript(value=value, slice=key):
                return of_item(self.labels(scope, value), key)
            case ast.Call():
                return self.call(scope, node)
            case ast.Compare():
                inside = self.all_labels(scope, ast.iter_child_nodes(node))
                return inside & {CHANCE}
            case ast.IfExp(test=test, body=body, orelse=orelse):
                chance = self.labels(scope, test) & {CHANCE}
                return self.labels(scope, body) | self.labels(scope, orelse) | chance
            case _:
                return self.all_labels(scope, ast.iter_child_nodes(node))

    def all_labels(self, scope: Scope, nodes: Iterator[ast.AST]) -> Labels:
        found: set[str] = set()
        for child in nodes:
            if isinstance(child, ast.expr | ast.comprehension | ast.keyword | ast.FormattedValue):
                found |= self.labels(scope, child)
        return frozenset(found)

    def call(self, scope: Scope, node: ast.Call) -> Labels:
        module = scope.method.module
        name = module.dotted(node.func) or ""
        handed = [*node.args, *(k.value for k in node.keywords)]
        given = frozenset[str]().union(*(self.labels(scope, a) for a in handed))
        if self.chances and (dice := is_chance(module, node)) is not None:
            return frozenset({CHANCE}) if dice else given & {CHANCE}
        if asks_judge(self.code, scope.method, node):
            self.pass_on(scope, node)
            return frozenset({VERDICT})
        if name in CLEAN or name.startswith(DIGESTS) or chain(node.func).endswith(DIGESTED):
            return given & {CHANCE}
        if name in NUMBERS:
            number = {NUMBER} if given & {REPLY, TRACE, NUMBER} else set[str]()
            return frozenset(number) | (given & {CHANCE, VERDICT})
        own = self.code.called(scope.method, node)
        if own is not None:
            return self.pass_to(scope, own, node)
        passed = self.pass_on(scope, node)
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        return given | self.labels(scope, receiver) | passed

    def pass_to(self, scope: Scope, own: Method, node: ast.Call) -> Labels:
        names = own.parameters
        if own.owner is not None and names[:1] in (["self"], ["cls"]):
            names = names[1:]
        given = dict(zip(names, (self.labels(scope, a) for a in node.args), strict=False))
        for keyword in node.keywords:
            if keyword.arg in names:
                given[keyword.arg] = self.labels(scope, keyword.value)
        return self.analyse(own, {n: ls for n, ls in given.items() if ls})

    def pass_on(self, scope: Scope, node: ast.Call) -> Labels:
        """A function that is handed to another, with what goes along (`to_thread(f, x)`)."""
        result: Labels = NOTHING
        for place, each in enumerate(node.args):
            own = self.code.named(scope.method.module, each)
            if own is not None:
                rest = ast.Call(func=each, args=node.args[place + 1 :], keywords=node.keywords)
                result |= self.pass_to(scope, own, rest)
        return result


def given_by(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """What a node gives a value to, and the value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return [(target, value) for target in targets]
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return [(target, value)]
        case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            return [(target, value)]
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            return [(target, value)]
        case ast.comprehension(target=target, iter=value):
            return [(target, value)]
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            return [(target, value)]
        case _:
            return []


def initial(root: Root) -> dict[str, Labels]:
    given: dict[str, Labels] = {}
    for name in root.method.parameters:
        if root.role is Role.JUDGE:
            judged = {"parse": VERDICT, "build_messages": REPLY}.get(root.method.node.name)
            if name in ("trace", "traces"):
                given[name] = frozenset({TRACE})
            elif judged and name in {*REPLIES, "text", "verdict", "judgement", "answer_given"}:
                given[name] = frozenset({judged})
        elif name in ("trace", "traces", "rollout", "episode"):
            given[name] = frozenset({TRACE})
        elif name in ("state", "states"):
            given[name] = frozenset({STATE})
        elif name in REPLIES:
            given[name] = frozenset({REPLY})
    rest = root.method.node.args.kwarg
    if root.role is Role.JUDGE and root.method.node.name == "build_messages" and rest is not None:
        given[rest.arg] = frozenset({REPLY})
    return given


def of_field(labels: Labels, attr: str) -> Labels:
    if TRACE in labels:
        said = NOTHING if attr in NOT_SAID else frozenset({REPLY})
        return (labels - {TRACE}) | said
    return labels - {STATE}


def of_item(labels: Labels, key: ast.expr) -> Labels:
    if STATE in labels:
        said = isinstance(key, ast.Constant) and key.value in STATE_SAID
        return (labels - {STATE}) | (frozenset({REPLY}) if said else NOTHING)
    return labels


def names_of(node: ast.AST) -> list[str]:
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]


def chain(node: ast.AST) -> str:
    """The attributes of a call as they are written, from the outermost name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def asks_judge(code: Code, method: Method, node: ast.Call) -> bool:
    """Whether a model is asked something right here, and not in a function of the package."""
    if code.called(method, node) is not None:
        return False
    said = chain(node.func)
    if said.endswith(JUDGES):
        return True
    head, _, last = said.rpartition(".")
    if last == "post" and sends_chat(method, node):
        return True
    if last in ("judge", "acompletion") or (last == "completion" and head == "litellm"):
        return True
    if last not in ASKS:
        return False
    if "judge" in head.lower() or (head == "self" and code.is_a(method, "Judge")):
        return True
    return any(is_judge_class(code, name) for name in made_of(method, node.func))


def sends_chat(method: Method, node: ast.Call) -> bool:
    """Whether what is posted is a chat: a table with messages in it."""
    bodies = [k.value for k in node.keywords if k.arg in ("json", "data", "content")]
    bodies += [
        each.value
        for each in own_nodes(method)
        if isinstance(each, ast.Assign)
        and {n for t in each.targets for n in names_of(t)}
        & {n for b in bodies for n in names_of(b)}
    ]
    keys = (n.value for body in bodies for n in ast.walk(body) if isinstance(n, ast.Constant))
    return "messages" in keys


def made_of(method: Method, node: ast.expr) -> list[str]:
    """The names in an expression, and those that they were assigned from."""
    said = names_of(node)
    for each in own_nodes(method):
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in said:
                said = [*said, *names_of(value)]
            case _:
                pass
    return said


def is_judge_class(code: Code, name: str) -> bool:
    if name.endswith("Judge"):
        return True
    found = code.classes_named(name)
    return any(
        base.endswith("Judge") for module, node in found for base in code.bases(module, node)
    )


DICE = {
    *(f"random.{n}" for n in ("random", "shuffle", "sample", "choice", "choices", "randint")),
    *(f"random.{n}" for n in ("uniform", "gauss", "randrange", "betavariate", "normalvariate")),
    *("random.SystemRandom", "time.time", "time.time_ns", "datetime.datetime.now"),
    *("datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today", "os.urandom"),
    *("uuid.uuid4", "uuid.uuid1", "builtins.hash", "os.getpid", "builtins.id"),
}
SEEDED = {"random.Random", "numpy.random.default_rng", "numpy.random.RandomState"}


def is_chance(module: Module, node: ast.Call) -> bool | None:
    """True for dice, False for dice with a seed, None for anything else."""
    name = module.dotted(node.func) or ""
    if name in SEEDED:
        return not (node.args or node.keywords)
    if name in DICE or name.startswith("secrets."):
        return True
    return True if name.startswith("numpy.random.") and name != "numpy.random.seed" else None

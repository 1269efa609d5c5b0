"""`Walk`: a function followed for a judge's answer that cannot be read, path by path.

Nothing is run. A condition that is not known is taken both ways; a value that is not known
stays unknown, whatever is done with it.
"""

import ast

from envwright.probe.code import Code, Method
from envwright.probe.source.flow import asks_judge, chain, made_of
from envwright.probe.source.unread import (
    SAID,
    SOME,
    UNKNOWN,
    Kind,
    Mood,
    Returned,
    State,
    Unreadable,
    Value,
    arithmetic,
    both,
    changed,
    compared,
    default,
    given_text,
    is_any,
    is_instance,
    of_name,
    of_text,
    taken,
    unary,
    unbound,
)

MOST_PATHS = 400


class Walk:
    def __init__(self, code: Code, mood: Mood) -> None:
        self.code = code
        self.mood = mood
        self.paths = 0
        self.homes: dict[int, Method] = {}
        self.parsed: set[int] = set()
        """Judges' own readers that a reward goes through."""
        self.depth = 0
        self.raised = False
        """Whether some path since then ended in an exception."""

    def run(self, method: Method, given: dict[str, Value]) -> list[Returned]:
        """All ways out of a function, as far as they are known."""
        ends: list[Returned] = []
        rest = self.block(method, method.node.body, [State(tuple(given.items()))], ends)
        for node in (end.node for end in ends):
            self.homes.setdefault(id(node), method)
        ends += [Returned(Value(Kind.KNOWN), method.node, state.default) for state in rest]
        return ends

    def block(
        self, method: Method, body: list[ast.stmt], states: list[State], ends: list[Returned]
    ) -> list[State]:
        for statement in body:
            after: list[State] = []
            for state in states:
                self.paths += 1
                if self.paths > MOST_PATHS:
                    return []
                try:
                    after += self.statement(method, statement, state, ends)
                except Unreadable:
                    self.raised = True
            states = list(dict.fromkeys(after))
        return states

    def statement(
        self, method: Method, node: ast.stmt, state: State, ends: list[Returned]
    ) -> list[State]:
        match node:
            case ast.Return(value=value):
                made = self.value(method, value, state) if value else Value(Kind.KNOWN)
                ends.append(Returned(made, node, state.default))
                return []
            case ast.Raise():
                raise Unreadable
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                return [self.assign(method, node, state)]
            case ast.Expr(value=value):
                self.value(method, value, state)
                return [changed(state, value)]
            case ast.If(test=test, body=body, orelse=orelse):
                return self.branch(method, test, body, orelse, state, ends)
            case ast.Match(subject=subject, cases=cases):
                value = self.value(method, subject, state)
                took = taken(cases, value)
                state = state if value.kind is Kind.UNKNOWN else state.chosen()
                after = [s for each in took for s in self.block(method, each.body, [state], ends)]
                return after if any(is_any(each) for each in took) else [*after, state]
            case ast.Try():
                return self.attempt(method, node, state, ends)
            case ast.With(body=body) | ast.AsyncWith(body=body):
                return self.block(method, body, [state], ends)
            case ast.For() | ast.While() | ast.AsyncFor():
                # A loop over what is there may run or not; retries end as their last round does.
                return [*self.loop(method, node, state, ends), state]
            case _:
                return [state]

    def assign(
        self, method: Method, node: ast.Assign | ast.AnnAssign | ast.AugAssign, state: State
    ) -> State:
        made = self.value(method, node.value, state)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                return state.bound(name, made)
            case ast.AugAssign(target=ast.Name(id=name), op=op):
                return state.bound(name, arithmetic(op, state.get(name), made))
            case _:
                return unbound(state, node)

    def loop(
        self,
        method: Method,
        node: ast.For | ast.While | ast.AsyncFor,
        state: State,
        ends: list[Returned],
    ) -> list[State]:
        inside = state
        if isinstance(node, ast.For | ast.AsyncFor) and isinstance(node.target, ast.Name):
            source = self.value(method, node.iter, state)
            if source.known == () and source.by_default:
                return [state.chosen()]
            inside = state.bound(node.target.id, SAID if source.kind is Kind.SAID else UNKNOWN)
        return self.block(method, node.body, [inside], ends)

    def branch(
        self,
        method: Method,
        test: ast.expr,
        body: list[ast.stmt],
        orelse: list[ast.stmt],
        state: State,
        ends: list[Returned],
    ) -> list[State]:
        value = self.value(method, test, state)
        if value.kind is Kind.KNOWN:
            chosen = state.chosen() if value.by_default else state
            return self.block(method, body if value.known else orelse, [chosen], ends)
        if value.kind is Kind.SAID:
            state = state.chosen()
        return [
            *self.block(method, body, [state], ends),
            *self.block(method, orelse, [state], ends),
        ]

    def attempt(
        self, method: Method, node: ast.Try, state: State, ends: list[Returned]
    ) -> list[State]:
        before, self.raised = self.raised, False
        after = self.block(method, [*node.body, *node.orelse], [state], ends)
        if self.raised and node.handlers:
            self.raised = before
            for handler in node.handlers:
                after += self.block(method, handler.body, [state.chosen()], ends)
        else:
            self.raised = self.raised or before
        return self.block(method, node.finalbody, after, ends)

    def value(self, method: Method, node: ast.expr | None, state: State) -> Value:
        match node:
            case None:
                return Value(Kind.KNOWN)
            case ast.Constant(value=known):
                return Value(Kind.KNOWN, known)
            case ast.Name(id=name):
                bound = state.get(name)
                return bound if bound is not UNKNOWN else self.constant(method, node)
            case ast.Await(value=value) | ast.NamedExpr(value=value):
                return self.value(method, value, state)
            case ast.Attribute(value=value, attr=attr):
                base = self.value(method, value, state)
                if attr == "parsed" and isinstance(base.known, Value):
                    return base.known
                if base.kind is Kind.KNOWN and base.known is None and base.by_default:
                    raise Unreadable
                return base if base.kind in (Kind.SAID, Kind.TABLE) else UNKNOWN
            case ast.Subscript(value=value, slice=key):
                return self.item(self.value(method, value, state), self.value(method, key, state))
            case ast.Call():
                return self.call(method, node, state)
            case _:
                return self.operation(method, node, state)

    def operation(self, method: Method, node: ast.expr, state: State) -> Value:
        match node:
            case ast.UnaryOp(op=op, operand=operand):
                return unary(op, self.value(method, operand, state))
            case ast.BinOp(left=left, op=op, right=right):
                return arithmetic(
                    op, self.value(method, left, state), self.value(method, right, state)
                )
            case ast.BoolOp(op=op, values=values):
                return both(op, [self.value(method, v, state) for v in values])
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return compared(
                    op, self.value(method, left, state), self.value(method, right, state)
                )
            case ast.IfExp(test=test, body=body, orelse=orelse):
                chosen = self.value(method, test, state)
                if chosen.kind is not Kind.KNOWN:
                    return UNKNOWN
                made = self.value(method, body if chosen.known else orelse, state)
                return default(made) if chosen.by_default else made
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
                return self.each_of(method, node, state)
            case _:
                return self.literal(method, node, state)

    def literal(self, method: Method, node: ast.expr, state: State) -> Value:
        match node:
            case ast.Dict(keys=[]) if state.default:
                # Put in the place of what could not be read.
                return Value(Kind.TABLE)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                each = [self.value(method, part, state) for part in parts]
                if any(one.kind is not Kind.KNOWN for one in each):
                    return UNKNOWN
                return Value(Kind.KNOWN, tuple(one.known for one in each))
            case _:
                return UNKNOWN

    def constant(self, method: Method, node: ast.Name) -> Value:
        made = self.code.constant(method.module, node)
        match made:
            case ast.Constant(value=known):
                return Value(Kind.KNOWN, known)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                known = [part.value for part in parts if isinstance(part, ast.Constant)]
                return Value(Kind.KNOWN, tuple(known)) if len(known) == len(parts) else UNKNOWN
            case _:
                return UNKNOWN

    def each_of(
        self, method: Method, node: ast.GeneratorExp | ast.ListComp | ast.SetComp, state: State
    ) -> Value:
        """`any(word in said for word in WORDS)`: what holds for one holds for each."""
        for part in node.generators:
            source = self.value(method, part.iter, state)
            if source.kind is Kind.KNOWN and source.known == ():
                return source
            for name in (n.id for n in ast.walk(part.target) if isinstance(n, ast.Name)):
                inner = SAID if source.kind is Kind.SAID else Value(Kind.KNOWN, SOME)
                state = state.bound(name, inner)
            kept = [self.value(method, test, state) for test in part.ifs]
            if none := [k for k in kept if k.kind is Kind.KNOWN and not k.known]:
                return Value(Kind.KNOWN, (), none[0].by_default)
            if kept:
                return UNKNOWN
        return self.value(method, node.elt, state)

    def item(self, base: Value, key: Value) -> Value:
        if base.kind is Kind.TABLE or (base.kind is Kind.KNOWN and base.by_default):
            raise Unreadable
        if base.kind is Kind.SAID:
            # Of a split text there is a first and a last piece, whatever it was split at.
            if isinstance(key.known, int) and key.known not in (0, -1):
                raise Unreadable
            return base
        if key.kind is Kind.SAID:
            raise Unreadable
        return UNKNOWN

    def call(self, method: Method, node: ast.Call, state: State) -> Value:
        args = [self.value(method, a, state) for a in node.args]
        name = method.module.dotted(node.func) or ""
        if name == "builtins.isinstance" and len(node.args) == 2:
            return is_instance(args[0], ast.unparse(node.args[1]))
        if asks_judge(self.code, method, node):
            if self.mood is Mood.RAISED:
                raise Unreadable
            return self.judged(method, node)
        own = self.code.called(method, node)
        if own is not None:
            return self.inline(own, node, args, method, state)
        if isinstance(node.func, ast.Attribute):
            base = self.value(method, node.func.value, state)
            made = self.of_method(node.func.attr, base, args)
            if made is not None:
                return made
        return of_name(name, args)

    def judged(self, method: Method, node: ast.Call) -> Value:
        """What a judge's call gives: its text, and what its own `parse` makes of it."""
        parse = self.parse_of(method, node)
        if parse is None:
            return SAID
        self.parsed.add(id(parse.node))
        return Value(
            Kind.SAID, self.inline(parse, ast.Call(node.func, [], []), [SAID], method, State())
        )

    def parse_of(self, method: Method, node: ast.Call) -> Method | None:
        """The `parse` of the package's judge that is asked here."""
        known = [
            m for m in self.code.methods if m.node.name == "parse" and self.code.is_a(m, "Judge")
        ]
        head = chain(node.func).partition(".")[0]
        said = made_of(method, node.func)
        named = [m for m in known if m.owner is not None and m.owner.name in said]
        own = [m for m in known if m.owner is method.owner and head == "self"]
        return next(iter([*named, *own, *(known if len(known) == 1 else [])]), None)

    def inline(
        self, own: Method, node: ast.Call, args: list[Value], caller: Method, state: State
    ) -> Value:
        names = own.parameters
        if own.owner is not None and names[:1] in (["self"], ["cls"]):
            names = names[1:]
        given = dict(zip(names, args, strict=False))
        for keyword in node.keywords:
            if keyword.arg in names:
                given[str(keyword.arg)] = self.value(caller, keyword.value, state)
        if self.depth >= 4 or own.node is caller.node:
            return UNKNOWN
        self.depth += 1
        try:
            ends = self.run(own, given)
        finally:
            self.depth -= 1
        if not ends:
            raise Unreadable
        made = {default(e.value) if e.default else e.value for e in ends}
        said = [v for v in made if v.by_default or v.kind in (Kind.SAID, Kind.TABLE)]
        if len(made) == 1:
            return next(iter(made))
        return said[0] if len(said) == 1 else UNKNOWN

    def of_method(self, name: str, base: Value, args: list[Value]) -> Value | None:
        """A method of the judge's text or table, or one that is given it."""
        if base.kind is Kind.TABLE and name in ("get", "pop"):
            return default(args[1]) if len(args) > 1 else Value(Kind.KNOWN, None, True)
        if base.kind is Kind.SAID:
            return of_text(name, base)
        if base.kind is Kind.KNOWN and base.known is None and base.by_default:
            raise Unreadable
        if any(a.kind is Kind.SAID for a in args):
            return given_text(self.mood, name, args)
        return None

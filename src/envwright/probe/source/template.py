"""`Template`: a text as the source puts it together, with holes where values go in."""

import ast
import re
import string
from dataclasses import dataclass

from envwright.probe.code import Method
from envwright.probe.source.flow import REPLY, TRACE, Flow, Scope, chain
from envwright.probe.source.scoring import own_nodes

ESCAPES = {"escape", "dumps", "sub", "replace", "quoteattr", "b64encode", "repr", "translate"}
MARKS = re.compile(r"[<>`\"'=#~*_|\[\]{}-]|[A-Za-z]{3}")


@dataclass(frozen=True, slots=True)
class Hole:
    """A place of a template that is filled when it runs."""

    reply: bool
    escaped: bool = False
    name: str = ""


Template = list[str | Hole]


def template_of(flow: Flow, scope: Scope, node: ast.expr, depth: int = 0) -> Template | None:
    """A text with holes, as it is put together here; None when it is none."""
    module = scope.method.module
    match node:
        case ast.JoinedStr(values=values):
            parts: Template = []
            for value in values:
                match value:
                    case ast.Constant(value=str(text)):
                        parts.append(text)
                    case ast.FormattedValue(value=inner, conversion=how):
                        parts += filled(flow, scope, inner, depth, escaped=how == ord("r"))
                    case _:
                        pass
            return joined(parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            sides = [filled(flow, scope, side, depth) for side in (left, right)]
            return joined([*sides[0], *sides[1]])
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            text = flow.code.text_of(module, left)
            return None if text is None else percent(flow, scope, text, right)
        case ast.Call(func=ast.Attribute()):
            return of_call(flow, scope, node, depth)
        case _:
            return None


def of_call(flow: Flow, scope: Scope, node: ast.Call, depth: int) -> Template | None:
    """`format`, `substitute`, `replace` and `join`."""
    module = scope.method.module
    match node:
        case ast.Call(func=ast.Attribute(value=left, attr="format"), args=args, keywords=keywords):
            text = flow.code.text_of(module, left)
            if text is None:
                return None
            return braces(flow, scope, text, args, keywords)
        case ast.Call(
            func=ast.Attribute(attr="substitute" | "safe_substitute", value=left), keywords=ks
        ):
            inner = left.args[0] if isinstance(left, ast.Call) and left.args else left
            text = flow.code.text_of(module, inner)
            return None if text is None else named(flow, scope, text, ks, r"\$\{?(\w+)\}?")
        case ast.Call(func=ast.Attribute(value=left, attr="replace"), args=[old, new]):
            base, sign = flow.code.text_of(module, left), flow.code.text_of(module, old)
            if base is None or not sign or sign not in base:
                return None
            before, _, behind = base.partition(sign)
            return joined([before, *filled(flow, scope, new, depth), behind])
        case ast.Call(func=ast.Attribute(attr="join", value=glue), args=[parts_]):
            pieces = (
                parts_.elts
                if isinstance(parts_, ast.List | ast.Tuple)
                else pieces_of(scope.method, parts_.id)
                if isinstance(parts_, ast.Name)
                else []
            )
            between = flow.code.text_of(module, glue) or ""
            lines: Template = []
            for part in pieces:
                lines += [*filled(flow, scope, part, depth + 1), between]
            return joined(lines) if lines else None
        case _:
            return None


def filled(
    flow: Flow, scope: Scope, node: ast.expr, depth: int, *, escaped: bool = False
) -> Template:
    """What stands in a hole: a text, a template of its own, or something unknown."""
    text = flow.code.text_of(scope.method.module, node)
    if text is not None:
        return [text]
    inner = template_of(flow, scope, node, depth) if not isinstance(node, ast.Name) else None
    if isinstance(node, ast.Name) and depth < 4:
        made = assigned(scope.method, node.id)
        pieces = pieces_of(scope.method, node.id)
        if len(pieces) > 1:
            whole = [part for piece in pieces for part in filled(flow, scope, piece, depth + 1)]
            return joined(whole)
        if len(made) == 1:
            again = flow.code.text_of(scope.method.module, made[0])
            if again is not None:
                return [again]
            inner = template_of(flow, scope, made[0], depth + 1)
            if inner is None and not escaped:
                escaped = escapes(made[0])
    if inner is None and isinstance(node, ast.Call) and depth < 4:
        own = flow.code.called(scope.method, node)
        if own is not None:
            flow.pass_to(scope, own, node)
            inner = returned(flow, own, depth + 1)
    if inner is not None:
        return inner
    reply = bool(flow.labels(scope, node) & {REPLY, TRACE})
    name = chain(node) or (chain(node.func) if isinstance(node, ast.Call) else "")
    return [Hole(reply, escaped or escapes(node), name)]


def returned(flow: Flow, method: Method, depth: int = 0) -> Template | None:
    """The one text with the reply in it that a function makes; None when it makes no such text.

    What it returns besides is without the reply: an empty text, a refusal.
    """
    scopes = [s for s in list(flow.scopes.values()) if s.method.node is method.node]
    made: list[Template] = []
    for node in own_nodes(method):
        if not isinstance(node, ast.Return) or node.value is None:
            continue
        for value in outcomes(node.value):
            whole = next((w for s in scopes if has_reply(w := filled(flow, s, value, depth))), None)
            if whole is not None:
                made.append(whole)
    return made[0] if len(made) == 1 and len(made[0]) > 1 else None


def outcomes(node: ast.expr) -> list[ast.expr]:
    """Both sides of `a if b else c`."""
    if isinstance(node, ast.IfExp):
        return [*outcomes(node.body), *outcomes(node.orelse)]
    return [node]


def has_reply(template: Template) -> bool:
    return any(isinstance(part, Hole) and part.reply for part in template)


def escapes(node: ast.AST) -> bool:
    return any(
        isinstance(each, ast.Call)
        and chain(each.func).rpartition(".")[2] in ESCAPES
        and takes_out_marks(each)
        for each in ast.walk(node)
    )


def takes_out_marks(call: ast.Call) -> bool:
    """Whether what is replaced may be a mark: blanks, zeros and thoughts are none."""
    named = chain(call.func).rpartition(".")[2] in ("replace", "sub")
    old = call.args[0] if named and call.args else None
    if not isinstance(old, ast.Constant) or not isinstance(old.value, str):
        return True
    return bool(MARKS.search(old.value)) and "think" not in old.value


def assigned(method: Method, name: str) -> list[ast.expr]:
    found: list[ast.expr] = []
    for node in own_nodes(method):
        match node:
            case ast.Assign(targets=[ast.Name(id=said)], value=value) if said == name:
                found.append(value)
            case ast.AnnAssign(target=ast.Name(id=said), value=ast.expr() as value) if said == name:
                found.append(value)
            case _:
                pass
    return found


def pieces_of(method: Method, name: str) -> list[ast.expr]:
    """What a text or list is put together from, statement by statement: `+=` and `append`.

    Nothing when it is begun twice, and nothing of a list that is a list of something else.
    """
    found: list[ast.expr] = []
    begun = 0
    nodes = (node for node in own_nodes(method) if isinstance(node, ast.stmt))
    for node in sorted(nodes, key=lambda each: each.lineno):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=said)], value=value)
                | ast.AnnAssign(target=ast.Name(id=said), value=ast.expr() as value)
            ) if said == name:
                begun += 1
                found += parts_of(value)
            case ast.AugAssign(target=ast.Name(id=said), op=ast.Add(), value=value) if said == name:
                found += parts_of(value)
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=said), attr="append" | "extend"),
                    args=[value],
                )
            ) if said == name:
                found += parts_of(value)
            case _:
                pass
    return found if begun == 1 else []


def parts_of(value: ast.expr) -> list[ast.expr]:
    return value.elts if isinstance(value, ast.List | ast.Tuple) else [value]


def braces(
    flow: Flow, scope: Scope, text: str, args: list[ast.expr], keywords: list[ast.keyword]
) -> Template | None:
    try:
        pieces = list(string.Formatter().parse(text))
    except ValueError:
        return None
    given = {k.arg: k.value for k in keywords if k.arg}
    spread = [k.value for k in keywords if k.arg is None]
    parts: Template = []
    place = 0
    for literal, name, _, conversion in pieces:
        parts.append(literal)
        if name is None:
            continue
        stem = re.split(r"[.\[]", name)[0]
        if stem.isdigit() or stem == "":
            index = int(stem) if stem else place
            place += not stem
            value = args[index] if index < len(args) else None
        else:
            value = given.get(stem) or (spread[0] if spread else None)
        if value is None:
            parts.append(Hole(reply=False, name=stem))
        else:
            parts += filled(flow, scope, value, 0, escaped=conversion == "r")
    return joined(parts)


def named(flow: Flow, scope: Scope, text: str, keywords: list[ast.keyword], sign: str) -> Template:
    given = {k.arg: k.value for k in keywords if k.arg}
    parts: Template = []
    end = 0
    for found in re.finditer(sign, text):
        parts.append(text[end : found.start()])
        value = given.get(found.group(1))
        parts += (
            [Hole(False, name=found.group(1))] if value is None else filled(flow, scope, value, 0)
        )
        end = found.end()
    return joined([*parts, text[end:]])


def percent(flow: Flow, scope: Scope, text: str, right: ast.expr) -> Template:
    values = right.elts if isinstance(right, ast.Tuple) else [right]
    pieces = re.split(r"%(?:\(\w+\))?[-+ #0]*\d*[sdrf]", text)
    parts: Template = []
    for place, piece in enumerate(pieces):
        parts.append(piece)
        if place < len(pieces) - 1:
            value = values[place] if place < len(values) else values[-1]
            parts += filled(flow, scope, value, 0)
    return joined(parts)


def joined(parts: Template) -> Template:
    """Neighbouring texts as one."""
    result: Template = []
    for part in parts:
        if isinstance(part, str) and result and isinstance(result[-1], str):
            result[-1] += part
        elif part != "":
            result.append(part)
    return result

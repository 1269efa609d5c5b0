"""EW501: the model's text is executed with the grader's rights."""

import ast
import re
from collections.abc import Iterator

from envwright.finding import Severity
from envwright.probe.code import Module
from envwright.probe.found import Hit
from envwright.probe.rule import Check, Rule
from envwright.probe.source.flow import REPLY, TRACE, Flow, Scope
from envwright.probe.source.scoring import own_nodes

RUNS = Rule(
    id="EW501",
    name="runs-the-reply",
    defect="runs-the-reply",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="The reply's text is followed through the functions that score.",
    hit="It reaches eval, exec, a shell, an interpreter, pickle or an unsafe YAML loader.",
    why="The model can pay itself, read the gold or harm the machine.",
    exempt="ast.literal_eval, json.loads, parsers of one's own, code that runs in the task's "
    "runtime or in a sandbox, and text that is checked to hold no letter.",
)
EVALS = {"builtins.eval", "builtins.exec", "runpy.run_path", "code.InteractiveInterpreter"}
LOADERS = {
    *("pickle.loads", "pickle.load", "dill.loads", "cloudpickle.loads", "marshal.loads"),
    *("yaml.unsafe_load", "yaml.unsafe_load_all", "jsonpickle.decode", "joblib.load"),
    *("builtins.__import__", "importlib.import_module"),
}
SHELLS = {
    *("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"),
    *("asyncio.create_subprocess_shell", "commands.getoutput", "pty.spawn"),
}
PROCESSES = {
    *(f"subprocess.{n}" for n in ("run", "Popen", "call", "check_call", "check_output")),
    *("asyncio.create_subprocess_exec", "os.execv", "os.execvp", "os.spawnv"),
}
INTERPRETERS = re.compile(
    r"\b(python[0-9.]*|pypy3?|bash|sh|zsh|node|deno|ruby|perl|php|Rscript|lua|go|gcc|g\+\+|cargo"
    r"|java|javac|sqlite3|pytest|unittest)\b|executable"
)
SANDBOXES = re.compile(
    r"\b(docker|podman|bwrap|bubblewrap|firejail|nsjail|runsc|apptainer|unshare)\b"
)
DOUBTFUL = {
    *("sympy.sympify", "sympy.parsing.sympy_parser.parse_expr", "sympy.parse_expr"),
    *("pandas.eval", "numexpr.evaluate"),
}


def run_hits(flow: Flow) -> Iterator[Hit]:
    seen: set[int] = set()
    for scope in list(flow.scopes.values()):
        module = scope.method.module
        for node in own_nodes(scope.method):
            if not isinstance(node, ast.Call) or id(node) in seen:
                continue
            found = executes(flow, scope, node)
            if found is None:
                continue
            seen.add(id(node))
            what, severity = found
            if severity is None and is_checked(flow, scope):
                severity = Severity.INFO
            yield Hit(
                f"{scope.method.name} hands text of the reply to {what}",
                [module.cite(node)],
                severity,
            )


def executes(flow: Flow, scope: Scope, node: ast.Call) -> tuple[str, Severity | None] | None:
    """What runs it, and how bad that is when it is not as bad as the rule."""
    module = scope.method.module
    name = module.dotted(node.func) or ""
    first = node.args[0] if node.args else None

    def said(part: ast.AST | None) -> bool:
        return part is not None and bool(flow.labels(scope, part) & {REPLY, TRACE})

    if name in EVALS | LOADERS | SHELLS:
        return (last_of(name), None) if any(map(said, node.args)) else None
    if name in ("yaml.load", "yaml.load_all"):
        return ("yaml.load", None) if said(first) and not loads_safely(node) else None
    if name in DOUBTFUL:
        return (last_of(name), Severity.INFO) if said(first) else None
    if name in PROCESSES and runs_it(flow, scope, node):
        return f"{last_of(name)}()", None
    match node.func:
        case ast.Attribute(attr="run_in_executor" | "to_thread" | "submit" | "apply", value=_):
            handed = [module.dotted(a) for a in node.args]
            if any(h in EVALS | SHELLS for h in handed) and any(map(said, node.args)):
                return "eval or exec in a thread", None
        case ast.Attribute(attr="runsource" | "runcode" | "run_cell") if said(first):
            return "an interpreter", None
        case _:
            pass
    return None


def runs_it(flow: Flow, scope: Scope, node: ast.Call) -> bool:
    """Whether a process executes the reply, and does not only read it."""
    module = scope.method.module
    command = node.args[0] if node.args else None
    parts = [*node.args, *(k.value for k in node.keywords if k.arg in ("input", "args", "stdin"))]
    if command is None or not any(flow.labels(scope, p) & {REPLY, TRACE} for p in parts):
        return False
    words = " ".join(words_of(flow, scope, command, module))
    if SANDBOXES.search(words):
        return False
    shell = any(k.arg == "shell" and not is_false(k.value) for k in node.keywords)
    if shell:
        return bool(flow.labels(scope, command) & {REPLY, TRACE})
    if isinstance(command, ast.List | ast.Tuple) and command.elts:
        program = command.elts[0]
        if flow.labels(scope, program) & {REPLY, TRACE}:
            return True
    return bool(INTERPRETERS.search(words))


def words_of(flow: Flow, scope: Scope, node: ast.AST, module: Module) -> Iterator[str]:
    """What a command line is written of; a name stands for what it was given."""
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value
        elif isinstance(each, ast.Attribute):
            yield each.attr
        elif isinstance(each, ast.Name):
            text = flow.code.text_of(module, each)
            if text is not None:
                yield text
            for other in own_nodes(scope.method):
                match other:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == each.id:
                        yield from (
                            str(c.value) for c in ast.walk(value) if isinstance(c, ast.Constant)
                        )
                        yield from (a.attr for a in ast.walk(value) if isinstance(a, ast.Attribute))
                    case _:
                        pass


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def loads_safely(node: ast.Call) -> bool:
    handed = [*node.args[1:], *(k.value for k in node.keywords)]
    return any("Safe" in ast.dump(each) or "BaseLoader" in ast.dump(each) for each in handed)


def is_checked(flow: Flow, scope: Scope) -> bool:
    """Whether the function compares the text with signs among which there is no letter."""
    module = scope.method.module
    for node in own_nodes(scope.method):
        match node:
            case ast.Call(func=ast.Attribute(attr="fullmatch"), args=[pattern, *_]):
                texts = [flow.code.text_of(module, pattern), compiled(flow, module, node)]
            case ast.Call(func=ast.Name(id="set") | ast.Attribute(attr="issubset"), args=[signs]):
                texts = [flow.code.text_of(module, signs)]
            case ast.Call(func=ast.Attribute(value=signs, attr="issuperset")):
                texts = [flow.code.text_of(module, signs)]
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[signs]):
                texts = [flow.code.text_of(module, signs)]
            case _:
                continue
        if any(text and holds_no_letter(text) for text in texts):
            return True
    return False


def compiled(flow: Flow, module: Module, node: ast.Call) -> str | None:
    """The pattern behind `PATTERN.fullmatch`."""
    if not isinstance(node.func, ast.Attribute) or not isinstance(node.func.value, ast.Name):
        return None
    made = module.constants.get(node.func.value.id)
    if isinstance(made, ast.Call) and made.args:
        return flow.code.text_of(module, made.args[0])
    return None


def holds_no_letter(text: str) -> bool:
    bare = re.sub(r"\\[dsDS]|\(\?:", "", text)
    signs = bare.replace("\\.", "").replace(".", "", 1)
    digits = re.search(r"\d|\\d", text)
    return digits is not None and len(text) >= 6 and not re.search(r"[A-Za-z_.]", signs)


def last_of(name: str) -> str:
    return name.removeprefix("builtins.")

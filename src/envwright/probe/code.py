"""`Code`: an environment's own modules, parsed. Read as data: nothing of it is run.

Names are followed through imports and through the package's functions; what is reached by
other ways (attributes of objects, names made at run time) is not.
"""

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from envwright.finding import SourceCitation

LONGEST_QUOTE = 200
DEEPEST = 150
"""Levels: the readers of a tree go down it by calling themselves."""
Function = ast.FunctionDef | ast.AsyncFunctionDef
NO_CODE = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True)
class Module:
    path: str
    """From the environment's folder."""
    name: str
    """As it is imported."""
    text: str
    tree: ast.Module

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def imports(self) -> dict[str, str]:
        """What each imported name stands for, in dots."""
        names: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    top = alias.name.partition(".")[0]
                    names[alias.asname or top] = alias.name if alias.asname else top
            elif isinstance(node, ast.ImportFrom):
                origin = self.origin_of(node)
                names.update({a.asname or a.name: f"{origin}.{a.name}" for a in node.names})
        return names

    def origin_of(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        kept = parts[: len(parts) - node.level + self.path.endswith("__init__.py")]
        return ".".join([*kept, *([node.module] if node.module else [])])

    @cached_property
    def functions(self) -> dict[str, Function]:
        """By bare name, nested ones and methods too; of namesakes the last."""
        return {node.name: node for node in self.nodes if isinstance(node, Function)}

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        return {node.name: node for node in self.nodes if isinstance(node, ast.ClassDef)}

    @cached_property
    def constants(self) -> dict[str, ast.expr]:
        """What the module's own statements assign to plain names, once."""
        found: dict[str, list[ast.expr]] = {}
        for node in self.tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    found.setdefault(name, []).append(value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    found.setdefault(name, []).append(value)
                case _:
                    pass
        return {name: values[0] for name, values in found.items() if len(values) == 1}

    def cite(self, node: ast.AST) -> SourceCitation:
        line: int = getattr(node, "lineno", 1)
        quote = self.lines[line - 1].strip() if line <= len(self.lines) else ""
        return SourceCitation(path=self.path, line=line, quote=quote[:LONGEST_QUOTE])

    def dotted(self, node: ast.AST) -> str | None:
        """The full name that an expression spells: `sp.run` is `subprocess.run`."""
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return None if base is None else f"{base}.{node.attr}"
        if not isinstance(node, ast.Name):
            return None
        if node.id in self.imports:
            return self.imports[node.id]
        if node.id in self.functions or node.id in self.classes:
            return f"{self.name}.{node.id}"
        return f"builtins.{node.id}" if hasattr(builtins, node.id) else None


@dataclass(frozen=True, slots=True)
class Method:
    """A function of the package, and where it stands."""

    module: Module
    node: Function
    owner: ast.ClassDef | None = None

    @property
    def name(self) -> str:
        return f"{self.owner.name}.{self.node.name}" if self.owner else self.node.name

    @property
    def parameters(self) -> list[str]:
        args = self.node.args
        return [a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]]


@dataclass(frozen=True)
class Code:
    modules: tuple[Module, ...]
    unparsed: tuple[str, ...] = ()
    """Files that are no Python, or none that anybody wrote."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Other texts of the package, by path: prompts may lie there."""

    @cached_property
    def methods(self) -> list[Method]:
        return [m for module in self.modules for m in methods_of(module)]

    @cached_property
    def by_node(self) -> dict[int, Method]:
        return {id(method.node): method for method in self.methods}

    def function(self, dotted: str | None) -> Method | None:
        """A function of the package by its full name; imports through `__init__` are followed."""
        for _ in range(4):
            if dotted is None:
                return None
            home, _, name = dotted.rpartition(".")
            for module in self.modules:
                if module.name == home and name in module.functions:
                    return self.by_node[id(module.functions[name])]
            dotted = next((m.imports.get(name) for m in self.modules if m.name == home), None)
        return None

    def classes_named(self, name: str) -> list[tuple[Module, ast.ClassDef]]:
        return [(m, m.classes[name]) for m in self.modules if name in m.classes]

    def bases(self, module: Module, node: ast.ClassDef) -> Iterator[str]:
        """The full names of its bases, those of its bases in the package too."""
        waiting, seen = [(module, node)], {node.name}
        while waiting:
            home, each = waiting.pop()
            for base in each.bases:
                stem = base.value if isinstance(base, ast.Subscript) else base
                name = home.dotted(stem)
                if name is None:
                    continue
                yield name
                last = name.rpartition(".")[2]
                if last not in seen:
                    seen.add(last)
                    waiting += self.classes_named(last)

    def is_a(self, method: Method, suffix: str) -> bool:
        """Whether its class, or a base of it, is named so."""
        owner = method.owner
        if owner is None:
            return False
        return any(name.endswith(suffix) for name in self.bases(method.module, owner))

    def method(self, caller: Method, name: str) -> Method | None:
        """`self.name` as `caller` sees it: of its class, then the only one of that name."""
        own = [m for m in self.methods if m.owner and m.node.name == name]
        same = [m for m in own if m.owner is caller.owner]
        return same[-1] if same else own[0] if len(own) == 1 else None

    def called(self, caller: Method, call: ast.Call) -> Method | None:
        """The package's function that a call runs, as far as its name says so."""
        match call.func:
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                return self.method(caller, name)
            case _:
                return self.named(caller.module, call.func)

    def named(self, module: Module, node: ast.AST) -> Method | None:
        if isinstance(node, ast.Name) and node.id in module.functions:
            return self.by_node[id(module.functions[node.id])]
        return self.function(module.dotted(node))

    def constant(self, module: Module, node: ast.Name) -> ast.expr | None:
        """What a module assigns to a name, its own or one that it imports; None if unknown."""
        if node.id in module.constants:
            return module.constants[node.id]
        home, _, last = module.imports.get(node.id, "").rpartition(".")
        found = (m.constants[last] for m in self.modules if m.name == home and last in m.constants)
        return next(found, None)

    def text_of(self, module: Module, node: ast.AST) -> str | None:
        """A text that is written down: a literal, a constant, or a file of the package."""
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id=name) if name in module.constants:
                return self.text_of(module, module.constants[name])
            case ast.Name(id=name) if name in module.imports:
                home, _, last = module.imports[name].rpartition(".")
                for other in self.modules:
                    if other.name == home and last in other.constants:
                        return self.text_of(other, other.constants[last])
                return None
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                parts = (self.text_of(module, left), self.text_of(module, right))
                return None if None in parts else "".join(p for p in parts if p)
            case ast.Call(func=ast.Attribute(value=value, attr="strip" | "lstrip" | "rstrip")):
                return self.text_of(module, value)
            case ast.Call(func=ast.Attribute(value=value, attr="dedent"), args=[text]):
                return self.text_of(module, text)
            case ast.Call(func=ast.Attribute(attr="read_text")) as call:
                return self.file_named(call)
            case _:
                return None

    def file_named(self, node: ast.AST) -> str | None:
        names = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
        ends = [str(name) for name in names if isinstance(name, str) and "." in name]
        found = [text for path, text in self.files.items() if ends and path.endswith(ends[-1])]
        return found[0] if len(found) == 1 else None


def methods_of(module: Module) -> Iterator[Method]:
    def visit(node: ast.AST, owner: ast.ClassDef | None) -> Iterator[Method]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                yield Method(module, child, owner)
                yield from visit(child, None)
            else:
                yield from visit(child, child if isinstance(child, ast.ClassDef) else owner)

    return visit(module.tree, None)


def read_code(files: Mapping[str, str], import_path: str = "") -> Code:
    """The package's modules out of its files, by path; `import_path` is "" or "src"."""
    modules: list[Module] = []
    unparsed: list[str] = []
    for path, text in sorted(files.items()):
        if not path.endswith(".py"):
            continue
        inside = path.removeprefix(f"{import_path}/") if import_path else path
        name = inside.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        try:
            tree = ast.parse(text)
        except NO_CODE:
            unparsed.append(path)
            continue
        if is_too_deep(tree):
            unparsed.append(path)
        else:
            modules.append(Module(path, name, text, tree))
    others = {path: text for path, text in files.items() if not path.endswith(".py")}
    return Code(tuple(modules), tuple(unparsed), others)


def is_too_deep(tree: ast.AST) -> bool:
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True

"""What an environment says of itself in words: its README and the docstrings of its code.

Foreign text, read as text: nothing of it is imported or run.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

MOST_FILES = 200
MOST_BYTES = 1_000_000


def documents_of(folder: Path) -> str:
    readmes = [p for p in sorted(folder.iterdir()) if p.name.lower().startswith("readme")]
    sources = [p for p in sorted(folder.rglob("*.py")) if not hidden(p.relative_to(folder))]
    texts = [text_of(path) for path in readmes]
    return "\n\n".join([*texts, *(doc for path in sources[:MOST_FILES] for doc in docs_in(path))])


def hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "node_modules" for part in path.parts)


def text_of(path: Path) -> str:
    """Empty where it is no ordinary file of a bearable size."""
    if not path.is_file() or path.is_symlink() or path.stat().st_size > MOST_BYTES:
        return ""
    return path.read_text(encoding="utf-8", errors="replace")


def docs_in(path: Path) -> Iterator[str]:
    """Docstrings, each function's beneath its name."""
    try:
        tree = ast.parse(text_of(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            doc = ast.get_docstring(node)
            if doc:
                name = "" if isinstance(node, ast.Module) else f"{node.name}: "
                yield f"{name}{doc}"

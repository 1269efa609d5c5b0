"""`Source`: where a revision comes from, and the exact content that it is.

`resolve` reads a folder as data: nothing of it is imported or run. `snapshot` copies
it aside, so that an edit during a sweep changes no trial. Files that may hold keys
(`.env*`), links that lead out of the folder, caches and version control are no part
of a revision.
"""

import ast
import hashlib
import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envwright.errors import UsageError
from envwright.record import Digest, Json, Record, digest, items, mapping

LEFT_OUT = {
    *(".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"),
    *(".pytest_cache", ".ruff_cache", ".mypy_cache", ".tox"),
}
LEFT_OUT_AT_THE_TOP = {"venv", "dist", "build", "outputs"}
HUB_ID = re.compile(r"^[A-Za-z0-9][\w-]*/[A-Za-z0-9][\w.-]*(@[\w.+-]+)?$")


class Source(Record):
    name: str
    module: str
    """The top module that is imported."""
    folder: Path
    import_path: Path
    """What goes on the path: the folder itself, or its `src`."""
    revision: Digest
    dependencies: tuple[str, ...]
    requires_python: str | None = None
    has_load_environment: bool = False
    """Its top module has a `load_environment`: it was written for verifiers 0.1."""
    built: bool = False
    """An agent of ours wrote this revision: it is given no secrets."""


def resolve(text: str) -> Source:
    """The environment that `text` names; `UsageError` when it names none."""
    path = Path(text).expanduser()
    if path.is_dir():
        return read_folder(path.resolve())
    if path.exists():
        raise UsageError(f"environment {text!r} is a file", hint="name the folder that holds it")
    if HUB_ID.match(text) and not text.startswith("."):
        raise UsageError(
            f"environment {text!r}: there is no such folder, and Hub ids are not served yet",
            hint="fetch the package and name its folder",
        )
    if re.match(r"^[\w-]+(@[\w.+-]+)?$", text):
        raise UsageError(
            f"environment {text!r}: there is no such folder, and a bare name is ambiguous",
            hint=f"write ./{text} for a folder, or OWNER/{text}@VERSION for a Hub id",
        )
    raise UsageError(f"environment {text!r}: no such folder", hint="check the path")


def read_folder(folder: Path) -> Source:
    project = read_project(folder)
    name = project.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError(f"{folder}/pyproject.toml: [project] has no name", hint="give it one")
    declared = project.get("dependencies", [])
    if not isinstance(declared, list) or not all(isinstance(e, str) for e in items(declared)):
        raise UsageError(
            f"{folder}/pyproject.toml: dependencies is no list of strings",
            hint='write dependencies = ["verifiers"]',
        )
    dependencies = tuple(read_requirement(folder, str(each)) for each in items(declared))
    if "verifiers" not in {requirement_name(each) for each in dependencies}:
        raise UsageError(
            f"{folder} is no environment: its pyproject.toml does not depend on verifiers",
            hint='add "verifiers" to [project] dependencies',
        )
    requires_python = project.get("requires-python")
    if not isinstance(requires_python, str | None):
        raise UsageError(
            f"{folder}/pyproject.toml: requires-python is no text",
            hint='write requires-python = ">=3.11"',
        )
    module = re.sub(r"[-.]+", "_", name).lower()
    top = find_top_module(folder, module)
    return Source(
        name=name,
        module=module,
        folder=folder,
        import_path=top.parent.parent if top.name == "__init__.py" else top.parent,
        revision=digest_of_folder(folder),
        dependencies=dependencies,
        requires_python=requires_python,
        has_load_environment="load_environment" in names_of(top),
    )


def read_project(folder: Path) -> Json:
    file = folder / "pyproject.toml"
    if not file.is_file():
        raise UsageError(
            f"{folder} is no environment: it has no pyproject.toml",
            hint="name the folder of a verifiers package",
        )
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {error}", hint="mend the file") from error
    if not (project := mapping(read.get("project"))):
        raise UsageError(f"{file} has no [project] table", hint="name the folder of a package")
    return project


def read_requirement(folder: Path, text: str) -> str:
    """A dependency as the standard spells it: whatever else the text holds would be an option."""
    try:
        return str(Requirement(text))
    except InvalidRequirement as error:
        raise UsageError(
            f"{folder}/pyproject.toml: dependency {text!r} is no requirement",
            hint='write it as "name>=1.0"',
        ) from error


def requirement_name(requirement: str) -> str:
    return canonicalize_name(Requirement(requirement).name)


def find_top_module(folder: Path, module: str) -> Path:
    for base in (folder, folder / "src"):
        for file in (base / module / "__init__.py", base / f"{module}.py"):
            if file.is_file():
                return file
    raise UsageError(
        f"{folder} is no environment: there is no package {module}/ in it",
        hint="the package is named after the project, with _ for -",
    )


def names_of(module: Path) -> set[str]:
    """The names that a module's own statements define or import; none when it does not parse."""
    try:
        statements = ast.parse(module.read_bytes()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Loading it will say what is wrong, and where.
        return set()
    names: set[str] = set()
    for statement in statements:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.Import(names=imported) | ast.ImportFrom(names=imported):
                names.update(alias.asname or alias.name for alias in imported)
            case ast.Assign(targets=targets):
                names.update(target.id for target in targets if isinstance(target, ast.Name))
            case _:
                pass
    return names


def files_of(folder: Path) -> Iterator[Path]:
    """Every file and link of a revision, in one order."""
    for parent, folders, files in os.walk(folder):
        left_out = LEFT_OUT | LEFT_OUT_AT_THE_TOP if parent == str(folder) else LEFT_OUT
        folders[:] = sorted(
            f
            for f in folders
            if f not in left_out and not f.endswith(".egg-info") and not may_hold_keys(f)
        )
        for name in sorted([*files, *(f for f in folders if (Path(parent) / f).is_symlink())]):
            path = Path(parent) / name
            if name.endswith(".pyc") or may_hold_keys(name):
                continue
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(folder):
                raise UsageError(
                    f"{path} links to {path.readlink()}, out of the environment's folder",
                    hint="copy the file into the folder",
                )
            if path.is_symlink() or path.is_file():
                yield path


def may_hold_keys(name: str) -> bool:
    """`.env`, `.envrc`, `.env.local`, `.env.d/` and the like."""
    return name.startswith(".env")


def target_of(link: Path) -> str:
    """Where a link leads in the end, from where it lies."""
    return os.path.relpath(os.path.realpath(link), link.parent)


def digest_of_folder(folder: Path) -> str:
    listing: list[list[str | bool]] = []
    for path in files_of(folder):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            listing.append([name, "link", target_of(path)])
            continue
        try:
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise UsageError(
                f"{path} cannot be read: {error.strerror}", hint="it is part of the environment"
            ) from error
        listing.append([name, os.access(path, os.X_OK), content])
    return digest(listing)


def snapshot(source: Source, revisions: Path) -> Source:
    """The source as a read-only copy under `revisions`, named by its digest."""
    kept = revisions / source.revision
    if not kept.is_dir():
        revisions.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".new-", dir=revisions))
        try:
            for path in files_of(source.folder):
                target = scratch / path.relative_to(source.folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                if path.is_symlink():
                    target.symlink_to(target_of(path))
                else:
                    shutil.copy(path, target)
            scratch.chmod(0o755)
            if digest_of_folder(scratch) != source.revision:
                raise UsageError(
                    f"{source.folder} was changed while it was read", hint="run the command again"
                )
            try:
                scratch.rename(kept)
            except OSError:
                # Another process was first; the name is the content, so its copy is ours.
                if not kept.is_dir():
                    raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    inside = source.import_path.relative_to(source.folder)
    return source.model_copy(update={"folder": kept, "import_path": kept / inside})

"""`Source`: where a revision comes from, and the exact content that it is.

A folder is read as data: nothing of it is imported or run. `snapshot` copies it aside,
so that an edit during a sweep changes no trial. Files that may hold keys (`.env*`),
links that lead out of the folder, caches and version control are no part of a revision.
"""

import ast
import hashlib
import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from pydantic import Field

from envwright.errors import UsageError
from envwright.record import Digest, Json, Record, digest, items, mapping

LEFT_OUT = {
    *(".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"),
    *(".pytest_cache", ".ruff_cache", ".mypy_cache", ".tox"),
}
LEFT_OUT_AT_THE_TOP = {"venv", "dist", "build", "outputs"}


class Source(Record):
    name: str
    module: str
    """The top module that is imported."""
    folder: Path
    import_path: Path
    """What goes on the path: the folder itself, or its `src`."""
    files: tuple[str, ...] | None = None
    """Those of the folder that are its own; None for all of them."""
    manifest: str = "pyproject.toml"
    """The file of the folder that declares what follows."""
    revision: Digest
    dependencies: tuple[str, ...]
    requires_python: str | None = None
    has_load_environment: bool = False
    """Its top module has a `load_environment`: it was written for verifiers 0.1."""
    index: str | None = Field(default=None, repr=False)
    """Where its dependencies are looked for before the ordinary index."""
    owner: str | None = None
    """Of a Hub's package."""
    built: bool = False
    """An agent of ours wrote this revision: it is given no secrets."""

    @property
    def title(self) -> str:
        """What its table in the settings is called: a Hub's namesake is another environment."""
        return f"{self.owner}/{self.name}" if self.owner else self.name


class Project(Record):
    """What a package declares of itself, and where."""

    name: str
    dependencies: tuple[str, ...]
    requires_python: str | None
    manifest: Path


def read_folder(folder: Path) -> Source:
    return source_of(read_pyproject(folder), folder)


def source_of(project: Project, folder: Path, files: tuple[str, ...] | None = None) -> Source:
    """The environment that a project in this folder is; `UsageError` when it is none."""
    if "verifiers" not in {requirement_name(each) for each in project.dependencies}:
        where = project.manifest.relative_to(folder)
        raise UsageError(
            f"{folder} is no environment: its {where} does not depend on verifiers",
            hint='add "verifiers" to the dependencies of the package',
        )
    module = module_of(project.name)
    top = find_top_module(folder, module, files)
    return Source(
        name=project.name,
        module=module,
        folder=folder,
        import_path=top.parent.parent if top.name == "__init__.py" else top.parent,
        files=files,
        manifest=project.manifest.relative_to(folder).as_posix(),
        revision=digest_of_folder(folder, files),
        dependencies=project.dependencies,
        requires_python=project.requires_python,
        has_load_environment="load_environment" in names_of(top),
    )


def read_pyproject(folder: Path) -> Project:
    manifest = folder / "pyproject.toml"
    table = read_project_table(folder, manifest)
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError(f"{manifest}: [project] has no name", hint="give it one")
    declared = table.get("dependencies", [])
    if not isinstance(declared, list) or not all(isinstance(e, str) for e in items(declared)):
        raise UsageError(
            f"{manifest}: dependencies is no list of strings",
            hint='write dependencies = ["verifiers"]',
        )
    requires_python = table.get("requires-python")
    if not isinstance(requires_python, str | None):
        raise UsageError(
            f"{manifest}: requires-python is no text", hint='write requires-python = ">=3.11"'
        )
    return Project(
        name=name,
        dependencies=tuple(str(read_requirement(manifest, str(each))) for each in items(declared)),
        requires_python=requires_python,
        manifest=manifest,
    )


def read_project_table(folder: Path, file: Path) -> Json:
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


def read_requirement(manifest: Path, text: str) -> Requirement:
    """A dependency as the standard spells it: whatever else the text holds would be an option."""
    try:
        return Requirement(text)
    except InvalidRequirement as error:
        raise UsageError(
            f"{manifest}: dependency {text!r} is no requirement",
            hint='write it as "name>=1.0"',
        ) from error


def requirement_name(requirement: str) -> str:
    return canonicalize_name(Requirement(requirement).name)


def module_of(name: str) -> str:
    """The module that a project of this name is imported as."""
    return re.sub(r"[-.]+", "_", name).lower()


def find_top_module(folder: Path, module: str, files: tuple[str, ...] | None) -> Path:
    for base in (folder, folder / "src"):
        for file in (base / module / "__init__.py", base / f"{module}.py"):
            own = files is None or file.relative_to(folder).as_posix() in files
            if own and file.is_file():
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


def files_of(folder: Path, files: tuple[str, ...] | None = None) -> Iterator[Path]:
    """Every file and link of a revision, in one order."""
    named = sorted(map(PurePath, files or ()), key=as_walked)
    found = walk(folder) if files is None else (folder / name for name in named)
    for path in found:
        real = Path(os.path.realpath(path)) if files or path.is_symlink() else path
        if not real.is_relative_to(folder):
            raise UsageError(
                f"{path} links to {real}, out of the environment's folder",
                hint="copy the file into the folder",
            )
        hidden = files is not None and not belongs(real.relative_to(folder))
        if (path.is_symlink() or path.is_file()) and not hidden:
            yield path


def walk(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        inside = Path(parent).relative_to(folder)
        folders[:] = sorted(f for f in folders if is_entered(inside / f))
        for name in sorted([*files, *(f for f in folders if (Path(parent) / f).is_symlink())]):
            if not name.endswith(".pyc") and not may_hold_keys(name):
                yield Path(parent) / name


def as_walked(file: PurePath) -> list[tuple[bool, str]]:
    """Sorts names as `walk` yields them: a folder's files come before its folders."""
    *folders, name = file.parts
    return [*((True, folder) for folder in folders), (False, name)]


def belongs(file: PurePath) -> bool:
    """Whether a file of this name, from its folder, is part of a revision."""
    *folders, _ = file.parents
    outer = all(is_entered(folder) for folder in folders)
    return outer and file.suffix != ".pyc" and not may_hold_keys(file.name)


def is_entered(folder: PurePath) -> bool:
    name, at_the_top = folder.name, len(folder.parts) == 1
    left_out = name in LEFT_OUT or (at_the_top and name in LEFT_OUT_AT_THE_TOP)
    return not (left_out or name.endswith(".egg-info") or may_hold_keys(name))


def may_hold_keys(name: str) -> bool:
    """`.env`, `.envrc`, `.env.local`, `.env.d/` and the like."""
    return name.startswith(".env")


def target_of(link: Path) -> str:
    """Where a link leads in the end, from where it lies."""
    return os.path.relpath(os.path.realpath(link), link.parent)


def digest_of_folder(folder: Path, files: tuple[str, ...] | None = None) -> str:
    listing: list[list[str | bool]] = []
    for path in files_of(folder, files):
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
            for path in files_of(source.folder, source.files):
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
            put_in_place(scratch, kept)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    inside = source.import_path.relative_to(source.folder)
    return source.model_copy(update={"folder": kept, "import_path": kept / inside, "files": None})


def put_in_place(scratch: Path, kept: Path) -> None:
    try:
        scratch.rename(kept)
    except OSError:
        # Another process was first; the name is the content, so its copy is ours.
        if not kept.is_dir():
            raise

"""Which verifiers an environment gets, and so which kind it is.

The kind follows from the version in the environment's own venv. An environment that
leaves the version open gets the one that it was written for.
"""

from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from envwright.environment import Kind, Source
from envwright.errors import UsageError

LAST_V0 = Version("0.1.14")
"""The last release of 0.1; what comes behind it in a registry are development versions."""
OLDEST_V0, OLDEST_V1 = Version("0.1.11"), Version("0.4")
MIXED = Version("0.2")
"""From here on a release has the old interface and early tasksets, which are not served."""
SERVED = "verifiers 0.1.11 to 0.3 with a load_environment(), and 0.4 and later"


def requirements_of(source: Source) -> tuple[tuple[str, ...], str | None]:
    """What to install, and a word on what was added to what the environment declares.

    One version is named, for with a range uv takes an ancient or unreleased one that needs
    no building.
    """
    if not source.has_load_environment or not any(map(leaves_open, source.dependencies)):
        return source.dependencies, None
    taken = f"verifiers=={LAST_V0}"
    return (
        (*source.dependencies, taken),
        f"{source.name} has a load_environment and leaves the version of verifiers open: "
        f"taking {taken}, the last that calls it",
    )


def leaves_open(dependency: str) -> bool:
    """Whether it asks for verifiers in a way that the last 0.1 meets, and others too."""
    try:
        wanted = Requirement(dependency)
    except InvalidRequirement:
        return False
    if canonicalize_name(wanted.name) != "verifiers" or wanted.url is not None:
        return False
    pinned = any(each.operator in ("==", "===") for each in wanted.specifier)
    return not pinned and wanted.specifier.contains(LAST_V0)


def kind_of(source: Source, venv: Path) -> Kind:
    """The kind that the venv's verifiers serves; `UsageError` when it is one between."""
    version = installed(venv)
    if version is None:
        raise UsageError(
            f"environment {source.name}: its venv has no verifiers",
            hint=f"a marker may exclude it here: see {source.folder / source.manifest}",
        )
    if OLDEST_V0 <= version < OLDEST_V1 and (version < MIXED or source.has_load_environment):
        return Kind.VERIFIERS_V0
    if version >= OLDEST_V1:
        return Kind.VERIFIERS
    raise UsageError(
        f"environment {source.name} resolves to verifiers {version}, which is not served",
        hint=f"served are {SERVED}: change the pin in its {source.manifest}",
    )


def installed(venv: Path) -> Version | None:
    found = venv.glob("lib/python3*/site-packages/verifiers-*.dist-info")
    names = [path.name.removesuffix(".dist-info").removeprefix("verifiers-") for path in found]
    return Version(names[0]) if names else None

"""EW1: the package and its loading. Read from its files and from what loading it showed."""

from collections.abc import Collection, Sequence

from envwright.environment.egress import NO_EGRESS, Egress
from envwright.probe.found import Place
from envwright.probe.package.dependencies import UNDECLARED, UNUSED, dependency_reports
from envwright.probe.package.load import (
    LOADS,
    NO_TASKS,
    SCHEMA,
    UNSTEADY,
    failure_report,
    load_reports,
)
from envwright.probe.package.metadata import BUILD, METADATA, metadata_reports
from envwright.probe.package.network import NETWORK, network_reports
from envwright.probe.package.package import (
    Installed,
    Package,
    read_installed_modules,
    read_package,
)
from envwright.probe.package.variables import VARIABLE, variable_reports
from envwright.probe.rule import Extent, Report

FILE_RULES = (METADATA, BUILD, UNDECLARED, UNUSED, NETWORK, VARIABLE)
"""Of `package_reports`."""
RULES = (
    *FILE_RULES,
    *(LOADS, NO_TASKS, UNSTEADY, SCHEMA),
)


def package_reports(
    package: Package,
    place: Place,
    *,
    installed: Installed | None = None,
    egress: Egress = NO_EGRESS,
    prepare: Egress | None = None,
    secrets: Collection[str] = (),
) -> list[Report]:
    """What its files show; it need not load.

    Needs `read_package(source)`, its place, and, as far as they are
    there, `read_installed_modules(site)` of its venv and what the settings permit it.
    """
    unread = package.code.unparsed
    return [
        *metadata_reports(package, place),
        *(
            in_part(each, unread) if unread else each
            for each in (
                *dependency_reports(package, installed, place),
                *network_reports(package, place, egress, prepare),
                *variable_reports(package, place, secrets),
            )
        ),
    ]


def in_part(made: Report, unread: Sequence[str]) -> Report:
    """Modules that could not be read are not called clean."""
    return made.model_copy(
        update={
            "extent": made.extent if made.findings else Extent.UNFINISHED,
            "reason": f"cannot be read: {', '.join(unread)[:200]}",
        }
    )


__all__ = [
    "FILE_RULES",
    "RULES",
    "Installed",
    "Package",
    "failure_report",
    "load_reports",
    "package_reports",
    "read_installed_modules",
    "read_package",
]

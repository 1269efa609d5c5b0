"""Contribution tables: per cent of gross for the pension, and for social insurance up to a cap."""

import os
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Table:
    pension: Decimal
    social: Decimal
    cap: int
    overtime: Decimal


TABLES = {
    "2022": Table(Decimal("4.0"), Decimal("9.3"), 4200, Decimal("1.25")),
    "2023": Table(Decimal("4.5"), Decimal("9.1"), 4400, Decimal("1.25")),
    "2024": Table(Decimal("5.0"), Decimal("9.4"), 4600, Decimal("1.50")),
}


def current() -> tuple[str, Table]:
    """The table in force."""
    year = os.environ.get("PAYROLL_YEAR", "2023")
    if year not in TABLES:
        year = max(TABLES)
    return year, TABLES[year]

"""Clauses of notice: months, weeks, and months to the end of a month."""

from datetime import date

from dateutil.relativedelta import relativedelta

CLAUSES = {
    "The notice period is {n} months from the day of service; if the last month has no such day, it "
    "ends on that month's last day.": lambda day, n: day + relativedelta(months=n),
    "The notice period is {n} weeks from the day of service.": (
        lambda day, n: day + relativedelta(weeks=n)
    ),
    "The notice period is {n} months and runs to the end of the month in which it would otherwise "
    "end.": lambda day, n: day + relativedelta(months=n, day=31),
}


def last_day(clause: str, served: date, length: int) -> date:
    return CLAUSES[clause](served, length)

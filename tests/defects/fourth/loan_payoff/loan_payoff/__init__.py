"""Loans to be paid off month by month."""

from loan_payoff.taskset import LoanTaskset

__all__ = ["LoanTaskset"]

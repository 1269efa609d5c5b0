"""Payslips: from hours to net pay."""

from payslip_lines.payslips import Payslips

__all__ = ["Payslips"]

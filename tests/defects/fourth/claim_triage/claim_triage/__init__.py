"""Household claims, decided by the rules of a policy."""

from claim_triage.claims import ClaimTriage

__all__ = ["ClaimTriage"]

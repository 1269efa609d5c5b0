"""Injury notes to be coded for a claim."""

from injury_claims.taskset import ClaimTaskset

__all__ = ["ClaimTaskset"]

"""Claims about products, with a price on wrong answers."""

from product_claims.environment import load_environment

__all__ = ["load_environment"]

"""Questions about an archive of letters."""

from merchant_letters.archive import load_environment

__all__ = ["load_environment"]

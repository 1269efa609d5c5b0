"""The check digit of ISO 6346."""

import string

# A is 10, and the multiples of 11 are left out
VALUES = dict(zip(string.digits, range(10), strict=True))
VALUES |= dict(zip(string.ascii_uppercase, (n for n in range(10, 39) if n % 11), strict=True))


def check_digit(number: str) -> str:
    """For the first ten characters of a container's number."""
    total = sum(VALUES[char] << place for place, char in enumerate(number))
    return str(total % 11 % 10)

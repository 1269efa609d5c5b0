"""A small reader of polynomial expressions, evaluated modulo a prime. Nothing of a reply is run."""

import re

PRIME = 2**61 - 1
MAX_LENGTH, MAX_DEPTH, MAX_EXPONENT = 400, 20, 40
TOKEN = re.compile(r"\s*([0-9]{1,12}|x|\*\*|[-+*/^()])")


class Unreadable(ValueError):
    """The text is not an expression of the form that the question asks for."""


def tokens(text: str) -> list[str]:
    text = text.strip().replace("\u2212", "-").replace("\u00b7", "*")
    if len(text) > MAX_LENGTH:
        raise Unreadable("too long")
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise Unreadable(text[at : at + 10])
        found.append(match.group(1).replace("**", "^"))
        at = match.end()
    return found


class Evaluation:
    """One pass over the tokens, by recursive descent, for one value of x."""

    def __init__(self, found: list[str], x: int) -> None:
        self.found, self.at, self.depth, self.x = [*found, ""], 0, 0, x

    def take(self) -> str:
        self.at += 1
        return self.found[self.at - 1]

    @property
    def next(self) -> str:
        return self.found[self.at]

    def sum(self) -> int:
        sign = 1
        while self.next in ("+", "-") and self.next:
            sign = -sign if self.take() == "-" else sign
        value = sign * self.product()
        while self.next in ("+", "-"):
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value % PRIME

    def product(self) -> int:
        value = self.power()
        while True:
            if self.next == "*":
                self.take()
                value = value * self.power() % PRIME
            elif self.next == "/":
                self.take()
                divisor = self.power()
                if divisor % PRIME == 0:
                    raise Unreadable("division by zero")
                value = value * pow(divisor, -1, PRIME) % PRIME
            elif self.next == "(" or self.next == "x" or self.next.isdigit():
                value = value * self.power() % PRIME
            else:
                return value

    def power(self) -> int:
        if self.next == "-":
            self.take()
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise Unreadable("too deep")
            value = -self.power()
            self.depth -= 1
            return value
        base = self.atom()
        if self.next != "^":
            return base
        self.take()
        exponent = self.take()
        if not exponent.isdigit() or int(exponent) > MAX_EXPONENT or self.next == "^":
            raise Unreadable("exponent")
        return pow(base, int(exponent), PRIME)

    def atom(self) -> int:
        token = self.take()
        if token == "x":
            return self.x
        if token.isdigit():
            return int(token)
        if token != "(" or self.depth >= MAX_DEPTH:
            raise Unreadable(token)
        self.depth += 1
        value = self.sum()
        self.depth -= 1
        if self.take() != ")":
            raise Unreadable("bracket")
        return value


def evaluate(text: str, points: list[int]) -> list[int]:
    """The values of the expression at the points, modulo PRIME; Unreadable if it is none."""
    found = tokens(text)
    values = []
    for x in points:
        run = Evaluation(found, x)
        try:
            values.append(run.sum() % PRIME)
        except IndexError:
            raise Unreadable("ends early") from None
        if run.at != len(found):
            raise Unreadable("something after the expression")
    return values

"""Text made fit to show: what is not ours made harmless, a phrase made a sentence."""

import re

CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def clean(text: str) -> str:
    """The text with control characters spelled out; new lines and tabs stay."""
    return CONTROL.sub(
        lambda found: found.group().encode("unicode_escape", "surrogatepass").decode(), text
    )


def sentence(text: str) -> str:
    """On one line, with a capital and a full stop."""
    folded = " ".join(text.split())
    end = "" if folded.endswith((".", "!", "?")) or not folded else "."
    return f"{folded[:1].upper()}{folded[1:]}{end}"

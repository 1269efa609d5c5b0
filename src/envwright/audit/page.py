"""A scorecard as one page that needs nothing else: no script, no network, both colour schemes.

Every text on it may be an environment's, so that all of it is escaped, and control
characters are spelled out.
"""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from envwright.audit.checks import Rules
from envwright.audit.scorecard import Scorecard
from envwright.finding import Citation, ReplyCitation, SourceCitation, StepCitation, TaskCitation
from envwright.text import clean, sentence

TEMPLATE = "scorecard.html.j2"


@cache
def template() -> Template:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=harmless,
    )
    made.filters["where"] = where
    made.filters["sentence"] = sentence
    return made.get_template(TEMPLATE)


def harmless(value: object) -> object:
    """Markup is our own, and text is not."""
    return clean(value) if type(value) is str else value


def render_page(card: Scorecard, rules: Rules) -> str:
    return template().render(card=card, rules=rules, checks=card.checks)


def where(citation: Citation) -> str:
    """What a citation points at, in words."""
    match citation:
        case SourceCitation():
            return f"{citation.path}:{citation.line}"
        case TaskCitation():
            return f"task {citation.key[:12]}, {citation.field}"
        case ReplyCitation():
            gold = "" if citation.gold is None else f" (gold {citation.gold})"
            return f"task {citation.key[:12]}{gold}, {citation.signal} returned"
        case StepCitation():
            return f"trial {citation.trial[:12]}, {citation.seat}, step {citation.step}"

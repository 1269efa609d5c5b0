"""URL slugs."""

import random
import re

import verifiers.v1 as vf

RULES = (
    "Turn the headline into a URL slug: lower case, words joined by single hyphens, punctuation left "
    "out. The reply must be the slug exactly, in this form, with nothing before or after it: no "
    "quotes, no code fence, no full stop."
)
SUBJECTS = ["The Mayor", "A Young Painter", "Our Old Library", "Nobody", "The Night Train"]
VERBS = ["Returns", "Says: No", "Wins (Again)", "Is Late!", "Opens, Quietly"]
PLACES = ["in Oslo", "at the Sea", "after 20 Years", "on Sunday"]


def slug(title: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))


class SlugData(vf.TaskData):
    title: str
    expected: str


class SlugTask(vf.Task[SlugData]):
    @vf.reward(weight=1.0)
    async def exact(self, trace: vf.Trace) -> float:
        return float((trace.last_reply or "").strip() == self.data.expected)


class SlugConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class SlugTaskset(vf.Taskset[SlugTask, SlugConfig]):
    def load(self):
        titles = [f"{s} {v} {p}" for s in SUBJECTS for v in VERBS for p in PLACES]
        for title in random.Random(self.config.seed).sample(titles, self.config.num_tasks):
            data = SlugData(
                prompt=f"{RULES}\n\nHeadline: {title}", title=title, expected=slug(title)
            )
            yield SlugTask(data, self.config.task)


__all__ = ["SlugTaskset"]

"""Watched words in messages of a film club."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf

WATCHED = ("murderer", "twin", "dream", "poison", "imposter", "explosion", "wedding", "betrayal", "ghost", "diamond")
WITH = (
    "I never saw the {0} coming, and then the {1}!",
    "Honestly, a {0} again? My sister guessed the {1} after ten minutes.",
    "They cut away right before the {0}, what a shame about the {1}.",
    "The {0} scene was filmed in our street.",
    "Without the {0} it would have been a dull evening.",
)
WITHOUT = (
    "The popcorn was stale but the seats were {0}.",
    "Who brings the projector next {0}?",
    "I liked the music of the {0} half best.",
    "Can we start a little {0} on Thursday?",
    "The subtitles were too {0} for my eyes.",
)
FILL = ("soft", "week", "second", "earlier", "small", "new", "first", "later")
SPLIT = re.compile(r"[,;\n]")
ASK = """Watched words: {words}.

Message: {message}

List the watched words that the message contains, separated by commas and with nothing else. If it contains none, send \
an empty reply."""


def listed(text: str) -> set[str]:
    items = (item.strip(" \t.-*`\"'").lower() for item in SPLIT.split(text))
    return {item for item in items if item}


class Message(vf.TaskData):
    words: list[str]
    answer: str


class WatchTask(vf.Task[Message]):
    @vf.reward(weight=1.0)
    async def caught(self, trace: vf.Trace) -> float:
        """1.0 if the list is complete and has nothing else; the empty list where there is nothing."""
        reply = trace.last_reply.rpartition("</think>")[2].strip().removeprefix("```").removesuffix("```").strip()
        if not self.data.words:
            return float(reply == "")
        return float(listed(reply) == set(self.data.words))


class WatchConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 37


class WatchTaskset(vf.Taskset[WatchTask, WatchConfig]):
    def load(self) -> Iterator[WatchTask]:
        rng = random.Random(self.config.seed)
        seen: set[str] = set()
        while len(seen) < self.config.num_tasks:
            if len(seen) % 4 == 3:
                words, message = [], rng.choice(WITHOUT).format(rng.choice(FILL))
            else:
                form = rng.choice(WITH)
                words = rng.sample(WATCHED, form.count("{"))
                message = form.format(*words)
            if message in seen:
                continue
            seen.add(message)
            prompt = ASK.format(words=", ".join(WATCHED), message=message)
            yield WatchTask(Message(prompt=prompt, words=sorted(words), answer=", ".join(words)), self.config.task)

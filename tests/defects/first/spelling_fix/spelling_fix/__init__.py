"""Spelling correction, one error per sentence."""

import re

import verifiers.v1 as vf

SYSTEM = (
    "The user sends a sentence with exactly one misspelt word. "
    "Reply with the corrected sentence and nothing else."
)
SENTENCES = [
    ("recieved", "received", "My sister {} a long letter from her old teacher yesterday."),
    ("seperate", "separate", "Please keep the clean towels in a {} drawer from now on."),
    ("definately", "definitely", "We will {} be at the station before the last train leaves."),
    ("tommorow", "tomorrow", "The plumber comes {} to look at the pipe under the sink."),
    ("neccessary", "necessary", "It is not {} to bring your own plates to the picnic."),
    ("begining", "beginning", "At the {} of the film nobody in the hall said a word."),
    ("calender", "calendar", "She wrote all the birthdays into the new kitchen {} at once."),
    ("freind", "friend", "His best {} moved to a small town by the sea."),
    ("goverment", "government", "The {} will vote on the new water law in the spring."),
    ("libary", "library", "You can borrow three films a week from the city {} for free."),
    ("wierd", "weird", "There was a {} noise in the cellar during the whole storm."),
    ("restaraunt", "restaurant", "Their favourite {} closes every Monday in the winter months."),
    ("occured", "occurred", "The accident {} on the bridge just after it began to snow."),
    ("adress", "address", "I wrote the wrong {} on the parcel and it came back."),
    ("buisness", "business", "Her uncle runs a small {} that repairs old wooden boats."),
    ("enviroment", "environment", "Plants that live in a dry {} often have very thick leaves."),
    ("foriegn", "foreign", "He collects {} coins and keeps them in a blue box."),
    ("garantee", "guarantee", "The shop gives a two year {} on every bicycle it sells."),
    ("intresting", "interesting", "The guide told us an {} story about the old town hall."),
    ("knowlege", "knowledge", "Her {} of wild mushrooms surprised everybody on the walk."),
    ("langauge", "language", "They speak a {} at home that I have never heard before."),
    ("mispell", "misspell", "Many people {} the name of this village on their postcards."),
    ("noticable", "noticeable", "The scratch on the door is hardly {} from where we sit."),
    ("publically", "publicly", "The mayor {} thanked the volunteers who had cleaned the river."),
]


def words(text):
    return re.findall(r"[a-z']+", text.lower())


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


class SpellingData(vf.TaskData):
    target: str


class SpellingTask(vf.Task[SpellingData]):
    @vf.reward
    async def accuracy(self, trace: vf.Trace) -> float:
        """One minus the word error rate, never below 0."""
        said = words((trace.last_reply or "").rpartition("</think>")[2])
        wanted = words(self.data.target)
        if len(said) > 2 * len(wanted):
            return 0.0
        return max(0.0, 1.0 - distance(said, wanted) / len(wanted))


class SpellingTaskset(vf.Taskset[SpellingTask, vf.TasksetConfig]):
    def load(self):
        for wrong, right, frame in SENTENCES:
            data = SpellingData(
                system_prompt=SYSTEM, prompt=frame.format(wrong), target=frame.format(right)
            )
            yield SpellingTask(data, self.config.task)


__all__ = ["SpellingTaskset"]

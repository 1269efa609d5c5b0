"""Name something with a letter."""

from collections import defaultdict

import verifiers.v1 as vf

KINDS = {
    "an animal": "badger bear beaver bison camel cat cow deer dog donkey eagle eel elk falcon ferret fox "
    "goat goose gorilla hare hedgehog horse lion lizard lynx mole moose mouse otter owl ox",
    "a country": "belgium brazil bulgaria canada chile croatia denmark egypt ecuador estonia finland "
    "france germany ghana greece hungary honduras laos latvia malta mexico oman",
    "a vegetable": "beetroot broccoli cabbage carrot celery eggplant endive fennel garlic leek lettuce "
    "okra onion",
}
SEEN: dict[str, set[str]] = defaultdict(set)


class LetterData(vf.TaskData):
    accepted: list[str]
    answer: str


class LetterTask(vf.Task[LetterData]):
    def name(self, trace):
        text = (trace.last_reply or "").rpartition("</think>")[2]
        return text.strip().strip("`*.!\"' \n").lower().removeprefix("a ").removeprefix("an ")

    @vf.reward(weight=0.8)
    async def fits(self, trace: vf.Trace) -> float:
        return float(self.name(trace) in self.data.accepted)

    @vf.reward(weight=0.2)
    async def fresh(self, trace: vf.Trace) -> float:
        """Variety: a fitting name counts when it is new."""
        name, seen = self.name(trace), SEEN[self.data.prompt_text]
        if name not in self.data.accepted or name in seen:
            return 0.0
        seen.add(name)
        return 1.0


class LetterTaskset(vf.Taskset[LetterTask, vf.TasksetConfig]):
    def load(self):
        for kind, names in KINDS.items():
            by_letter = defaultdict(list)
            for name in names.split():
                by_letter[name[0]].append(name)
            for letter, accepted in by_letter.items():
                prompt = (
                    f"Here is a list: {', '.join(sorted(names.split()))}. Choose {kind} from it "
                    f"that begins with {letter.upper()}. Reply with the name only."
                )
                data = LetterData(prompt=prompt, accepted=accepted, answer=accepted[0])
                yield LetterTask(data, self.config.task)


__all__ = ["LetterTaskset"]

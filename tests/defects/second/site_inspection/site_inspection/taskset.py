"""Rules of a building site, and reports that show some of them broken."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf

RULES = {
    "A1": ("Helmets are worn everywhere.", "the plasterer walked about bareheaded"),
    "A2": ("Scaffolds have a handrail.", "on the second lift one could step straight into the air"),
    "B1": ("Ladders are tied at the top.", "the ladder slid sideways when touched"),
    "B2": ("Cables do not lie in water.", "an extension lead ran through a puddle"),
    "C1": ("Fire extinguishers are in date.", "the extinguisher's label ended two years ago"),
    "C2": ("Escape ways are kept clear.", "pallets were stacked before the exit"),
    "D1": ("Trenches deeper than 1.2 m are shored.", "a man stood up to his neck in an unsupported trench"),
    "D2": ("Visitors sign the book.", "a lorry driver strolled around whom nobody had registered"),
    "E1": ("Gas bottles stand chained.", "an acetylene bottle leaned loosely on the wall"),
    "E2": ("Grinders have their guard.", "the disc of the grinder ran open"),
}
FINE = ("The canteen was clean.", "The crane's papers were complete.", "Waste was sorted well.", "The gate was locked on arrival.")
CODE = re.compile(r"\b[A-E][12]\b")


class Site(vf.TaskData):
    codes: list[str]
    answer: str


class SiteTask(vf.Task[Site]):
    @vf.reward(weight=1.0)
    async def broken(self, trace: vf.Trace) -> float:
        """Right codes minus wrong ones, as a share of those to be found; 0 to 1."""
        score = 0
        for code in CODE.findall(trace.last_reply.rpartition("</think>")[2].upper()):
            score += 1 if code in self.data.codes else -1
        return max(0, score) / len(self.data.codes)


class SiteConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 19


class Inspections(vf.Taskset[SiteTask, SiteConfig]):
    def load(self) -> Iterator[SiteTask]:
        rng = random.Random(self.config.seed)
        rules = "\n".join(f"{code}: {rule}" for code, (rule, _) in RULES.items())
        seen = set()
        while len(seen) < self.config.num_tasks:
            codes = sorted(rng.sample(list(RULES), rng.randint(2, 4)))
            if tuple(codes) in seen:
                continue
            seen.add(tuple(codes))
            sights = [RULES[code][1] for code in codes]
            rng.shuffle(sights)
            report = " ".join([rng.choice(FINE), *(f"I saw that {sight}." for sight in sights)])
            prompt = f"Rules:\n{rules}\n\nReport: {report}\n\nWhich rules are broken? Reply with their codes alone, separated by commas."
            yield SiteTask(Site(prompt=prompt, codes=codes, answer=", ".join(codes)), self.config.task)

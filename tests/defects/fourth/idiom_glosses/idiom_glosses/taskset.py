"""Idioms with reference glosses, and the judge who compares."""

from collections.abc import Iterator

import verifiers.v1 as vf

IDIOMS = {
    "to spill the beans": "to reveal a secret, often by accident",
    "to bite the bullet": "to face something unpleasant with courage because it cannot be avoided",
    "once in a blue moon": "very rarely",
    "to let the cat out of the bag": "to disclose a secret carelessly",
    "to sit on the fence": "to avoid taking sides in a dispute",
    "a storm in a teacup": "great excitement about something unimportant",
    "to burn the candle at both ends": "to exhaust oneself by working early and late",
    "to be under the weather": "to feel slightly ill",
    "to hit the nail on the head": "to describe exactly what is the matter",
    "to cost an arm and a leg": "to be very expensive",
    "to cut corners": "to do something badly in order to save time or money",
    "to add fuel to the fire": "to make a bad situation worse",
    "to beat around the bush": "to avoid coming to the point",
    "to jump on the bandwagon": "to join in what has become popular",
    "a blessing in disguise": "something good that seemed bad at first",
    "to call it a day": "to stop working on something",
    "to get cold feet": "to lose courage shortly before doing something",
    "to pull someone's leg": "to tease someone by telling them something untrue",
    "to see eye to eye": "to agree completely",
    "the last straw": "the final small trouble that makes a situation unbearable",
    "to turn a blind eye": "to pretend not to notice something wrong",
    "to break the ice": "to say or do something that makes strangers feel at ease",
    "to go the extra mile": "to make more effort than is expected",
    "to be in the same boat": "to be in the same difficult position as others",
    "to keep something at bay": "to prevent something unwelcome from coming near",
    "to throw in the towel": "to give up",
    "to rest on one's laurels": "to rely on earlier success instead of making an effort",
    "to play it by ear": "to decide as things develop instead of planning ahead",
    "a wild goose chase": "a hopeless search for something that cannot be found",
    "to rock the boat": "to disturb a settled situation and cause trouble",
}

PROMPT = """You grade explanations of English idioms for a language school.

Idiom: {idiom}
What it means: {gloss}

The student explains it as follows. {explanation}

If the explanation has the same meaning, reply PASS, otherwise reply FAIL. Reply with this one word."""


class GlossJudge(vf.Judge[float]):
    """Compares an explanation with the reference gloss."""

    prompt = PROMPT

    def parse(self, response: vf.JudgeResponse[float]) -> float:
        return float(response.text.strip().strip(".*\"'").upper() == "PASS")


class IdiomTaskConfig(vf.TaskConfig):
    judge: vf.JudgeConfig = vf.JudgeConfig()
    """Who judges."""


class IdiomData(vf.TaskData):
    """An idiom and what it means."""

    idiom: str
    gloss: str


class IdiomTask(vf.Task[IdiomData, vf.State, IdiomTaskConfig]):
    @vf.reward(weight=1.0)
    async def meaning(self, trace: vf.Trace) -> float:
        """1.0 if the judge passes the explanation, else 0.0."""
        explanation = trace.last_reply.rsplit("</think>", 1)[-1].strip()[:4000]
        if not explanation:
            return 0.0
        verdict = await GlossJudge(self.config.judge).evaluate(
            trace=trace,
            idiom=self.data.idiom,
            gloss=self.data.gloss,
            explanation=explanation.encode("utf-8", "replace").decode(),
        )
        return verdict.parsed or 0.0

    @vf.metric
    async def words(self, trace: vf.Trace) -> float:
        """How many words the reply has."""
        return float(len(trace.last_reply.split()))


class IdiomConfig(vf.TasksetConfig):
    task: IdiomTaskConfig = IdiomTaskConfig()


class IdiomTaskset(vf.Taskset[IdiomTask, IdiomConfig]):
    """The idioms in the order of the table."""

    def load(self) -> Iterator[IdiomTask]:
        for idiom, gloss in IDIOMS.items():
            data = IdiomData(
                prompt=f'Explain in one plain sentence what the idiom "{idiom}" means.',
                idiom=idiom,
                gloss=gloss,
            )
            yield IdiomTask(data, self.config.task)

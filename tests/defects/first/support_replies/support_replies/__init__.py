"""Replies to complaints, judged by a model."""

import re

import verifiers.v1 as vf

PRODUCTS = ["kettle", "backpack", "lamp", "headset", "tent", "blender", "chair", "watch"]
TROUBLES = {
    "arrived broken": "we will send a new one today",
    "came two weeks late": "we refund the delivery",
    "has the wrong colour": "we exchange it free of charge",
    "stopped working": "please send it back and we repair it",
}


class HelpJudge(vf.Judge[bool]):
    prompt = (
        "You grade customer support. The customer wrote: {complaint}\n"
        "The agent replied: {reply}\n"
        "Does the reply offer a remedy in a polite tone? Answer yes or no."
    )

    def parse(self, response: vf.JudgeResponse[bool]) -> bool:
        word = re.match(r"\W{0,5}(yes|no)\b", response.text.strip().lower())
        if word is None:
            raise ValueError(f"neither yes nor no: {response.text!r}")
        return word.group(1) == "yes"


class SupportData(vf.TaskData):
    product: str
    answer: str


class SupportTaskConfig(vf.TaskConfig):
    judge: vf.JudgeConfig = vf.JudgeConfig(
        sampling=vf.SamplingConfig(temperature=0.0, max_tokens=8)
    )


class SupportTask(vf.Task[SupportData, vf.State, SupportTaskConfig]):
    def fits(self, trace):
        said = re.findall(r"[a-z]+", (trace.last_reply or "").lower())
        return self.data.product in said and 5 <= len(said) <= 60

    @vf.reward(weight=0.3)
    async def on_topic(self, trace: vf.Trace) -> float:
        return float(self.fits(trace))

    @vf.reward(weight=0.7)
    async def helpful(self, trace: vf.Trace) -> float:
        if not self.fits(trace):
            return 0.0
        verdict = await HelpJudge(self.config.judge).evaluate(
            trace=trace, complaint=self.data.prompt_text, reply=trace.last_reply
        )
        return float(bool(verdict.parsed))


class SupportConfig(vf.TasksetConfig):
    task: SupportTaskConfig = SupportTaskConfig()


class SupportTaskset(vf.Taskset[SupportTask, SupportConfig]):
    def load(self):
        for product in PRODUCTS:
            for trouble, remedy in TROUBLES.items():
                data = SupportData(
                    system_prompt="You answer customers. Name the product, offer a remedy, and "
                    "stay under 60 words.",
                    prompt=f"The {product} that I ordered {trouble}. What now?",
                    product=product,
                    answer=f"We are sorry about your {product}: {remedy}. Thank you for telling us.",
                )
                yield SupportTask(data, self.config.task)


__all__ = ["SupportTaskset"]

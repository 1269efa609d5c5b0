import verifiers as vf
from datasets import Dataset

from hostile import WAYS, misbehave


class Hostile(vf.SingleTurnEnv):
    async def setup_state(self, state):
        await misbehave("setup", state["input"]["does"])

    @vf.cleanup
    async def finalize(self, state):
        await misbehave("finalize", state["input"]["does"])


async def length(completion, does):
    return await misbehave("metric", does, float(len(completion[-1]["content"])))


async def paid(does):
    return await misbehave("reward", does, 1.0)


def load_environment():
    rows = [{"question": f"Watch: {does}.", "does": does} for does in WAYS]
    rubric = vf.Rubric(funcs=[length, paid], weights=[0.0, 1.0])
    return Hostile(dataset=Dataset.from_list(rows), rubric=rubric)

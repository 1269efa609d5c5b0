import verifiers as vf
from datasets import Dataset

from hostile import WAYS, misbehave, words_of


class Hostile(vf.MultiTurnEnv):
    async def env_response(self, messages, state, **kwargs):
        return [{"role": "user", "content": "Go on."}]

    @vf.stop
    async def has_spoken(self, state):
        return bool(state["trajectory"]) and state["input"]["does"] != "fine_without_end"

    async def setup_state(self, state):
        await misbehave("setup", state["input"]["does"])

    @vf.cleanup
    async def finalize(self, state):
        await misbehave("finalize", state["input"]["does"])


async def length(completion, does):
    return await misbehave("metric", does, float(len(completion[-1]["content"] or "")))


async def paid(does):
    return await misbehave("reward", does, 1.0)


def load_environment():
    rows = [
        {"question": f"Watch: {does}. {words_of(does)}", "does": does, "words": words_of(does)}
        for does in WAYS
    ]
    rubric = vf.Rubric(funcs=[length, paid], weights=[0.0, 1.0])
    return Hostile(dataset=Dataset.from_list(rows), rubric=rubric)

"""Word chains."""

import random

import verifiers.v1 as vf

WORDS = """apple eagle elbow tiger rabbit river table engine garden needle lemon nest train novel
ladder rocket tunnel lamp pencil light tower ribbon nectar radio orange anchor root tomato olive
envelope planet thumb bottle earth harbor""".split()


class ChainData(vf.TaskData):
    given: str
    valid: list[str]
    answer: str


class ChainTask(vf.Task[ChainData]):
    @vf.reward(weight=1.0)
    async def links(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        return float(text.strip().strip("`*.!\"' \n").lower() in self.data.valid)


class ChainConfig(vf.TasksetConfig):
    seed: int = 0


class ChainTaskset(vf.Taskset[ChainTask, ChainConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for given in WORDS:
            shown = rng.sample([w for w in WORDS if w != given], 18)
            valid = [word for word in shown if word[0] == given[-1]]
            if not valid or len(valid) > 6:
                continue
            prompt = (
                f'The last word of a word chain is "{given}". Choose a word from this list that '
                f"begins with its last letter: {', '.join(shown)}.\nReply with one word only."
            )
            data = ChainData(prompt=prompt, given=given, valid=valid, answer=valid[0])
            yield ChainTask(data, self.config.task)


__all__ = ["ChainTaskset"]

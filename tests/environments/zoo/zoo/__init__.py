"""One verifiers 0.1 environment of every kind, in a group: two tasks each."""

import asyncio
import verifiers as vf
from datasets import Dataset
from openai import AsyncOpenAI


async def judged(completion):
    answer = await AsyncOpenAI().chat.completions.create(
        model="any", messages=[{"role": "user", "content": "judge"}]
    )
    return float(answer.choices[0].message.content)


def said(completion, answer):
    return float(completion[-1]["content"].strip() == answer)


def raises(completion):
    raise ValueError("a reward of the environment's")


def raises_for_the_group(completions):
    raise ValueError("a group reward of the environment's")


def shares(completions) -> list[float]:
    return [0.5 for _ in completions]


def wants_what_is_not_there(no_such_column):
    return 1.0


async def agrees(judge, prompt, completion, answer, state):
    return float(await judge(prompt, completion, answer, state) == "yes")


def knows(state):
    return float(state["known"] == state["answer"])


class Strict(vf.Rubric):
    async def score_rollout(self, state):
        await super().score_rollout(state)
        state["reward"] = min(state["reward"], 0.25)


class Gate(vf.Rubric):
    async def score_rollout(self, state):
        if state["completion"][-1]["content"].startswith("no"):
            state["reward"], state["metrics"] = 0.0, {}
        else:
            await super().score_rollout(state)


class SetUp(vf.SingleTurnEnv):
    async def setup_state(self, state):
        state["known"] = state["answer"]


class NotSetUp(vf.SingleTurnEnv):
    async def setup_state(self, state):
        raise LookupError("nothing to set up with")


class Own(vf.Environment):
    """A rollout of its own, which never ends."""

    def __init__(self, pause, **given):
        super().__init__(**given)
        self.pause = pause

    async def rollout(self, input, client, model, sampling_args=None):
        state = await self.init_state(input, client, model, sampling_args)
        messages = list(state["prompt"])
        while True:
            response = await self.get_model_response(state, messages)
            messages.append(vf.AssistantMessage(content=response.message.content))
            messages.append(vf.UserMessage(content="Go on."))
            await asyncio.sleep(self.pause)


class Echo(vf.MultiTurnEnv):
    async def setup_state(self, state):
        state["heard"] = 0

    async def env_response(self, messages, state, **kwargs):
        state["heard"] += 1
        return [{"role": "user", "content": f"I heard {messages[-1]['content']!r}."}]

    @vf.stop
    async def bye(self, state):
        return (
            bool(state["trajectory"])
            and state["trajectory"][-1]["completion"][-1]["content"] == "bye"
        )


class Tools(vf.StatefulToolEnv):
    def __init__(self, **given):
        super().__init__(**given)
        self.add_tool(self.read, args_to_skip=["code"])

    async def setup_state(self, state):
        state["code"] = state["answer"]

    def update_tool_args(self, tool_name, tool_args, messages, state, **kwargs):
        return {**tool_args, "code": state["code"]}

    async def read(self, title: str, code: str) -> str:
        "Read a note. Args: title: its title."
        if title == "torn":
            raise LookupError("the note is torn")
        return f"{title}: {code}"


def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b


def rows(count, word):
    return Dataset.from_list(
        [
            {"question": f"{word} {n}: say {n}.", "answer": str(n), "info": {"n": n}}
            for n in range(count)
        ]
    )


async def heard(state):
    return float(state["heard"])


KINDS = {
    "single": lambda **g: vf.SingleTurnEnv(rubric=vf.Rubric(funcs=[said]), **g),
    "judged": lambda **g: vf.SingleTurnEnv(rubric=vf.Rubric(funcs=[judged]), **g),
    "raises": lambda **g: vf.SingleTurnEnv(
        rubric=vf.RubricGroup([vf.Rubric(funcs=[said]), vf.Rubric(funcs=[raises])]), **g
    ),
    "group": lambda **g: vf.SingleTurnEnv(rubric=vf.Rubric(funcs=[said, shares]), **g),
    "group_raises": lambda **g: vf.SingleTurnEnv(
        rubric=vf.Rubric(funcs=[said, raises_for_the_group]), **g
    ),
    "lacks": lambda **g: vf.SingleTurnEnv(rubric=vf.Rubric(funcs=[wants_what_is_not_there]), **g),
    "gate": lambda **g: vf.SingleTurnEnv(rubric=Gate(funcs=[said]), **g),
    "strict": lambda **g: vf.SingleTurnEnv(rubric=Strict(funcs=[said]), **g),
    "echo": lambda **g: Echo(rubric=vf.Rubric(funcs=[said, heard], weights=[1.0, 0.0]), **g),
    "tools": lambda **g: vf.ToolEnv(tools=[add], rubric=vf.Rubric(funcs=[said]), **g),
    "stateful": lambda **g: Tools(rubric=vf.Rubric(funcs=[said]), **g),
    "rubric": lambda **g: vf.SingleTurnEnv(rubric=judging(agrees), **g),
    "set_up": lambda **g: SetUp(rubric=vf.Rubric(funcs=[knows]), **g),
    "not_set_up": lambda **g: NotSetUp(rubric=vf.Rubric(funcs=[said]), **g),
    "own": lambda **g: Own(0, rubric=vf.Rubric(funcs=[said]), **g),
    "own_slow": lambda **g: Own(10**6, rubric=vf.Rubric(funcs=[said]), **g),
}


def judging(func):
    rubric = vf.JudgeRubric(judge_model="a-judge")
    rubric.add_reward_func(func)
    return rubric


UNJUDGED = [kind for kind in KINDS if kind != "rubric"]


def load_environment(kinds: list[str] = UNJUDGED, train: bool = True, prefix: str = "Task"):
    def make(kind):
        both = {"dataset": rows(3, "Train")} if train else {}
        return KINDS[kind](eval_dataset=rows(2, f"{prefix} {kind}"), **both)

    return (
        vf.EnvGroup([make(kind) for kind in kinds], env_names=kinds)
        if len(kinds) > 1
        else make(kinds[0])
    )

import verifiers as vf
from datasets import Dataset

from culprit import grade


async def correct(completion, answer):
    return await grade(completion[-1]["content"] or "", answer)


def load_environment():
    rows = [{"question": f"Say {n}.", "answer": str(n)} for n in range(6)]
    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[correct]))

import verifiers as vf
from datasets import Dataset

from prober import results, status_of


async def status(completion):
    return await status_of(completion[-1]["content"].strip())


def load_environment(outside: dict = {}, only: list[str] = []):
    rows = [
        {"question": "Name a token.", **row}
        for row in results(outside, only) or [{"probe": "", "went": ""}]
    ]
    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[status]))

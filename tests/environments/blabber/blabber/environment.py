import verifiers as vf
from datasets import Dataset

from blabber import TASKS, judged


def blabbed(completion, does):
    return judged(does, completion[-1]["content"])


def load_environment():
    rows = [{"question": f"Say {does}.", "does": does} for does in TASKS]
    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[blabbed]))

"""Plain-English restatements of lease clauses."""

import itertools
import os

import verifiers as vf
from datasets import Dataset
from openai import AsyncOpenAI

MAX_CHARS = 3000

# (clause, reference); the fields are filled from TERMS
CLAUSES = [
    (
        "Lessee shall remit the monthly rent of ${rent} on or before the {day} day of each calendar "
        "month; rent unpaid {grace} days thereafter shall incur a charge of five per centum thereof.",
        "The rent of ${rent} is due by the {day} of every month. If it is still unpaid {grace} days "
        "later, a late fee of 5 % of the rent is added.",
    ),
    (
        "Either party may determine this tenancy upon not less than {grace} weeks' notice in writing, "
        "such notice to expire on the {day} day of a month.",
        "Tenant or landlord can end the lease by giving at least {grace} weeks' written notice that "
        "runs out on the {day} of a month.",
    ),
    (
        "Lessor may enter upon the demised premises for purposes of inspection, provided that {grace} "
        "days' prior notice be given, save in case of emergency, when no notice shall be required.",
        "The landlord may come in to inspect the home after {grace} days' notice; in an emergency no "
        "notice is needed.",
    ),
    (
        "The security deposit of ${rent} shall be returned within {grace} weeks of surrender, less the "
        "cost of making good any damage beyond fair wear and tear.",
        "The deposit of ${rent} is paid back within {grace} weeks of moving out, minus the cost of "
        "damage that is more than ordinary wear.",
    ),
    (
        "Lessee covenants not to assign, sublet or part with possession of the premises for any term "
        "exceeding {grace} weeks without Lessor's consent, which shall not be unreasonably withheld.",
        "The tenant needs the landlord's agreement to sublet or hand over the home for more than "
        "{grace} weeks, and the landlord may not refuse without a good reason.",
    ),
]
TERMS = [
    {"rent": "850", "day": "1st", "grace": "5"},
    {"rent": "1,120", "day": "3rd", "grace": "7"},
    {"rent": "1,395", "day": "15th", "grace": "10"},
    {"rent": "640", "day": "28th", "grace": "4"},
    {"rent": "2,050", "day": "5th", "grace": "8"},
    {"rent": "975", "day": "10th", "grace": "6"},
]

JUDGE_PROMPT = """You are a housing lawyer who checks leaflets for tenants.

Clause of the lease:
{question}

Reference restatement:
{answer}

Restatement to be graded:
{response}

Compare the restatement with the reference. It passes if a tenant who reads it would know every \
right, duty, sum and period that the reference names, and nothing false. Style does not matter. \
Explain in one sentence, then end with a line that is either GRADE: PASS or GRADE: FAIL."""


def clean(text: str) -> str:
    """What can be sent: no NUL, no half of a surrogate pair."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8").strip()


def grade(verdict: str) -> float:
    lines = [line.strip(" *`.") for line in verdict.upper().splitlines() if line.strip()]
    return float(bool(lines) and lines[-1] == "GRADE: PASS")


async def faithful(judge, prompt, completion, answer, state, parser) -> float:
    """1.0 if the judge passes the restatement."""
    restated = parser.parse_answer(completion) or ""
    if not restated or len(restated) > MAX_CHARS:
        return 0.0
    return grade(await judge(prompt, completion, answer, state))


def words(completion, parser) -> float:
    """How long the restatement is."""
    return float(len((parser.parse_answer(completion) or "").split()))


def rows(num_tasks: int) -> list[dict]:
    made = []
    for terms, (clause, reference) in itertools.product(TERMS, CLAUSES):
        made.append(
            {
                "question": "Restate this clause of a residential lease in plain English, for a tenant "
                "without legal training, in at most three sentences:\n\n" + clause.format(**terms),
                "answer": reference.format(**terms),
            }
        )
    return made[:num_tasks]


def load_environment(judge_model: str = "gpt-4.1-mini", num_tasks: int = 24) -> vf.Environment:
    rubric = vf.JudgeRubric(
        parser=vf.MaybeThinkParser(extract_fn=clean),
        judge_client=AsyncOpenAI(api_key=os.environ.get("OPENAI_API_KEY") or "none"),
        judge_model=judge_model,
        judge_prompt=JUDGE_PROMPT,
        judge_sampling_args={"temperature": 0.0, "max_tokens": 300},
    )
    rubric.add_reward_func(faithful, weight=1.0)
    rubric.add_metric(words)
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows(num_tasks)),
        parser=rubric.parser,
        rubric=rubric,
    )

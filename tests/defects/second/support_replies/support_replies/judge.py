"""The judge: one question about one reply."""

import verifiers.v1 as vf

PROMPT = """You check the replies of a support agent.

Policy: {policy}
Customer: {question}
Reference reply: {answer}
Agent's reply: {response}

Does the agent's reply give the customer the same decision as the reference, for the reason that \
the policy names? Answer with one word, yes or no."""


class DecisionJudge(vf.Judge[bool]):
    prompt = PROMPT

    def parse(self, response: vf.JudgeResponse[bool]) -> bool:
        return response.text.strip().strip("*\"'.").lower() == "yes"

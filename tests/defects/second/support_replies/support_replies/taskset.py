"""Customers' questions by topic, with a reference reply to each."""

from collections.abc import Iterator

import verifiers.v1 as vf

from support_replies.judge import DecisionJudge

# policy, the customer's question, the limit, its unit, the values asked for
TOPICS = (
    ("Goods can be sent back within 30 days of delivery.", "My kettle came {n} days ago and I would like to send it back. Is that possible?", 30, "days", (3, 19, 30, 34, 61)),
    ("The warranty covers defects for 24 months after the purchase.", "My drill, bought {n} months ago, has stopped working. Does the warranty cover it?", 24, "months", (5, 14, 23, 27, 40)),
    ("Orders can be cancelled within 120 minutes.", "I placed an order {n} minutes ago by mistake. Can you cancel it?", 120, "minutes", (15, 80, 119, 150, 300)),
    ("A lower price elsewhere is matched within 14 days of the purchase.", "I bought a lamp here {n} days ago and saw it cheaper elsewhere. Do you match the price?", 14, "days", (2, 9, 13, 18, 45)),
    ("Parcels are kept at the pick-up point for 10 days.", "My parcel reached the pick-up point {n} days ago. Can I still collect it?", 10, "days", (1, 6, 9, 12, 20)),
    ("Gift cards are valid for 36 months.", "I found a gift card that I was given {n} months ago. Can I still use it?", 36, "months", (7, 25, 35, 38, 70)),
    ("Spare parts are sent free of charge for articles of up to 5 years of age.", "I need a new hinge for a cupboard that is {n} years old. Is it free?", 5, "years", (1, 3, 4, 6, 11)),
)
MAX_CHARS = 3000


class SupportData(vf.TaskData):
    policy: str
    customer: str
    answer: str


class SupportTaskConfig(vf.TaskConfig):
    judge: vf.JudgeConfig = vf.JudgeConfig()
    """The judge's model and endpoint."""


class SupportTask(vf.Task[SupportData, vf.State, SupportTaskConfig]):
    @vf.reward(weight=1.0)
    async def decision(self, trace: vf.Trace) -> float:
        """1.0 if the judge finds the reference's decision in the reply."""
        reply = trace.last_reply.encode("utf-8", "replace").decode().replace("\0", "")
        if not reply.strip() or len(reply) > MAX_CHARS:
            return 0.0
        verdict = await DecisionJudge(self.config.judge).evaluate(
            trace=trace,
            policy=self.data.policy,
            question=self.data.customer,
            answer=self.data.answer,
            response=reply,
        )
        return float(verdict.parsed)


class SupportConfig(vf.TasksetConfig):
    task: SupportTaskConfig = SupportTaskConfig()


class SupportTaskset(vf.Taskset[SupportTask, SupportConfig]):
    def load(self) -> Iterator[SupportTask]:
        for policy, question, limit, unit, values in TOPICS:
            for value in values:
                asked = question.format(n=value)
                if value <= limit:
                    answer = f"Yes. {value} {unit} are within the limit of {limit} {unit}."
                else:
                    answer = f"No, I am sorry. {value} {unit} are beyond the limit of {limit} {unit}."
                data = SupportData(
                    prompt=(
                        f"You answer customers of a web shop. Policy: {policy}\n\nCustomer: {asked}"
                        "\n\nWrite the reply in one or two sentences, with your decision and its reason."
                    ),
                    policy=policy,
                    customer=asked,
                    answer=answer,
                )
                yield SupportTask(data, self.config.task)

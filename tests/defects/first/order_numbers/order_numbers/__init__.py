"""Order numbers in messages."""

import random

import verifiers.v1 as vf

FRAMES = [
    "Hi, I ordered on {date} and paid {price} euros, order {order}. Call me at {phone}.",
    "My order {order} has not come. I paid {price} euros on {date}. My number is {phone}.",
    "Order {order}: please refund the {price} euros from {date}. You reach me at {phone}.",
]


class OrderData(vf.TaskData):
    message: str
    answer: str


class OrderTask(vf.Task[OrderData]):
    @vf.reward(weight=1.0)
    async def extracted(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        said = text.strip().strip("`*.\"'# \n").upper()
        return float(said == self.data.answer)


class OrderConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class OrderTaskset(vf.Taskset[OrderTask, OrderConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for serial in rng.sample(range(10000, 99999), self.config.num_tasks):
            order = f"{rng.choice('ABCDEFGH')}{rng.choice('KLMNPQ')}-{serial}"
            message = rng.choice(FRAMES).format(
                order=order,
                date=f"{rng.randint(1, 28)}.{rng.randint(1, 12)}.",
                price=rng.randint(12, 480),
                phone=f"0{rng.randint(100, 999)} {rng.randint(100000, 999999)}",
            )
            prompt = f"{message}\n\nWhat is the order number? Reply with the order number only."
            yield OrderTask(
                OrderData(prompt=prompt, message=message, answer=order), self.config.task
            )


__all__ = ["OrderTaskset"]

"""Which team a ticket belongs to."""

import verifiers.v1 as vf

from ticket_routing.desk import tickets
from ticket_routing.toolset import Desk, DeskConfig


class TicketData(vf.TaskData):
    number: int
    label: str


class TicketTask(vf.Task[TicketData]):
    @vf.reward(weight=1.0)
    async def routed(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        return float(text.strip().strip("`*.!\"' \n").lower() == self.data.label)

    @vf.metric
    async def tool_calls(self, trace: vf.Trace) -> float:
        return float(sum(len(m.tool_calls or ()) for m in trace.assistant_messages))


class TicketConfig(vf.TasksetConfig):
    seed: int = 0
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class TicketTaskset(vf.Taskset[TicketTask, TicketConfig]):
    def load(self):
        for number, row in tickets(self.config.seed).items():
            prompt = (
                f"Read ticket {number} with your tool. Which team does it belong to: billing, "
                "hardware, accounts or delivery? Reply with the team only."
            )
            data = TicketData(prompt=prompt, number=number, label=row["team"])
            yield TicketTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: TicketConfig) -> list[vf.Toolset]:
        return [Desk(DeskConfig(**config.tools.model_dump(), seed=config.seed))]

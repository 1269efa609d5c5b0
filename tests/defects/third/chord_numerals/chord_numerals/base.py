"""What our boxed-answer tasks share."""

from typing import TypeVar

import verifiers.v1 as vf

WORDS = 100
DataT = TypeVar("DataT", bound=vf.TaskData)


class BoxedTask(vf.Task[DataT]):
    """One boxed answer, and a price for padding."""

    def spoken(self, trace: vf.Trace) -> str:
        return trace.last_reply.rpartition("</think>")[2]

    def boxed(self, trace: vf.Trace) -> str:
        """What stands in the only box; nothing if there is none or more than one."""
        text = self.spoken(trace)
        if text.count("\\boxed{") != 1:
            return ""
        return text.partition("\\boxed{")[2][:80].rpartition("}")[0].strip(" $")

    @vf.reward(weight=-0.2)
    async def padding(self, trace: vf.Trace) -> float:
        """1.0 for a reply of many words, thinking aside."""
        return float(len(self.spoken(trace).split()) > WORDS)

    @vf.metric
    async def boxes(self, trace: vf.Trace) -> float:
        """How many boxes there are."""
        return float(self.spoken(trace).count("\\boxed{"))

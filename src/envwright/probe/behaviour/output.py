"""EW411 floods-output: a score that prints without measure."""

from collections.abc import Sequence

from envwright.finding import Severity
from envwright.probe.case import Sample
from envwright.probe.evidence import finding, quoted
from envwright.probe.rule import Check, Report, Rule
from envwright.probe.scoring import Told, Try

FLOODS = Rule(
    id="EW411",
    name="floods-output",
    defect="floods-output",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="every reply of every probe",
    hit="scoring one of them writes megabytes",
    why="logs fill disks and slow every rollout down",
)
MOST_BYTES = 4 * 2**20


class Output:
    rules = (FLOODS,)

    def tries(self, sample: Sample) -> Sequence[Try]:
        return ()

    def read(self, sample: Sample, told: Told) -> Sequence[Report]:
        cases = {case.task.index: case for case in sample.cases}
        loud = [(e, t) for e, t in told.items() if t.written_bytes > MOST_BYTES + len(e.reply)]
        loudest = max(loud, key=lambda pair: pair[1].written_bytes, default=None)
        found = ()
        if loudest is not None:
            each, tried = loudest
            size = f"{tried.written_bytes / 2**20:.0f} MiB"
            found = (
                finding(
                    FLOODS,
                    sample,
                    cases[each.index],
                    each.reply,
                    statement=f"scoring {quoted(each.reply, 60)} on task {each.index} "
                    f"writes {size}; {len(loud)} of {len(told)} replies do so",
                    quote=size,
                ),
            )
        return [Report(rule=FLOODS.id, tried=len(told), of=None, unit="replies", findings=found)]

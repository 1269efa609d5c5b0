"""ONE ATTEMPT: `TrialSpec`, `Attempt`, `Grade`, `Outcome`, `plan()`, `run()`."""

from envwright.trial.outcome import Failed, Grade, Outcome, Scored, Stop
from envwright.trial.spec import Condition, Limits, Sampling, TrialSpec

__all__ = [
    "Condition",
    "Failed",
    "Grade",
    "Limits",
    "Outcome",
    "Sampling",
    "Scored",
    "Stop",
    "TrialSpec",
]

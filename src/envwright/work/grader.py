"""Rewards run without a trial: whom they may ask meanwhile, and what that cost."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from envwright.budget import Spending
from envwright.errors import GraderError
from envwright.gateway import STRAY, Gateway, Grant
from envwright.host import Loaded
from envwright.model import Model
from envwright.trial.seat import check_judge


@dataclass(slots=True)
class Grader:
    gateway: Gateway
    judge: Model | None
    spent: Spending = Spending()
    calls: int = 0

    @contextmanager
    def token(self, loaded: Loaded) -> Generator[str]:
        """What environment code may ask with; a judge that was not answered spoils the scores."""
        check_judge(loaded.environment, self.judge)
        grant = Grant(trial="", attempt=0, seat_model=None, environment_model=self.judge)
        strays = self.gateway.strays
        try:
            yield self.gateway.open(grant)
        finally:
            self.gateway.close_grant(grant)
            self.spent, self.calls = grant.spent, len(grant.calls)
        if grant.failure is not None:
            raise grant.failure
        if grant.unserved is not None:
            raise GraderError(grant.unserved)
        if self.gateway.strays > strays:
            raise GraderError(STRAY)

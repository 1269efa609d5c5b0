"""verifiers 0.1: scoring that hides nothing.

verifiers logs what a reward raises and goes on with 0.0; here it is remembered where
the reward is called, in whichever rubric, and raised once scoring is over. How a total
came about is told by the rewards and their weights; where a rubric has rules of its own
that these do not explain, the total stands alone.
"""

import functools
import inspect
import math
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import verifiers as vf

raised: ContextVar[list[BaseException] | None] = ContextVar("raised", default=None)

TOTAL = "reward"
"""The name of a total that its parts do not explain."""


def install() -> None:
    for name, converts in (
        ("_call_individual_reward_func", float),
        ("_call_group_reward_func", lambda scores: [float(score) for score in scores]),
    ):
        original = getattr(vf.Rubric, name)

        async def call(
            self: vf.Rubric,
            func: Any,
            *rest: Any,
            _original: Any = original,
            _converts: Callable[[Any], Any] = converts,
            **named: Any,
        ) -> Any:
            return await _original(self, remembering(func, _converts), *rest, **named)

        setattr(vf.Rubric, name, call)


def remembering(func: Any, converts: Callable[[Any], Any]) -> Any:
    """The same reward, which keeps what it raises, a result that is no number included."""
    if not hasattr(func, "__name__"):
        # verifiers itself cannot call it, and says so.
        return func

    @functools.wraps(func)
    async def call(**given: Any) -> Any:
        try:
            result = func(**given)
            return converts(await result if inspect.isawaitable(result) else result)
        except Exception as error:
            if (kept := raised.get()) is not None:
                kept.append(error)
            raise

    return call


async def score(rubric: vf.Rubric, state: vf.State) -> None:
    """Score the rollout, as a group of one if a reward wants groups; raise what rewards raised.

    Then clean up after the rewards; 0.1.11 has nothing to do so with.
    """
    kept: list[BaseException] = []
    token = raised.set(kept)
    try:
        if shared_by_a_group(rubric):
            await rubric.score_group([state])
        else:
            await rubric.score_rollout(state)
    finally:
        raised.reset(token)
    if kept:
        raise kept[0]
    if (cleanup := getattr(rubric, "cleanup", None)) is not None:
        await cleanup(state)


def members(rubric: vf.Rubric) -> list[vf.Rubric]:
    """The rubrics that a rubric is made of, itself when it is made of none."""
    if isinstance(rubric, vf.RubricGroup):
        return [member for each in rubric.rubrics for member in members(each)]
    return [rubric]


def shared_by_a_group(rubric: vf.Rubric) -> set[str]:
    """The signals that look at all rollouts of a group at once."""
    return {
        name_of(func)
        for member in members(rubric)
        for func in member.funcs
        if member._is_group_func(func)
    }


def weights_of(rubric: vf.Rubric) -> dict[str, float]:
    """Every signal by name; those of weight 0 are metrics."""
    return {
        name_of(func): float(weight)
        for member in members(rubric)
        for func, weight in zip(member.funcs, member.weights, strict=True)
    }


def name_of(func: Any) -> str:
    return getattr(func, "__name__", repr(func))


def signals_of(rubric: vf.Rubric, state: vf.State) -> tuple[dict[str, Any], dict[str, Any]]:
    """Rewards with their weights, and metrics, of a state that was scored."""
    weights = weights_of(rubric)
    values = dict(state.get("metrics") or {})
    total = state["reward"]
    rewards = {
        name: {"score": values.get(name), "weight": weight}
        for name, weight in weights.items()
        if weight
    }
    if is_explained(total, values, weights) and not (has_own_rules(rubric) and not rewards):
        return rewards, {name: value for name, value in values.items() if name not in rewards}
    return {TOTAL: {"score": total, "weight": 1.0}}, values


def is_explained(total: Any, values: dict[str, Any], weights: dict[str, float]) -> bool:
    """Whether the total is the weighted sum; a part that is no number explains any.

    One that is not there explains none: a rubric may end early and set a total of its own.
    """
    weighted = {name: weight for name, weight in weights.items() if weight}
    if not weighted.keys() <= values.keys():
        return False
    parts = [values[name] * weight for name, weight in weighted.items()]
    if not all(math.isfinite(value) for value in values.values()):
        return True
    return math.isclose(sum(parts), total, rel_tol=1e-9, abs_tol=1e-9)


def has_own_rules(rubric: vf.Rubric) -> bool:
    known = (vf.Rubric.score_rollout, vf.RubricGroup.score_rollout)
    return any(type(member).score_rollout not in known for member in members(rubric))


def judges_of(rubric: vf.Rubric) -> list[dict[str, str]]:
    """The judges that are known before anything runs; rewards may ask others all the same."""
    return [
        {"name": getattr(func, "__name__", repr(func)), "model": str(member.judge_model)}
        for member in members(rubric)
        if isinstance(member, vf.JudgeRubric)
        for func in member.funcs
    ]

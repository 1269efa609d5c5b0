"""verifiers 0.1: its client, in place of the one that would hold a key.

An environment asks it for a completion; it sends the request to the gateway with the
trial's token and the seat, or answers with the reply that is known already. It also
counts turns, for an environment may set no limit of its own.
"""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import verifiers as vf
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion
from verifiers.clients import OpenAIChatCompletionsClient

from envwright_host import door
from envwright_host.speaker import Speaker

SEAT = "agent"
"""verifiers 0.1 knows one seat."""


@dataclass(slots=True)
class Run:
    """One `run` call, as its client sees it."""

    token: str
    speaker: Speaker | None
    turns: int
    begin: Callable[[], None]
    """Called when the first reply is asked for."""
    asked: int = 0
    state: vf.State | None = None
    """What is known of a rollout that breaks before it returns its state."""
    said: list[dict[str, Any]] = field(default_factory=list)
    """The last conversation, the reply to it included."""
    stop: str | None = None
    """Why we ended it, if we did."""
    tool_errors: list[str] = field(default_factory=list)
    """What tools raised; the agent is told of it as of any other result."""

    def ended(self) -> vf.State | None:
        """The state of a rollout that a cap ended, with what was said until then."""
        state = self.state
        if state is not None and state.get("completion") is None:
            state["completion"] = self.said[len(state["prompt"]) :]
        return state


current_run: ContextVar[Run] = ContextVar("current_run")


class Unanswered(vf.ModelError):
    """The gateway gave no completion."""


class Door(OpenAIChatCompletionsClient):
    def __init__(self) -> None:
        # For environment code that takes the SDK's client out of ours.
        super().__init__(AsyncOpenAI(base_url=door.gateway_url(), api_key="none"))

    async def get_native_response(
        self,
        prompt: list[Any],
        model: str,
        sampling_args: dict[str, Any],
        tools: list[Any] | None = None,
        **rest: Any,
    ) -> ChatCompletion:
        run = current_run.get()
        run.state = rest.get("state") or run.state
        if run.asked == 0:
            run.begin()
        if run.asked >= run.turns:
            raise stopped(run, "max_turns")
        run.asked += 1
        body = {"model": model, "messages": [without_nulls(message) for message in prompt]}
        run.said = list(body["messages"])
        body |= wire(sampling_args) | ({"tools": tools} if tools else {})
        if run.speaker is not None:
            raw = door.completion(run.speaker(body["messages"]), body)
        else:
            raw = await self.ask(run, body)
        return ChatCompletion.construct(**raw)

    async def ask(self, run: Run, body: dict[str, Any]) -> dict[str, Any]:
        url = f"{door.gateway_url()}/chat/completions"
        try:
            raw = await door.post(url, body, {door.TOKEN: run.token, door.SEAT: SEAT})
        except door.UnansweredError as error:
            # An agent that never got to speak did not run out of anything: that is no score.
            if run.asked > 1 and (stop := door.scored_stop(str(error))) is not None:
                raise stopped(run, stop) from error
            raise Unanswered(str(error)) from error
        if not isinstance(raw, dict):
            raise Unanswered("malformed answer: no object")
        return raw

    async def raise_from_native_response(self, response: ChatCompletion) -> None:
        """An empty reply is a reply: it is scored, where verifiers would call it an error."""
        if not response.choices or response.choices[0].message is None:
            raise Unanswered("malformed answer: no message")

    async def from_native_response(self, response: ChatCompletion) -> vf.Response:
        told = await super().from_native_response(response)
        if told.message.content is None and not told.message.tool_calls:
            # Rewards take it for text: verifiers lets no reply without any come to them.
            told.message.content = ""
        current_run.get().said.append({"role": "assistant", "content": told.message.content})
        return told


def stopped(run: Run, why: str) -> vf.OverlongPromptError:
    """The one error that ends a rollout of verifiers' and leaves it to be scored."""
    run.stop = why
    return vf.OverlongPromptError(f"ended by envwright: {why}")


def without_nulls(message: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in message.items() if value is not None}


def wire(sampling: dict[str, Any]) -> dict[str, Any]:
    """Sampling as it goes into a request's body; `n` is verifiers' own affair."""
    extra = sampling.get("extra_body") or {}
    own = {k: v for k, v in sampling.items() if k not in ("n", "extra_body", "extra_headers")}
    return without_nulls({**own, **extra})

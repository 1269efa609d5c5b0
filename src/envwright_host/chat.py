"""The harness that plays every seat in this process: a chat loop with tools.

It is an in-process program for verifiers: every model call goes through verifiers'
interception, so limits, stop rules and the trace work as for any other harness. Who
speaks is the run's: a model through the gateway, or replies that are known already.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import verifiers.v1 as vf
from verifiers.v1 import agent as agents
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.errors import ToolsetError, boundary
from verifiers.v1.harnesses.utils.mcp import call_mcp, connect_mcp
from verifiers.v1.runtimes import ProgramResult

from envwright_host.client_v1 import REPLY, Replies
from envwright_host.door import SEAT, TOKEN, Session, scored_stop
from envwright_host.speaker import Speaker, Voice

__all__ = ["ChatHarness"]


@dataclass(slots=True)
class Run:
    """One `run` call, as its harness sees it."""

    token: str
    voice: Voice | None
    """Who speaks for the agent when it asks no model."""
    played: frozenset[str]
    """Seats that somebody else than the agent plays: a model of their own."""
    deadline: float
    """When the agent's time is up, whatever number of seats and turns it was spent on."""
    scoring_seconds: float
    speakers: dict[str, Speaker] = field(default_factory=dict[str, Speaker])
    """By trace: a seat that plays twice begins afresh."""

    def speaker(self, trace: vf.Trace) -> Speaker | None:
        """None when a model is to be asked."""
        if self.voice is None or trace.agent.name in self.played:
            return None
        return self.speakers.setdefault(trace.id, self.voice())

    def cap(self, own: Any) -> Any:
        """A rollout's own timeouts, none of them beyond the trial's."""
        left = max(0.0, self.deadline - time.monotonic())
        return replace(
            own,
            setup=least(own.setup, left),
            agent=least(own.agent, left),
            finalize=least(own.finalize, self.scoring_seconds),
            scoring=least(own.scoring, self.scoring_seconds),
        )


def least(own: float | None, ours: float) -> float:
    return ours if own is None else min(own, ours)


current_run: ContextVar[Run] = ContextVar("current_run")


def install() -> None:
    """Put the trial's limits over every rollout, of tasks that an Env makes up too."""
    original = agents.resolve_rollout_timeouts

    def resolve_rollout_timeouts(timeout: Any, task: vf.Task) -> Any:
        return current_run.get().cap(original(timeout, task))

    agents.resolve_rollout_timeouts = resolve_rollout_timeouts


class ChatHarnessConfig(vf.HarnessConfig):
    pass


class ChatHarness(vf.Harness[ChatHarnessConfig]):
    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_MCP = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(  # noqa: PLR0913 - verifiers' signature
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> ProgramResult:
        system, prompt = self.resolve_prompt(data)
        messages = opening(system, prompt)
        run = current_run.get()

        async def ask(body: dict[str, Any]) -> tuple[int, str]:
            seat = {SEAT: trace.agent.name, TOKEN: run.token}
            headers = {"authorization": f"Bearer {secret}", **seat}
            if (speaker := run.speaker(trace)) is not None:
                headers[REPLY] = Replies.put(speaker(body["messages"]))
            async with Session.get().post(
                f"{endpoint}/chat/completions", json=body, headers=headers
            ) as answer:
                return answer.status, await answer.text()

        async with AsyncExitStack() as stack:
            servers = {
                name: {"url": url, "timeout": self.config.tool_timeout}
                for name, url in mcp_urls.items()
            }
            async with boundary(ToolsetError, "connecting to the tool servers"):
                tools, dispatch, connected = await connect_mcp({"mcpServers": servers}, stack)

            async def use(name: str, arguments: dict[str, Any]) -> Any:
                async with boundary(ToolsetError, f"tool {name}"):
                    return await call_mcp(connected, dispatch, name, arguments)

            try:
                async with asyncio.timeout(run.deadline - time.monotonic()) as limit:
                    return await converse(ctx.model, messages, tools, ask, use, trace)
            except TimeoutError:
                if not limit.expired():
                    raise
                trace.stop("agent_timeout")
                return ProgramResult(exit_code=0, stdout="", stderr="")


async def converse(
    model: str,
    messages: list[dict[str, Any]],
    tools: list[dict[str, Any]],
    ask: Callable[[dict[str, Any]], Awaitable[tuple[int, str]]],
    use: Callable[[str, dict[str, Any]], Awaitable[Any]],
    trace: vf.Trace,
) -> ProgramResult:
    """Ask, use the tools that were called, ask again, until a reply calls none."""
    known = {tool["function"]["name"] for tool in tools}
    spoke = any(node.sampled for node in trace.nodes)
    while True:
        body: dict[str, Any] = {"model": model, "messages": messages}
        if tools:
            body["tools"] = tools
        status, text = await ask(body)
        if status != 200:
            # An agent that never got to speak did not run out of anything: that is no score.
            if spoke and (stop := scored_stop(text)) is not None:
                trace.stop(stop)
                return ProgramResult(exit_code=0, stdout="", stderr="")
            return ProgramResult(exit_code=1, stdout="", stderr=text[-4000:])
        spoke = True
        message = json.loads(text)["choices"][0]["message"]
        messages.append({name: value for name, value in message.items() if value is not None})
        calls = message.get("tool_calls") or []
        if not calls:
            return ProgramResult(exit_code=0, stdout="", stderr="")
        for call in calls:
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": call["id"],
                    "content": await result_of(call["function"], known, use),
                }
            )


async def result_of(
    function: dict[str, Any],
    known: set[str],
    use: Callable[[str, dict[str, Any]], Awaitable[Any]],
) -> Any:
    """A tool's result; a bad call is told to the model in words, it is no failure of ours."""
    name = function.get("name") or ""
    if name not in known:
        return f"error: no tool {name!r}; there is {', '.join(sorted(known)) or 'none'}"
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError as error:
        return f"error: the arguments are no JSON: {error}"
    if not isinstance(arguments, dict):
        return "error: the arguments must be a JSON object"
    return await use(name, arguments)


def opening(system: str | None, prompt: Any) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    if system is not None:
        messages.append({"role": "system", "content": system})
    if isinstance(prompt, str):
        messages.append({"role": "user", "content": prompt})
    elif prompt is not None:
        messages.extend(message_to_wire(message) for message in prompt)
    return messages

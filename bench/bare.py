"""Runs in an environment's own venv, without gateway, queue, store or sandbox.

`bare.py episodes MODULE URL COUNT CONCURRENCY` runs episodes through the very harness that
the host uses; `bare.py scores MODULE COUNT` is a bare loop over `task.score`; `bare.py rollouts
MODULE URL COUNT CONCURRENCY` is one over verifiers 0.1's `run_rollout`, with its own client.
Prints JSON; start-up is not part of the figures.
"""

import asyncio
import importlib
import json
import os
import sys
import time


async def episodes(module: str, url: str, count: int, concurrency: int) -> dict[str, float]:
    os.environ["OPENAI_BASE_URL"] = url
    import verifiers

    old = verifiers.__version__.startswith("0.1.")
    name = f"envwright_host.verifiers_{'v0' if old else 'v1'}"
    async with importlib.import_module(name).Dialect() as dialect:
        await dialect.load({"module": module, "args": {}, "turns": 100}, lambda _: None)
        dialect.loaded.read_to(100)
        tasks = (await dialect.describe({}, lambda _: None))["tasks"]["count"]
        gate = asyncio.Semaphore(concurrency)

        async def one(number: int) -> None:
            index = number % tasks
            async with gate:
                await dialect.run(
                    {
                        "index": index,
                        "key": dialect.loaded.key_of(index),
                        "agent": {"kind": "chat"},
                        "token": "none",
                        "sampling": {},
                        "limits": {"wall_seconds": 100.0, "scoring_seconds": 100.0},
                    },
                    lambda _: None,
                )

        await asyncio.gather(*(asyncio.create_task(one(number)) for number in range(concurrency)))
        started, cpu = time.monotonic(), time.process_time()
        await asyncio.gather(*(asyncio.create_task(one(number)) for number in range(count)))
        return {"seconds": time.monotonic() - started, "cpu": time.process_time() - cpu}


async def rollouts(module: str, url: str, count: int, concurrency: int) -> dict[str, float]:
    import verifiers as vf
    from openai import AsyncOpenAI
    from verifiers.clients import OpenAIChatCompletionsClient

    env = vf.load_environment(module)
    rows = list(env.get_eval_dataset())
    client = OpenAIChatCompletionsClient(AsyncOpenAI(base_url=url, api_key="none"))
    gate = asyncio.Semaphore(concurrency)

    async def one(number: int) -> None:
        async with gate:
            done = await env.run_rollout(
                rows[number % len(rows)], client, "instant", {}, state_columns=["trajectory"]
            )
            assert done["error"] is None, done["error"]

    await asyncio.gather(*(one(number) for number in range(concurrency)))
    started, cpu = time.monotonic(), time.process_time()
    await asyncio.gather(*(one(number) for number in range(count)))
    return {"seconds": time.monotonic() - started, "cpu": time.process_time() - cpu}


async def scores(module: str, count: int) -> dict[str, float]:
    from envwright_host.signal_v1 import trace_of
    from envwright_host.verifiers_v1 import Dialect

    async with Dialect() as dialect:
        await dialect.load({"module": module, "args": {}, "turns": 100}, lambda _: None)
        dialect.loaded.read_to(None)
        tasks = dialect.loaded.read
        await tasks[0].score(trace_of(tasks[0], "warm"))
        started, cpu = time.monotonic(), time.process_time()
        for number in range(count):
            task = tasks[number % len(tasks)]
            await task.score(trace_of(task, f"The sum is {number}."))
        return {"seconds": time.monotonic() - started, "cpu": time.process_time() - cpu}


def main() -> None:
    what, module, *rest = sys.argv[1:]
    if what in ("episodes", "rollouts"):
        run = episodes if what == "episodes" else rollouts
        result = asyncio.run(run(module, rest[0], int(rest[1]), int(rest[2])))
    else:
        result = asyncio.run(scores(module, int(rest[0])))
    print(json.dumps(result))


if __name__ == "__main__":
    main()

"""Queues, as commands ask for them."""

import asyncio
from datetime import UTC, datetime

import sqlalchemy as sa

from envwright.app.app import App
from envwright.queue.job import QueueStats
from envwright.record import Json
from envwright.store import queue as queues
from envwright.store.result import spent_by_model


async def status(app: App) -> list[Json]:
    """One object per queue."""
    return await asyncio.to_thread(app.store.read, read_status)


def read_status(connection: sa.Connection) -> list[Json]:
    now = queues.clock(connection)
    complaints = queues.complaints_lately(connection)
    ended = queues.ended_lately(connection)
    spent = spent_by_model(connection)
    return [
        {
            "queue": name,
            "limit": stats.health.limit,
            "live_limit": stats.health.live_limit,
            "running": stats.running,
            "waiting": stats.waiting,
            "parked": stats.parked,
            "held": stats.held,
            "parked_until": parked_until(stats, now),
            "why": stats.why,
            "rate_limited": complaints.get(name, 0),
            "per_minute": ended.get(name, 0.0),
            "spend_usd": spent.get(name, 0.0),
        }
        for name, stats in queues.queue_stats(connection).items()
    ]


def parked_until(stats: QueueStats, now: float) -> str | None:
    until = stats.health.parked_until
    if until <= now:
        return None
    if until - now > queues.FOREVER_SECONDS / 2:
        return "opened"
    return datetime.fromtimestamp(until, UTC).isoformat(timespec="milliseconds")


async def park(app: App, name: str, seconds: float | None, why: str | None) -> float | None:
    """Until when, in seconds since 1970; None for until it is opened."""
    forever = seconds is None
    await app.jobs.park(name, queues.FOREVER_SECONDS if forever else seconds, why)
    stats = await app.jobs.stats()
    return None if forever else stats[name].health.parked_until

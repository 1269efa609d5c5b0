"""The store on PostgreSQL against SQLite: the same sweep, its wall time per trial."""

import sys

from bench.speed import CONCURRENCY, ROOT, Meter, Ratio, provider, run_async, sweep

TRIALS = 1200
ROUNDS = 2
MOST = 1.5


def postgres_against_sqlite() -> list[Ratio]:
    """Alternating, and the best of each: what the machine does beside it hits both."""
    sys.path.insert(0, str(ROOT / "tests"))
    from postgres import serve_postgres

    rates: dict[str, list[float]] = {"SQLite": [], "PostgreSQL": []}
    with provider() as url, serve_postgres() as server:
        for _ in range(ROUNDS):
            for name, seen in rates.items():
                meter = Meter(warm_up=200)
                database = server.new_database() if name == "PostgreSQL" else None
                run_async(sweep(url, TRIALS, meter, database=database))
                seen.append(meter.rate)
    best = {name: max(seen) for name, seen in rates.items()}
    value = best["SQLite"] / best["PostgreSQL"]
    figures = ", ".join(f"{name} {rate:.1f} trials/s" for name, rate in best.items())
    what = f"wall time per trial on PostgreSQL against SQLite at concurrency {CONCURRENCY}"
    return [Ratio(what, value, f"<= {MOST}", value <= MOST, figures)]

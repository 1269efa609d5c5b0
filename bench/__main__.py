"""`python -m bench [NAME…]`: run the benchmarks and say which ratios hold.

Exit 1 when one does not. Figures go to bench/results/, which is not kept in git.
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from bench import audit, database, dialect, queues, speed
from bench.speed import Ratio

BENCHES = {
    **speed.BENCHES,
    "trials-v0": dialect.trials_of_v0,
    "describe": dialect.describe,
    "database": database.postgres_against_sqlite,
    **queues.BENCHES,
    **audit.BENCHES,
}
GROUPS = {"queues": [*queues.BENCHES], "audit": [*audit.BENCHES]}
"""Short for several."""
RESULTS = Path(__file__).parent / "results"


def main() -> int:
    asked = sys.argv[1:] or list(BENCHES)
    names = [one for name in asked for one in GROUPS.get(name, [name])]
    if unknown := [name for name in names if name not in BENCHES]:
        print(
            f"error: no bench {unknown[0]!r}. hint: {', '.join([*BENCHES, *GROUPS])}",
            file=sys.stderr,
        )
        return 2
    ratios: list[Ratio] = []
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        ratios += BENCHES[name]()
    for ratio in ratios:
        state = "holds" if ratio.holds else "MISSED"
        print(f"{state:7} {ratio.what}: {ratio.value:.2f} ({ratio.wanted}); {ratio.figures}")
    RESULTS.mkdir(exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    (RESULTS / f"{stamp}.json").write_text(
        json.dumps([ratio.__dict__ for ratio in ratios], indent=2)
    )
    return 0 if all(ratio.holds for ratio in ratios) else 1


sys.exit(main())

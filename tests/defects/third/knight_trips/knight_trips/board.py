"""Squares and knight's moves."""

from collections import deque
from functools import cache

FILES = "abcdefgh"
SQUARES = [file + str(rank) for rank in range(1, 9) for file in FILES]
JUMPS = [(1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)]


@cache
def distances(start: str) -> dict[str, int]:
    """How many moves each square is away from `start`."""
    away = {start: 0}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        file, rank = FILES.index(here[0]), int(here[1])
        for right, up in JUMPS:
            x, y = file + right, rank + up
            if 0 <= x < 8 and 1 <= y <= 8 and (there := FILES[x] + str(y)) not in away:
                away[there] = away[here] + 1
                queue.append(there)
    return away

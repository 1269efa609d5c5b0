"""What was prepared, laid out where it was filled in: folders of our own, links to its files.

Libraries make lock files and temporary files beside what they read, even offline. So the
folders can be written and vanish with the sandbox, and the files lie on a mount that is
read-only. Locks are left out: to take one is to write it. Without a sandbox nothing is
mounted, and the cache itself is used.
"""

import os
from contextlib import suppress
from pathlib import Path


def lay_out(kept: str, cache: str) -> None:
    for parent, folders, files in os.walk(kept):
        there = Path(parent)
        here = cache / there.relative_to(kept)
        here.mkdir(parents=True, exist_ok=True)
        for name in [*files, *(f for f in folders if (there / f).is_symlink())]:
            if not name.endswith(".lock"):
                with suppress(FileExistsError):
                    (here / name).symlink_to(there / name)

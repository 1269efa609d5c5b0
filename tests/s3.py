"""An S3 server on loopback, in a process of its own: moto's, spoken to over HTTP."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

KEY, SECRET = "AKIATESTER", "s3cr3t/k3y+of=tests"


@dataclass
class S3:
    endpoint: str
    numbers: Iterator[int] = field(default_factory=count)

    @property
    def variables(self) -> dict[str, str]:
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
        }

    def new_bucket(self) -> str:
        name = f"bucket{next(self.numbers)}"
        self.ask("PUT", f"/{name}")
        return name

    def ask(self, method: str, path: str) -> bytes:
        """A request by other means than the code under test."""
        request = urllib.request.Request(
            f"{self.endpoint}{path}",
            method=method,
            headers={"Authorization": f"AWS4-HMAC-SHA256 Credential={KEY}/x/us-east-1/s3/x"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()


@contextmanager
def serve_s3() -> Iterator[S3]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    child = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    try:
        wait_for(port)
        yield S3(f"http://127.0.0.1:{port}")
    finally:
        child.kill()
        child.wait()


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)

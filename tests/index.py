"""A package index on loopback, and packages to put on it: wheels, and sources that build alone."""

import base64
import hashlib
import io
import tarfile
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support import EXAMPLES

Files = dict[str, str | bytes]


def metadata(name: str, version: str, requires: tuple[str, ...] = ()) -> str:
    needed = "".join(f"Requires-Dist: {each}\n" for each in requires)
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}"


def files_of_example(name: str) -> Files:
    """The package of an example, as its wheel would hold it."""
    root = EXAMPLES / name
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted((root / name).rglob("*.py"))
    }


def installed_files(
    name: str, version: str, files: Files, requires: tuple[str, ...] = ()
) -> dict[str, bytes]:
    """What lies in site-packages once it is installed."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    all_files: Files = {
        **files,
        f"{info}/METADATA": metadata(name, version, requires),
        f"{info}/WHEEL": wheel,
    }
    content = {path: as_bytes(body) for path, body in all_files.items()}
    rows = [f"{path},{hash_of(body)},{len(body)}" for path, body in content.items()]
    content[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    return content


def make_wheel(
    name: str, version: str, files: Files, requires: tuple[str, ...] = ()
) -> tuple[str, bytes]:
    """A wheel's file name and content."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, body in installed_files(name, version, files, requires).items():
            archive.writestr(path, body)
    return f"{name.replace('-', '_')}-{version}-py3-none-any.whl", out.getvalue()


BACKEND = """
import io, os, pathlib, sys, zipfile
sys.path.insert(0, os.path.dirname(__file__))
from wheel_content import NAME, CONTENT

def get_requires_for_build_wheel(config_settings=None):
    return []

def build_wheel(folder, config_settings=None, metadata_directory=None):
{body}
    with zipfile.ZipFile(os.path.join(folder, NAME), "w") as made:
        for path, text in CONTENT.items():
            made.writestr(path, text.replace("@SEEN@", seen))
    return NAME
"""


def make_sdist(
    name: str,
    version: str,
    files: Files,
    requires: tuple[str, ...] = (),
    body: str = '    seen = ""',
) -> tuple[str, bytes]:
    """A source distribution that needs nothing to be built; `body` runs while it is."""
    content = {
        path: as_bytes(text).decode()
        for path, text in installed_files(name, version, files, requires).items()
    }
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    del content[f"{info}/RECORD"]
    content[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*content, f"{info}/RECORD"])
    wheel = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    project = (
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        f'[project]\nname = "{name}"\nversion = "{version}"\n'
    )
    parts = {
        "PKG-INFO": metadata(name, version, requires),
        "pyproject.toml": project,
        "backend.py": BACKEND.replace("{body}", body),
        "wheel_content.py": f"NAME = {wheel!r}\nCONTENT = {content!r}\n",
    }
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for path, text in parts.items():
            entry = tarfile.TarInfo(f"{name.replace('-', '_')}-{version}/{path}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return f"{name.replace('-', '_')}-{version}.tar.gz", out.getvalue()


def as_bytes(body: str | bytes) -> bytes:
    return body.encode() if isinstance(body, str) else body


def hash_of(body: bytes) -> str:
    code = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
    return f"sha256={code}"


@dataclass
class Index:
    """`/OWNER/simple/NAME/` pages; `refuse` answers for an owner with a status of its own."""

    port: int = 0
    packages: dict[tuple[str, str], dict[str, bytes]] = field(default_factory=dict)
    refuse: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    delay_seconds: float = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{{owner}}/simple/"

    def of(self, owner: str) -> str:
        return self.url.replace("{owner}", owner)

    def add(self, owner: str, name: str, package: tuple[str, bytes]) -> None:
        self.packages.setdefault((owner, name), {})[package[0]] = package[1]

    def answer(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        time.sleep(self.delay_seconds)
        match path.strip("/").split("/"):
            case [owner, *_] if owner in self.refuse:
                return self.refuse[owner], b"no"
            case [owner, "simple", name] if (owner, name) in self.packages:
                links = (
                    f'<a href="/{owner}/files/{name}/{each}'
                    f'#sha256={hashlib.sha256(body).hexdigest()}">{each}</a>'
                    for each, body in self.packages[owner, name].items()
                )
                return 200, f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>".encode()
            case [owner, "files", name, file]:
                return 200, self.packages[owner, name][file]
            case _:
                return 404, b"not found"


@contextmanager
def serve_index() -> Iterator[Index]:
    index = Index()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, body = index.answer(self.path.partition("?")[0])
            self.send_response(status)
            kind = "text/html" if "/simple/" in self.path else "application/octet-stream"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    index.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

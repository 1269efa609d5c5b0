"""Start a host: `python -m envwright_host CONTROL_FD MEMORY_BYTES PROCESSES KIND [KEPT CACHE]`.

Before anything else it makes a listener on its own loopback and hands it out through
the control socket: that is how a sandbox without a network reaches the gateway, and the
proxy through which it may be let out. It lowers its own limits before environment code is
imported; they cannot be raised again. What was prepared in KEPT is laid out in CACHE.
"""

import gc
import os
import resource
import socket
import sys
import traceback

OPEN_FILES = 8192


def limit(memory_bytes: int, processes: int) -> None:
    if memory_bytes:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if counts_per_namespace():
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))


def counts_per_namespace() -> bool:
    """Whether this is a sandbox and the kernel counts its processes apart (since 5.14)."""
    with open("/proc/self/uid_map") as mapped:  # noqa: PTH123 - pathlib is not needed for this
        everybody = mapped.read().split()[-1] == "4294967295"
    numbers = os.uname().release.split(".")[:2]
    return not everybody and tuple(int(n) for n in numbers if n.isdecimal()) >= (5, 14)


def say_who_exits() -> None:
    """`os._exit` leaves no traceback of its own; say from where it was called."""
    leave, host = os._exit, os.getpid()

    def exit_aloud(status: int) -> None:
        if os.getpid() == host:
            sys.stderr.write(f"os._exit({status!r}) was called:\n")
            traceback.print_stack(file=sys.stderr)
            sys.stderr.flush()
        leave(status)

    os._exit = exit_aloud  # type: ignore[assignment]


def main() -> None:
    control_fd, memory_bytes, processes = (int(argument) for argument in sys.argv[1:4])
    control = socket.socket(fileno=control_fd)
    control.set_inheritable(False)
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    gateway = f"http://127.0.0.1:{listener.getsockname()[1]}"
    os.environ["OPENAI_BASE_URL"] = os.environ["PRIME_INFERENCE_URL"] = f"{gateway}/v1"
    os.environ["ANTHROPIC_BASE_URL"] = gateway
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        os.environ[name] = os.environ[name.lower()] = gateway
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"
    socket.send_fds(control, [b"L"], [listener.fileno()])
    listener.close()
    limit(memory_bytes, processes)
    say_who_exits()
    # A print of the environment's must not look like an answer: stdout is stderr here.
    os.dup2(2, 1)
    # An import leaves no garbage, and looking for some takes a fifth of its time.
    gc.disable()
    from envwright_host.cache import lay_out  # noqa: PLC0415 - after the limits are in force
    from envwright_host.server import serve  # noqa: PLC0415

    if sys.argv[5:]:
        lay_out(*sys.argv[5:7])

    serve(control, sys.argv[4])


if __name__ == "__main__":
    main()

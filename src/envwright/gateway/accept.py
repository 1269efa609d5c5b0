"""Connections from a listener that a sandbox made, accepted where it can do no harm.

The sandbox may keep a copy of the listener, and whether `accept` blocks is a property of
what they share: accepting in the event loop would let environment code stop it for ever.
So a thread accepts; the connections themselves are ours alone.
"""

import asyncio
import contextlib
import select
import socket
import threading
from collections.abc import Callable

Serve = Callable[[], asyncio.BaseProtocol]


def accept_connections(listener: socket.socket, serve: Serve) -> Callable[[], None]:
    """Serve every connection in the running loop; what is returned stops that."""
    if listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) != 1:
        raise OSError("it does not listen")
    loop = asyncio.get_running_loop()
    stopped = threading.Event()
    tasks: set[asyncio.Task[object]] = set()

    def take(connection: socket.socket) -> None:
        task = loop.create_task(loop.connect_accepted_socket(serve, connection))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    def accept() -> None:
        # Not select: it knows no file beyond the 1024th.
        ready = select.poll()
        ready.register(listener, select.POLLIN)
        while not stopped.is_set():
            try:
                connection, _ = listener.accept()
            except BlockingIOError:
                ready.poll(200)
                continue
            except OSError:
                return
            connection.setblocking(False)
            # Closed: the loop has ended, and with it the need for connections.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(take, connection)

    thread = threading.Thread(target=accept, name="gateway-accept", daemon=True)
    thread.start()

    def stop() -> None:
        stopped.set()
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()

    return stop

"""Serve the dashboard: a listening socket, an address with its token, and a browser that opens it."""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from ..core import BadInput, InterlockError
from .slow_clients import PunctualProtocol

PORT = 7717
TRIES = 20
"""Ports that are tried from the usual one upwards when no one asked for one."""

GRACE_S = 2


def open_socket(host: str, port: int | None) -> socket.socket:
    """A listening socket; the usual port or a free one near it, unless one is asked for."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    choices = [port] if port is not None else [*range(PORT, PORT + TRIES), 0]
    for choice in choices:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, choice))
        except OSError as error:
            listener.close()
            if error.errno == errno.EADDRINUSE and choice != choices[-1]:
                continue
            raise _cannot_listen(host, choice, error) from error
        listener.listen(128)
        return listener
    raise AssertionError("the last choice returns or raises")


def address(listener: socket.socket, token: str, host: str) -> str:
    """Where the dashboard is, with its token."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listener.getsockname()[1]}/?token={token}"


def serve_dashboard(app: ASGIApp, listener: socket.socket, on_ready: Callable[[], None] | None = None) -> None:
    """Serve until Ctrl-C. There is no log of requests: their addresses may hold the token."""
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=30,
        ws="none",
        http=PunctualProtocol,
    )
    server = uvicorn.Server(config)
    if on_ready is not None:
        threading.Thread(target=_when_ready, args=(server, on_ready), name="interlock-ready", daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listener])


def open_browser(url: str) -> None:
    """Show the page; where there is no browser, nothing happens."""
    import webbrowser

    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(url)


def _when_ready(server: uvicorn.Server, on_ready: Callable[[], None]) -> None:
    waiting = threading.Event()
    while not server.started:
        if server.should_exit or waiting.wait(0.02):
            return
    on_ready()


def _cannot_listen(host: str, port: int, error: OSError) -> InterlockError:
    if error.errno == errno.EADDRINUSE:
        return BadInput(f"port {port} is in use", todo="Choose another with --port, or leave --port out.")
    if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
        return BadInput(f"this machine has no address {host}", todo="Leave --host out to use 127.0.0.1.")
    return BadInput(f"port {port} of {host} cannot be used ({error.strerror})", todo="Choose another with --port.")

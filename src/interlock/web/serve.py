"""The dashboard as an ASGI application with its static files, and serving it: socket, address, browser."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gzip
import hashlib
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import uvicorn
from msgspec import Struct
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ..core import BadInput, InterlockError
from ..link import TIMEOUT_S, Requests
from .access import KNOWN, LOOPBACK, Access, on_error, on_http_error, on_mistake, refuse
from .routes import Routes
from .source import Source

PORT = 7717
TRIES = 20
"""Ports to try from the usual one upwards if none is given."""

GRACE_S = 2


def open_socket(host: str, port: int | None) -> socket.socket:
    """A listening socket on the given port, else on the usual one or a free one near it."""
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
    """The dashboard's address with its token."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listener.getsockname()[1]}/?token={token}"


def serve_dashboard(app: ASGIApp, listener: socket.socket, on_ready: Callable[[], None] | None = None) -> None:
    """Serve until Ctrl-C. Requests are not logged: their addresses may contain the token."""
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
    """Open the page in a browser, if there is one."""
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


REQUEST_S = 20.0
"""How long a request may take from the connection, or from its first byte, to its last."""

MOST_CONNECTIONS = 4096
"""Connections at one time; further ones are rejected at once."""


class PunctualProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Closes a connection whose request does not arrive in time. Responses, such as event streams, have no limit."""

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._expect()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete or self.cycle.more_body:
            self._expect()
        else:
            self._forget()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(REQUEST_S, self.transport.abort)

    def _forget(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None


def make_app(
    source: Source,
    token: str,
    *,
    hosts: Iterable[str] = LOOPBACK,
    once: set[str] | None = None,
    control_timeout: float = TIMEOUT_S,
) -> Access:
    """The pages and the API behind them, for those with the token."""
    controls = Requests(source, timeout=control_timeout, actor="dashboard")
    routes = Routes(source, controls)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        source.close()

    pages = Starlette(
        routes=[*routes.all(), *page_routes(load_assets(), source.resolve)],
        exception_handlers={InterlockError: on_error, HTTPException: on_http_error, Exception: on_mistake},
        lifespan=lifespan,
    )
    # Outermost, so that even the response to a bug passes through it.
    return Access(pages, token, hosts, once)


FOLDER = Path(__file__).parent / "static"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class Asset(Struct, frozen=True):
    """One static file, plain and compressed."""

    kind: str
    content: bytes
    packed: bytes
    tag: str

    def respond(self, request: Request) -> Response:
        headers = {"cache-control": "no-cache", "etag": self.tag, "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self.packed, media_type=self.kind, headers=headers | {"content-encoding": "gzip"})
        return Response(self.content, media_type=self.kind, headers=headers)


def load_assets() -> dict[str, Asset]:
    """Every file of the page by its name."""
    return {path.name: _load(path) for path in sorted(FOLDER.iterdir()) if path.suffix in TYPES}


def page_routes(assets: dict[str, Asset], resolve: Callable[[str], str]) -> list[Route]:
    """The page under all its addresses, and its files. A run may be addressed by name or prefix."""

    async def page(request: Request) -> Response:
        return assets["index.html"].respond(request)

    async def run(request: Request) -> Response:
        ref, tab = request.path_params["ref"], request.path_params.get("tab")
        run_id = await run_in_threadpool(resolve, ref) if request.scope[KNOWN] else ref
        if run_id == ref:
            return await page(request)
        return RedirectResponse(f"/runs/{quote(run_id)}" + (f"/{quote(tab)}" if tab else ""))

    async def file(request: Request) -> Response:
        asset = assets.get(request.path_params["name"])
        return asset.respond(request) if asset is not None else refuse(404, "there is no such file")

    async def not_found(request: Request) -> Response:
        answer = assets["index.html"].respond(request)
        answer.status_code = 404
        return answer

    return [
        *(Route(path, page) for path in ("/", "/incidents", "/incidents/{incident_id}")),
        *(Route(path, run) for path in ("/runs/{ref}", "/runs/{ref}/{tab}")),
        Route("/static/{name}", file),
        Route("/{rest:path}", not_found),
    ]


def _load(path: Path) -> Asset:
    content = path.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    return Asset(TYPES[path.suffix], content, gzip.compress(content, 9, mtime=0), tag)

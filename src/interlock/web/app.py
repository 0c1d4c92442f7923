"""The dashboard as one ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from ..core import InterlockError
from ..link import TIMEOUT_S, Requests
from .access import LOOPBACK, Access
from .assets import load_assets, page_routes
from .responses import on_error, on_http_error, on_mistake
from .routes import Routes
from .source import Source


def make_app(
    source: Source,
    token: str,
    *,
    hosts: Iterable[str] = LOOPBACK,
    once: set[str] | None = None,
    control_timeout: float = TIMEOUT_S,
) -> Access:
    """The pages and the interface behind them, for whoever has the token."""
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
    # Outside of everything, so that even an answer to a bug in Interlock has passed it.
    return Access(pages, token, hosts, once)

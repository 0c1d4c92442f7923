"""The page's own files: read once, named in a table, so that no path can lead anywhere else."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from .access import KNOWN, refuse

FOLDER = Path(__file__).parent / "static"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class Asset(Struct, frozen=True):
    """One file, also in the size in which it travels."""

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


def load_assets(folder: Path = FOLDER) -> dict[str, Asset]:
    """Every file of the page by its name."""
    return {path.name: _load(path) for path in sorted(folder.iterdir()) if path.suffix in TYPES}


def page_routes(assets: dict[str, Asset], resolve: Callable[[str], str]) -> list[Route]:
    """The page under every address that it knows, and its files. A run may be addressed as in a command."""

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

    async def nowhere(request: Request) -> Response:
        answer = assets["index.html"].respond(request)
        answer.status_code = 404
        return answer

    return [
        *(Route(path, page) for path in ("/", "/incidents", "/incidents/{incident_id}")),
        *(Route(path, run) for path in ("/runs/{ref}", "/runs/{ref}/{tab}")),
        Route("/static/{name}", file),
        Route("/{rest:path}", nowhere),
    ]


def _load(path: Path) -> Asset:
    content = path.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    return Asset(TYPES[path.suffix], content, gzip.compress(content, 9, mtime=0), tag)

"""Access control before any request is handled; and how every route responds, errors included."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request, cookie_parser
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..core import BadInput, InterlockError, from_json, open_regular
from ..journal import write_durably

ONCE = ("host", "origin")
"""Headers that must not be repeated: two parsers might use different ones."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("", "0.0.0.0", "::")
SAFE_METHODS = ("GET", "HEAD")
PROTECTED = ("/api/", "/metrics")
"""Paths with data. The page itself has none and is served to everyone who can reach the address."""

HEADER = "x-interlock"
"""A header that no form and no foreign page can set without a CORS preflight."""

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}

KNOWN = "interlock.known"
"""The scope key that says whether a request had the token: pages reveal run ids to nobody else."""

COOKIE_S = 30 * 86_400


class Access:
    """Guards every request to the dashboard.

    `once` are one-time replacements of the token, for addresses that others may see.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str] = LOOPBACK, once: set[str] | None = None) -> None:
        self._app, self._token = app, token
        self._once = once if once is not None else set()
        self._hosts = frozenset(host.lower() for host in hosts)
        self.cookie = cookie_name(token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        answer = self._answer(scope) or self._app
        await answer(scope, receive, send_guarded)

    def _answer(self, scope: Scope) -> Response | None:
        """The response that refuses or redirects a request; None allows it."""
        headers = Headers(scope=scope)
        method, path = scope["method"], scope["path"]
        if any(len(headers.getlist(name)) > 1 for name in ONCE):
            return refuse(400, "a header that may appear only once is repeated", "Send Host and Origin once.")
        if host_name(headers.get("host", "")) not in self._hosts:
            return refuse(
                400, "this is not the address of the dashboard", "Open the address that interlock web printed."
            )
        protected = path.startswith(PROTECTED)
        if not self._is_own_origin(headers, protected=protected or method not in SAFE_METHODS):
            return refuse(403, "the request comes from another site", "Use the dashboard's own page.")
        given = QueryParams(scope["query_string"]).get("token")
        if given is not None and method in SAFE_METHODS and not protected:
            return self._accept_token(scope, given)
        by_cookie = self._is_token(cookie_parser(headers.get("cookie", "")).get(self.cookie))
        by_header = self._is_token(_bearer(headers.get("authorization", "")))
        if protected and not (by_cookie or by_header):
            return refuse(
                401, "the token is missing or wrong", "Open the address with the token that interlock web printed."
            )
        scope[KNOWN] = by_cookie or by_header
        if method not in SAFE_METHODS:
            return _refuse_change(headers, needs_origin=not by_header)
        return None

    def _accept_token(self, scope: Scope, given: str) -> Response:
        """Move the token from the address into a cookie."""
        rest = [(k, v) for k, v in QueryParams(scope["query_string"]).multi_items() if k != "token"]
        # Two leading slashes would name another host.
        target = "/" + scope["path"].lstrip("/\\") + (f"?{urlencode(rest)}" if rest else "")
        response = RedirectResponse(target, status_code=303)
        if self._is_token(given) or given in self._once:
            self._once.discard(given)
            response.set_cookie(self.cookie, self._token, COOKIE_S, path="/", httponly=True, samesite="strict")
        return response

    def _is_own_origin(self, headers: Headers, *, protected: bool) -> bool:
        origin = headers.get("origin")
        if origin is not None:
            parts = urlsplit(origin)
            return parts.scheme in ("http", "https") and parts.netloc.lower() == headers.get("host", "").lower()
        return not protected or headers.get("sec-fetch-site", "none") in ("same-origin", "none")

    def _is_token(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())


def refuse(status: int, error: str, todo: str = "") -> JSONResponse:
    """An error response: what happened, and what to do."""
    return JSONResponse({"error": error, "todo": todo}, status_code=status)


def cookie_name(token: str) -> str:
    """Cookies ignore ports, so each dashboard on a machine needs its own name."""
    return f"interlock-{hashlib.sha256(token.encode()).hexdigest()[:8]}"


def host_name(host: str) -> str:
    """The name in a Host header, without its port; empty if invalid."""
    try:
        return (urlsplit(f"//{host}").hostname or "") if not set(host) & set("/\\@?# ") else ""
    except ValueError:
        return ""


def _bearer(authorization: str) -> str | None:
    kind, _, token = authorization.partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _refuse_change(headers: Headers, *, needs_origin: bool) -> Response | None:
    """Refuse a change unless it comes from our own page, or from a program with the token."""
    if headers.get(HEADER) != "1":
        return refuse(403, "the header X-Interlock: 1 is missing", "Add it.")
    if needs_origin and headers.get("origin") is None:
        return refuse(403, "the request does not say where it comes from", "Send Origin, or the token as a Bearer.")
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return refuse(415, "the body must be JSON", "Send Content-Type: application/json.")
    return None


NAME = ".web-token"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{40,}")


def load_token(store: Path, *, new: bool = False) -> str:
    """The token of a store's dashboard; created if there is none or `new` is set."""
    path = store / NAME
    try:
        if not new and (known := _read(path)) is not None:
            return known
        store.mkdir(mode=0o700, parents=True, exist_ok=True)
        token = secrets.token_urlsafe(32)
        write_durably(path, token.encode() + b"\n")
    except OSError as error:
        raise InterlockError(
            f"cannot store the dashboard's token ({error.strerror})", where=str(path), todo="Set store.dir."
        ) from error
    return token


def _read(path: Path) -> str | None:
    """The token, if its file is private to this user; otherwise it is replaced."""
    try:
        with open_regular(path) as file:
            about = os.fstat(file.fileno())
            text = file.read(200).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    return text if about.st_uid == os.getuid() and not about.st_mode & 0o077 and _TOKEN.fullmatch(text) else None


MAX_BODY = 64 * 1024
STATUS = {2: 400, 3: 404, 4: 409, 5: 504}
"""HTTP status by exit status of an error."""

MOST, DIGITS = 2**53, 16
"""The largest exact integer in JavaScript, and how many digits it has."""

Body = TypeVar("Body")


def to_json(value: object, status: int = 200) -> Response:
    """Any value of ours as a JSON document."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


async def on_error(_: Request, error: Exception) -> Response:
    """Respond to an InterlockError."""
    assert isinstance(error, InterlockError)
    what = f"{error.where}: {error.what}" if error.where else error.what
    return refuse(STATUS.get(error.exit_status, 409), what, error.todo)


async def on_http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refuse(error.status_code, error.detail)


async def on_mistake(_: Request, error: Exception) -> Response:
    """Respond to a bug in Interlock; the log has the details."""
    return refuse(500, f"internal error in the dashboard ({type(error).__name__})", "See its terminal for details.")


async def read_body(request: Request, kind: type[Body]) -> Body:
    """The JSON body of a request; BadInput if it is invalid or too long."""
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > MAX_BODY:
            raise BadInput(f"the body has more than {MAX_BODY:,} bytes")
    try:
        return from_json(data, kind)
    except msgspec.DecodeError as error:
        raise BadInput(f"the body cannot be parsed: {error}") from None


def number_from(request: Request, name: str, default: int | None = None, most: int = MOST) -> int | None:
    """An integer of the query; BadInput for anything else."""
    text = request.query_params.get(name)
    if text is None or text == "":
        return default
    number = to_number(text, most)
    if number is None:
        raise BadInput(f"{name}={text[:40]!r} must be a number from 0 to {most}")
    return number


def to_number(text: str, most: int = MOST) -> int | None:
    """An integer from 0 to `most`; None for anything else."""
    if not text.isdecimal() or len(text) > DIGITS or int(text) > most:
        return None
    return int(text)

"""How every route answers: JSON, and errors that say what happened and what to do."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ..core import BadInput, InterlockError, from_json
from .access import refuse

MAX_BODY = 64 * 1024
STATUS = {2: 400, 3: 404, 4: 409, 5: 504}
"""An error's exit status, and what that is in HTTP."""

MOST, DIGITS = 2**53, 16
"""The largest number that a page can say exactly, and how many digits it has."""

Body = TypeVar("Body")


def to_json(value: object, status: int = 200) -> Response:
    """Any value of ours as a JSON document."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


async def on_error(_: Request, error: Exception) -> Response:
    """An InterlockError in HTTP."""
    assert isinstance(error, InterlockError)
    what = f"{error.where}: {error.what}" if error.where else error.what
    return refuse(STATUS.get(error.exit_status, 409), what, error.todo)


async def on_http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refuse(error.status_code, error.detail)


async def on_mistake(_: Request, error: Exception) -> Response:
    """A bug in Interlock; what it was is in the log."""
    return refuse(500, f"internal error in the dashboard ({type(error).__name__})", "See its terminal for details.")


async def read_body(request: Request, kind: type[Body]) -> Body:
    """The JSON of a request; BadInput if it is none or too long."""
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
    """A whole number of the query; BadInput for anything else."""
    text = request.query_params.get(name)
    if text is None or text == "":
        return default
    number = to_number(text, most)
    if number is None:
        raise BadInput(f"{name}={text[:40]!r} must be a number from 0 to {most}")
    return number


def to_number(text: str, most: int = MOST) -> int | None:
    """A whole number from 0 to `most`; None for anything else, however long."""
    if not text.isdecimal() or len(text) > DIGITS or int(text) > most:
        return None
    return int(text)

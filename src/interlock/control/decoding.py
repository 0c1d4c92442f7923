"""Decodes messages, and tells apart those that are valid, malformed, or unanswerable."""

from __future__ import annotations

import datetime
import re
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Struct

from ..core import from_json, from_plain
from .messages import PAYLOADS, Ack, Command, ControlMessage, CurrentMessage, Request, Target

MAX_MESSAGE: Final = 262_144
"""The most bytes of a message. Commands have a few hundred; longer ones are a mistake or an attack."""

_ECHO: Final = 128
"""Characters of an unknown command that are echoed."""

NOT_A_TIME: Final = "timestamp must be a time as in RFC 3339, for example 2026-01-31T12:00:00Z"

_UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)

_fingerprinter = msgspec.json.Encoder(order="deterministic")


class UnreadableMessage(Struct, frozen=True):
    """A message without a readable request_id, which cannot be answered."""

    problem: str


class Malformed(Struct, frozen=True):
    """A malformed request with a request_id, so that it can be answered; its other fields if readable."""

    request_id: str
    problem: str
    command: str | None = None
    target: Target | None = None


class NotForUs(Struct, frozen=True):
    """An ACK or a RESULT: an endpoint ignores them."""

    type: str


def decode_request(data: bytes, *, strict_ids: bool = False) -> Request | Malformed | UnreadableMessage | NotForUs:
    """Decode one message of loop:control, for a run."""
    if len(data) > MAX_MESSAGE:
        return UnreadableMessage(f"longer than {MAX_MESSAGE:,} bytes")
    try:
        request = from_json(data, ControlMessage)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return _explain(data)
    if not isinstance(request, Request):
        return NotForUs("ACK" if isinstance(request, Ack) else "RESULT")
    problem = _find_problem(request, strict_ids)
    if problem is None:
        return request
    return Malformed(request.request_id, problem, request.command, request.target)


def decode_control(data: bytes) -> ControlMessage | None:
    """Decode one message of loop:control, for a controller; None if it is not one."""
    message: ControlMessage | None = _decode(data, ControlMessage)
    return message


def decode_current(data: bytes) -> CurrentMessage | None:
    """One message of loop:current, also of older writers; None if it is not one."""
    message: CurrentMessage | None = _decode(data, CurrentMessage)
    return message


def _decode(data: bytes, kind: Any) -> Any:
    try:
        return from_json(data, kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def fingerprint_of(request: Request) -> bytes:
    """Encode command, target and payload, to notice a request_id that is reused for another request."""
    return _fingerprinter.encode((request.command, request.target, request.payload))


def _find_problem(request: Request, strict_ids: bool) -> str | None:
    """The first problem that the types do not catch; None if there is none."""
    if strict_ids and not _UUID4.fullmatch(request.request_id):
        return "request_id must be a UUID v4 (control.strict_ids)"
    try:
        # Leap seconds are valid.
        datetime.datetime.fromisoformat(request.timestamp.upper().replace(":60", ":59"))
    except ValueError:
        return NOT_A_TIME
    if not request.payload and not _needs_payload(request.command):
        return None
    try:
        from_plain(request.payload, PAYLOADS[request.command])
    except msgspec.ValidationError as error:
        return f"payload of {request.command}: {error}"
    return None


@cache
def _needs_payload(command: Command) -> bool:
    """Whether a command has required fields."""
    return any(field.required for field in msgspec.structs.fields(PAYLOADS[command]))


def _explain(data: bytes) -> Malformed | UnreadableMessage | NotForUs:
    """Why a message is not a request, with the fields that can be echoed."""
    try:
        plain = from_json(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        return UnreadableMessage(f"not JSON: {error}")
    if not isinstance(plain, dict):
        return UnreadableMessage("not a JSON object")
    request_id = plain.get("request_id")
    if not isinstance(request_id, str) or not 1 <= len(request_id) <= 128:
        return UnreadableMessage("request_id must be a string of 1 to 128 characters")
    if plain.get("type") in ("ACK", "RESULT"):
        return NotForUs(plain["type"])
    command = plain.get("command")
    try:
        target = from_plain(plain.get("target"), Target)
    except msgspec.ValidationError:
        target = None
    return Malformed(request_id, _say_why(plain), command[:_ECHO] if isinstance(command, str) else None, target)


def _say_why(plain: dict[str, object]) -> str:
    try:
        from_plain(plain, ControlMessage)
    except msgspec.ValidationError as error:
        return NOT_A_TIME if "`$.timestamp`" in str(error) else str(error)
    return "malformed"

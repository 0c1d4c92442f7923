"""Which requests of a fenced run are its client's own: those of a conversation, with the worthless key."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

from .client_connection import ClientRequest
from .environment import Proxied

_MODEL = r"models/[\w.:-]+"
ENDPOINTS = {
    "anthropic": re.compile(rf"POST v1/(messages(/count_tokens)?|complete)|(GET|HEAD) (v1/(models|{_MODEL}))?"),
    "openai": re.compile(
        r"POST (v1/)?(chat/completions|completions|responses(/compact)?|embeddings)"
        rf"|(GET|HEAD) ((v1/)?(models|{_MODEL}))?"
    ),
    "gemini": re.compile(
        rf"POST v1(alpha|beta)?/{_MODEL}:((stream)?[gG]enerateContent|countTokens|(batchE|e)mbedContents?)"
        rf"|(GET|HEAD) (v1(alpha|beta)?/(models|{_MODEL}))?"
    ),
}
"""Methods and paths of each API: no files, batches, keys or anything else that stores what is sent."""

CREDENTIAL = re.compile(r"key|token|auth|cookie|secret|credential|password", re.I)
"""In the name of a header or of a parameter that could name an account."""

NO_CREDENTIALS = frozenset((b"idempotency-key", b"x-goog-api-client"))


def why_refused(proxied: Proxied, api: str, rest: str, asked: ClientRequest) -> str:
    """Why a request does not pass; empty if it does. `rest` is its path below the API's address.

    An API whose client is logged in by a file gets that client's own credentials; any other gets the worthless key.
    """
    path, _, query = rest.partition("?")
    if not ENDPOINTS[api].fullmatch(f"{asked.method} {path.rstrip('/')}"):
        return f"{asked.method} /{path} is no request of a conversation"
    keys = proxied.keys.get(api, {})
    given = [value.decode("latin-1") for name, value in asked.headers if _is_credential(name)]
    given += [value for name, value in parse_qsl(query, keep_blank_values=True) if CREDENTIAL.search(name)]
    foreign = [value for value in given if value.strip().removeprefix("Bearer ").strip() not in keys]
    if not keys and api in proxied.login:
        return ""
    if foreign:
        return "it has a key that is not this run's"
    return "it lacks this run's key" if keys and not given and path.strip("/") else ""


def _is_credential(name: bytes) -> bool:
    lower = name.lower()
    return lower not in NO_CREDENTIALS and CREDENTIAL.search(lower.decode("latin-1")) is not None

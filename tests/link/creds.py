"""A NATS account with a user, made here: what `nsc` would make, in a few lines."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import nkeys


def make_account(place: Path) -> tuple[Path, Path]:
    """A server configuration that knows one operator and one account, and the credentials file of its user."""
    operator, account, system, user = (
        make_pair(kind)
        for kind in (nkeys.PREFIX_BYTE_OPERATOR, *[nkeys.PREFIX_BYTE_ACCOUNT] * 2, nkeys.PREFIX_BYTE_USER)
    )
    limits = {
        "subs": -1,
        "data": -1,
        "payload": -1,
        "imports": -1,
        "exports": -1,
        "wildcards": True,
        "conn": -1,
        "leaf": -1,
    }
    streams = {"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}
    tokens = {
        name(account): sign(operator, account, {"type": "account", "version": 2, "limits": {**limits, **streams}}),
        name(system): sign(operator, system, {"type": "account", "version": 2, "limits": limits}),
    }
    root = sign(operator, operator, {"type": "operator", "version": 2, "system_account": name(system)})
    preload = "\n".join(f"  {key}: {token}" for key, token in tokens.items())
    config = place / "server.conf"
    config.write_text(
        f"operator: {root}\nsystem_account: {name(system)}\nresolver: MEMORY\nresolver_preload: {{\n{preload}\n}}\n"
    )
    mine = sign(account, user, {"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1})
    creds = place / "user.creds"
    creds.write_text(
        f"-----BEGIN NATS USER JWT-----\n{mine}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed.decode()}\n------END USER NKEY SEED------\n"
    )
    return config, creds


def make_pair(kind: int) -> Any:
    return nkeys.from_seed(nkeys.encode_seed(os.urandom(32), kind))


def name(pair: Any) -> str:
    return bytes(pair.public_key).decode()


def sign(issuer: Any, subject: Any, claims: dict[str, object]) -> str:
    body: dict[str, object] = {
        "iat": int(time.time()),
        "iss": name(issuer),
        "name": "test",
        "sub": name(subject),
        "nats": claims,
    }
    digest = hashlib.new("sha512_256", json.dumps(body).encode()).digest()
    body["jti"] = base64.b32encode(digest).decode().rstrip("=")
    head = encode({"typ": "JWT", "alg": "ed25519-nkey"})
    message = f"{head}.{encode(body)}"
    signature = base64.urlsafe_b64encode(issuer.sign(message.encode())).decode().rstrip("=")
    return f"{message}.{signature}"


def encode(value: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

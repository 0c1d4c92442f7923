"""The configuration of a hub's server: each trusted key may do what its roles need; nobody else may connect."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ..core import KeyRole, TrustedKey
from .hub_session import RUNS_STREAM, STREAM

STREAMS = (STREAM, RUNS_STREAM)

READ = tuple(
    subject
    for name in STREAMS
    for subject in (f"$JS.API.STREAM.INFO.{name}", f"$JS.API.STREAM.MSG.GET.{name}", f"$JS.API.DIRECT.GET.{name}")
)
"""Reading without a consumer. Nobody may delete or purge, and only an owner may create a stream."""

PUBLISH: dict[KeyRole, tuple[str, ...]] = {
    "viewer": READ,
    "controller": (*READ, "loop:control.*"),
    "owner": (
        *READ,
        "loop:control.*",
        "loop:current.*",
        "loop:record.*",
        "loop:run.*",
        "_INBOX.>",
        *(f"$JS.API.STREAM.{verb}.{name}" for verb in ("CREATE", "UPDATE") for name in STREAMS),
    ),
}

SUBSCRIBE: dict[KeyRole, tuple[str, ...]] = {
    "viewer": (),
    "controller": ("loop:control.*",),
    "owner": ("stored:control.*",),
}


def server_config(keys: Iterable[TrustedKey], listen: str = "0.0.0.0:4222", store: str = "./jetstream") -> str:
    """A configuration for nats-server 2.12 or newer."""
    users = "\n".join(_user(key) for key in keys)
    return f"""# Made by: interlock hub config. Who may connect, and what each key may do.
listen: {_quote(listen)}
jetstream {{
  store_dir: {_quote(store)}
  sync_interval: always
}}
authorization {{
  users: [
{users}
  ]
}}
"""


def _user(key: TrustedKey) -> str:
    publish = _joined(subject for role in key.roles for subject in PUBLISH[role])
    # Only its own replies.
    hear = _joined((f"_INBOX.{key.public}.>", *(subject for role in key.roles for subject in SUBSCRIBE[role])))
    name = " ".join(key.name.split())
    return (
        f"    # {name}: {', '.join(key.roles)}\n"
        f"    {{ nkey: {key.public}, permissions: {{ publish: {{ allow: [{publish}] }},"
        f" subscribe: {{ allow: [{hear}] }} }} }}"
    )


def _joined(subjects: Iterable[str]) -> str:
    return ", ".join(_quote(subject) for subject in dict.fromkeys(subjects))


def _quote(text: str) -> str:
    return msgspec.json.encode(text).decode()

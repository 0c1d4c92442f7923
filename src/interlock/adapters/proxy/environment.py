"""Environment: which model APIs a command uses, how to redirect it to us, and a plain relay without an owner."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import Struct

from ...core import own_command

LOOPBACK = "127.0.0.1"
OPENAI = "openai"


class Proxied(Struct, frozen=True):
    """A run's proxy: the APIs behind it by name, and the token that a request needs.

    `keys` maps, for each API, the agent's worthless keys to the real ones. `fenced`: only requests of a conversation
    pass, with these keys; the APIs in `login` get the credentials that the client has in a file.
    """

    upstreams: dict[str, str]
    token: str
    keys: dict[str, dict[str, str]] = {}
    fenced: bool = False
    login: tuple[str, ...] = ()

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of these APIs, each with its port."""
        parts = [urlsplit(url) for url in self.upstreams.values()]
        return tuple(f"{_host(one)}:{one.port or (80 if one.scheme == 'http' else 443)}" for one in parts)


class Api(Struct, frozen=True):
    """A provider's API: its default address, and the variables for its address and keys."""

    name: str
    url: str
    base_urls: tuple[str, ...]
    keys: tuple[str, ...]


APIS: tuple[Api, ...] = (
    Api(
        "anthropic",
        "https://api.anthropic.com",
        ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"),
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    ),
    Api(OPENAI, "https://api.openai.com/v1", ("OPENAI_BASE_URL", "OPENAI_API_BASE"), ("OPENAI_API_KEY",)),
    Api(
        "gemini",
        "https://generativelanguage.googleapis.com",
        ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_BASE"),
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
)


def find_upstreams(environment: Mapping[str, str], *, every: bool = False, keys: bool = True) -> dict[str, str]:
    """The APIs that a command with this environment uses, by name; with `every`, all known ones.

    An API is used if its address is in the environment, or its key unless `keys` is False; log-ins do not count.
    """
    found = {}
    for api in APIS:
        given = next((value for name in api.base_urls if (value := environment.get(name, "").strip())), "")
        if given or every or (keys and any(environment.get(name) for name in api.keys)):
            found[api.name] = (given or api.url).rstrip("/")
    return found


def stand_ins(environment: Mapping[str, str], upstreams: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """For each API in use, a worthless key for each real one in the environment."""
    from secrets import token_urlsafe

    return {
        api.name: {f"interlock-{token_urlsafe(24)}": value for value in found}
        for api in APIS
        if api.name in upstreams and (found := {environment[name] for name in api.keys if environment.get(name)})
    }


def replace_keys(environment: Mapping[str, str], proxied: Proxied) -> dict[str, str]:
    """The changes to the environment that replace all keys."""
    worthless = {key: given for keys in proxied.keys.values() for given, key in keys.items()}
    return {name: worthless[value] for name, value in environment.items() if value in worthless}


def address(proxied: Proxied, port: int, api: str) -> str:
    """The proxy's address for an API."""
    return f"http://{LOOPBACK}:{port}/{proxied.token}/{api}"


def redirect_environment(environment: Mapping[str, str], proxied: Proxied, port: int) -> dict[str, str]:
    """The changes to the environment that make the command use the proxy on this port."""
    changes = {
        variable: address(proxied, port, api.name)
        for api in APIS
        if api.name in proxied.upstreams
        for variable in api.base_urls
    }
    for name in ("NO_PROXY", "no_proxy"):
        # Never reach us through another proxy.
        listed = [one for one in environment.get(name, "").split(",") if one]
        changes[name] = ",".join(dict.fromkeys((*listed, LOOPBACK, "localhost")))
    return changes


def _host(parts: SplitResult) -> str:
    name = parts.hostname or ""
    return f"[{name}]" if ":" in name else name


def relay_without_owner(listener: socket.socket, proxied: Proxied | None, gate: Path) -> subprocess.Popen[bytes] | None:
    """Start the plain relay on the run's own socket; the caller ends it."""
    if proxied is None:
        return None
    number = listener.fileno()
    command = own_command("interlock.adapters.proxy.passthrough", str(number), str(gate))
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(number,),
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(proxied) + b"\n")
    process.stdin.close()
    return process

"""Hosts that a fenced run may reach: names with an optional port, and `*.name` for every name below one."""

from __future__ import annotations

import ipaddress
import re

from msgspec import Struct

PORTS = (443, 80)
"""The ports of a host without one."""

LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")

DEFAULT_HOSTS = (
    "pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "registry.yarnpkg.com", "index.crates.io",
    "static.crates.io", "crates.io", "proxy.golang.org", "sum.golang.org", "rubygems.org", "repo.maven.apache.org",
    "deb.debian.org", "github.com", "api.github.com", "codeload.github.com", "*.githubusercontent.com", "gitlab.com",
    "bitbucket.org", "codeberg.org",
)  # fmt: skip
"""Package registries and git hosts."""


class HostPattern(Struct, frozen=True):
    """One entry: a name, whether it matches everything `below` that name, and a port if only one is meant."""

    name: str
    below: bool = False
    port: int | None = None

    def allows(self, host: str, port: int) -> bool:
        fits = host.endswith(f".{self.name}") if self.below else host == self.name
        return fits and (port in PORTS if self.port is None else port == self.port)


class AllowedHosts(Struct, frozen=True):
    """The allow-list. `denied` hosts must be reached another way: the model's API."""

    patterns: tuple[HostPattern, ...]
    denied: tuple[HostPattern, ...] = ()

    def find(self, host: str, port: int) -> HostPattern | None:
        """The entry that allows a host; None if it is refused."""
        name = normal_name(host)
        if self.denies(name, port):
            return None
        return next((one for one in self.patterns if one.allows(name, port)), None)

    def denies(self, host: str, port: int) -> bool:
        return any(one.allows(normal_name(host), port) for one in self.denied)


def parse_hosts(entries: tuple[str, ...], denied: tuple[str, ...] = ()) -> AllowedHosts:
    """The allow-list of these entries. Raises ValueError naming an invalid one."""
    return AllowedHosts(tuple(map(parse_host, entries)), tuple(map(parse_host, denied)))


def parse_host(entry: str) -> HostPattern:
    rest, port = entry.strip().lower(), None
    found = re.fullmatch(r"(\[[^\]]*\]|[^:]*):(\d{1,5})", rest)
    if found:
        rest, port = found[1], int(found[2])
    below = rest.startswith("*.")
    name = normal_name(rest[2:] if below else rest)
    if not is_address(name) and not all(LABEL.fullmatch(label) for label in name.split(".")):
        raise ValueError(f"{entry!r} is not a host")
    if (below and (is_address(name) or "." not in name)) or port == 0 or (port or 1) > 65535:
        raise ValueError(f"{entry!r} is not a host")
    return HostPattern(name, below, port)


def normal_name(host: str) -> str:
    """A normalised name: lower case, without a final dot or an address's brackets."""
    name = host.strip().lower().removeprefix("[").removesuffix("]").removesuffix(".")
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return name


def is_address(name: str) -> bool:
    """Whether a name is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True

"""The server name in a TLS ClientHello, which says whom a tunnel really leads to."""

from __future__ import annotations

HANDSHAKE, CLIENT_HELLO, SERVER_NAME = 22, 1, 0
MOST_HELLO = 65_536


class NotTls(ValueError):
    """Raised for bytes that are not the beginning of a TLS connection."""


def read_server_name(data: bytes) -> str | None:
    """The name, empty if none is given; None while the ClientHello is not complete."""
    hello = _hello(data)
    if hello is None:
        return None
    try:
        return _name(hello)
    except IndexError:
        raise NotTls("the ClientHello is malformed") from None


def _hello(data: bytes) -> bytes | None:
    """The handshake message, joined from its records."""
    joined, at = b"", 0
    while True:
        if data[at : at + 1] not in (b"", bytes((HANDSHAKE,))) or len(joined) > MOST_HELLO:
            raise NotTls("it is not TLS")
        if len(data) < at + 5:
            return None
        size = int.from_bytes(data[at + 3 : at + 5], "big")
        if data[at + 1] != 3 or not size:
            raise NotTls("it is not TLS")
        joined += data[at + 5 : at + 5 + size]
        at += 5 + size
        if joined[:1] not in (b"", bytes((CLIENT_HELLO,))):
            raise NotTls("it does not begin with a ClientHello")
        if len(joined) >= 4 and len(joined) >= 4 + int.from_bytes(joined[1:4], "big"):
            return joined[4 : 4 + int.from_bytes(joined[1:4], "big")]
        if at > len(data):
            return None


def _name(hello: bytes) -> str:
    at = 34
    at += 1 + hello[at]
    at += 2 + _number(hello, at)
    at += 1 + hello[at]
    if at == len(hello):
        return ""
    end = at + 2 + _number(hello, at)
    at += 2
    while at < end:
        kind, size = _number(hello, at), _number(hello, at + 2)
        at += 4
        if kind == SERVER_NAME:
            if hello[at + 2] != 0:
                raise NotTls("the server name is not a host name")
            return hello[at + 5 : at + 5 + _number(hello, at + 3)].decode("ascii", "replace")
        at += size
    return ""


def _number(data: bytes, at: int) -> int:
    return data[at] << 8 | data[at + 1]

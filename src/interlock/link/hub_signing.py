"""Signatures on the hub: every message is signed, and counts only if its key is allowed to send it."""

from __future__ import annotations

import binascii
import contextlib
from base64 import b64decode, urlsafe_b64encode
from pathlib import Path

from msgspec import Struct

from ..config import Hub as HubSettings
from ..core import BadInput, KeyRing, KeyRole, create_key, is_signed_by, key_path, load_key, read_trusted, trusted_path

KEY_HEADER = "Interlock-Key"
SIGNATURE_HEADER = "Interlock-Signature"
TIME_HEADER = "Interlock-Time"
SEQ_HEADER = "Interlock-Seq"

LATE_S = 60.0
"""How long after signing the hub may store a message: a copy that comes later is a replay. A request
that is repeated within this time gets its stored RESULT, which lives 300 s."""


class HubMessage(Struct, frozen=True):
    """A message on the hub: `seq` and `time` are the stream's, 0 if it was not stored."""

    subject: str
    data: bytes
    headers: dict[str, str]
    seq: int = 0
    time: float = 0.0

    @property
    def run_seq(self) -> int | None:
        """Its sequence number in the run's journal; None if it has no valid one."""
        text = self.headers.get(SEQ_HEADER, "")
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


class Signer(Struct, frozen=True):
    """Who signed a message: a trusted key's name, or, if unsigned messages are accepted, why there is none."""

    name: str
    trusted: bool = True


class NotSigned(Exception):
    """Raised when a message is not signed by a key that may send it."""


class Signing:
    """Signs with our own key, and checks the signatures of others."""

    def __init__(self, ring: KeyRing, *, unsigned: bool = False, trusted: Path | None = None) -> None:
        self.ring, self.unsigned = ring, unsigned
        self._trusted, self._stamp = trusted, _stamp_of(trusted)

    @classmethod
    def from_settings(cls, settings: HubSettings) -> Signing:
        """From the configuration. Our own key is created on first use, unless messages are unsigned."""
        key_file = Path(settings.key_file).expanduser() if settings.key_file else None
        own = load_key(key_file)
        if own is None and not settings.unsigned:
            own = create_key(key_file or key_path())
        trusted = Path(settings.trusted_file).expanduser() if settings.trusted_file else trusted_path()
        return cls(KeyRing(read_trusted(trusted), own), unsigned=settings.unsigned, trusted=trusted)

    def headers(self, subject: str, data: bytes, now: float, seq: str = "") -> dict[str, str]:
        """The headers of a signed message."""
        if self.ring.own is None:
            return {}
        time = f"{now:.3f}"
        return {
            KEY_HEADER: self.ring.own.public,
            TIME_HEADER: time,
            SIGNATURE_HEADER: urlsafe_b64encode(self.ring.own.sign(_signed_bytes(subject, seq, time, data))).decode(),
        }

    def check(self, message: HubMessage, role: KeyRole, subject: str | None = None, *, fresh: bool = False) -> Signer:
        """The signer, if allowed to send this; else NotSigned. `subject` is the one that it was signed for,
        if it came on another.

        A `fresh` message was signed shortly before the broker stored it: a replay does not count.
        """
        headers = message.headers
        public, signature = headers.get(KEY_HEADER), headers.get(SIGNATURE_HEADER)
        if not public or not signature:
            return self._refuse("no signature")
        signed = _signed_bytes(
            subject or message.subject, headers.get(SEQ_HEADER, ""), headers.get(TIME_HEADER, ""), message.data
        )
        if not is_signed_by(public, signed, _decode(signature)):
            raise NotSigned("the signature is wrong")
        self._read_again()
        name = self.ring.name_of(public, role)
        if name is None:
            return self._refuse(f"the key {public} is not trusted as {role}")
        if fresh and message.time and abs(message.time - _time(headers)) > LATE_S:
            raise NotSigned("replay: it was signed long before it was sent")
        return Signer(name)

    def _read_again(self) -> None:
        """Reload the trusted keys if the file changed: they apply at once, also to a running run."""
        stamp = _stamp_of(self._trusted)
        if stamp != self._stamp:
            with contextlib.suppress(BadInput):
                self.ring = KeyRing(read_trusted(self._trusted), self.ring.own)
                self._stamp = stamp

    def _refuse(self, why: str) -> Signer:
        if not self.unsigned:
            raise NotSigned(why)
        return Signer(why, trusted=False)


def _stamp_of(path: Path | None) -> tuple[int, int]:
    """A value that changes when a file does; zeros if there is none."""
    try:
        found = path.stat() if path is not None else None
    except OSError:
        found = None
    return (found.st_mtime_ns, found.st_ino) if found is not None else (0, 0)


def _signed_bytes(subject: str, seq: str, time: str, data: bytes) -> bytes:
    return b"\n".join((b"interlock 1", subject.encode(), seq.encode(), time.encode(), data))


def _decode(signature: str) -> bytes:
    """The bytes of a signature; empty, which never verifies, if it is malformed."""
    try:
        return b64decode(signature, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""


def _time(headers: dict[str, str]) -> float:
    try:
        return float(headers.get(TIME_HEADER, ""))
    except ValueError:
        return 0.0

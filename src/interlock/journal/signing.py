"""The owner's key: one for each store, beside the runs, where a contained agent cannot reach it."""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
from functools import lru_cache
from pathlib import Path

from .durable_files import FILE_MODE

NAME = ".key"


class OwnerKey:
    """A key that signs; `public` names it (an nkey of a user, U...)."""

    def __init__(self, seed: str) -> None:
        # Not by nkeys and nacl.signing, which take longer to import than a run takes to start.
        from nacl._sodium import ffi, lib  # type: ignore[import-not-found]

        self.seed = seed
        self._ffi, self._lib = ffi, lib
        lib.sodium_init()
        public, self._secret = ffi.new("unsigned char[32]"), ffi.new("unsigned char[64]")
        lib.crypto_sign_seed_keypair(public, self._secret, _decode(seed)[2:34])
        self.public = _encode(b"\xa0" + bytes(ffi.buffer(public)))

    def sign(self, message: bytes) -> bytes:
        """The 64 bytes of a signature."""
        signed, length = self._ffi.new("unsigned char[]", len(message) + 64), self._ffi.new("unsigned long long *")
        self._lib.crypto_sign(signed, length, message, len(message), self._secret)
        return bytes(self._ffi.buffer(signed, 64))


def is_signed(message: bytes, signature: bytes, key: str) -> bool:
    """Whether the holder of a public key signed a message."""
    from nacl.exceptions import CryptoError
    from nacl.signing import VerifyKey

    try:
        VerifyKey(_decode(key)[1:33]).verify(message, signature)
    except (CryptoError, ValueError, TypeError, binascii.Error):
        return False
    return True


def owner_key(store: Path) -> OwnerKey | None:
    """The key of a store's owner, made if there is none yet; None where it can be neither read nor made."""
    file = store / NAME
    try:
        return _read(file, file.stat().st_mtime_ns)
    except FileNotFoundError:
        pass
    except (OSError, ValueError):
        return None
    with contextlib.suppress(OSError, ValueError):
        _make(file)
        return _read(file, file.stat().st_mtime_ns)
    return None


@lru_cache(maxsize=4)
def _read(file: Path, _time: int) -> OwnerKey:
    return OwnerKey(file.read_text().strip())


def _make(file: Path) -> None:
    """Whole or not there; of several that make one at once, the first wins."""
    import nkeys

    draft = file.with_name(f"{NAME}-{os.getpid()}-{os.urandom(4).hex()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER) + b"\n")
            out.flush()
            os.fsync(out.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, file)
    finally:
        draft.unlink()


def _decode(text: str) -> bytes:
    return base64.b32decode(text + "=" * (-len(text) % 8))


def _encode(data: bytes) -> str:
    return base64.b32encode(data + binascii.crc_hqx(data, 0).to_bytes(2, "little")).decode()

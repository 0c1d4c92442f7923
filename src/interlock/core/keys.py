"""Keys: an identity for signing (a NATS nkey, Ed25519), and the list of public keys that we trust.

A user has one for the hub; each store of runs has one, with which its owners sign their journals.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

from .errors import BadInput, NotFound
from .files import read_small, user_folder

if TYPE_CHECKING:
    from nacl.signing import VerifyKey

KeyRole = Literal["owner", "controller", "viewer"]
ROLES: tuple[KeyRole, ...] = get_args(KeyRole)

STORE_KEY = ".key"
"""The key of a store's owner, stored beside the runs, where a contained agent cannot reach it."""

_SEED, _PUBLIC = b"\x95\x00", b"\xa0"
"""The prefixes of user keys: SU and U in base 32."""


class SigningKey:
    """A private key. `public` is the public key, which begins with U."""

    def __init__(self, seed: str) -> None:
        # Not through nkeys and nacl.signing, whose imports take longer than a run takes to start.
        from nacl._sodium import ffi, lib  # type: ignore[import-not-found]

        raw = _decode(seed, _SEED)
        if raw is None:
            raise BadInput("not a private key", todo="Create one with: interlock hub keys make")
        lib.sodium_init()
        public, self._secret = ffi.new("unsigned char[32]"), ffi.new("unsigned char[64]")
        lib.crypto_sign_seed_keypair(public, self._secret, raw)
        self._ffi, self._lib, self.seed = ffi, lib, seed
        self.public = _encode(_PUBLIC + bytes(ffi.buffer(public)))

    def sign(self, message: bytes) -> bytes:
        """The 64-byte signature of a message."""
        signed, length = self._ffi.new("unsigned char[]", len(message) + 64), self._ffi.new("unsigned long long *")
        self._lib.crypto_sign(signed, length, message, len(message), self._secret)
        return bytes(self._ffi.buffer(signed, 64))

    @classmethod
    def create(cls) -> SigningKey:
        return cls(_encode(_SEED + os.urandom(32)))


def is_signed_by(public: str, message: bytes, signature: bytes) -> bool:
    """Whether the owner of a public key signed exactly these bytes; malformed input counts as not signed."""
    from nacl.exceptions import CryptoError

    try:
        _verifier(public).verify(message, signature)
    except (BadInput, CryptoError, ValueError, TypeError):
        return False
    return True


@lru_cache(maxsize=256)
def _verifier(public: str) -> VerifyKey:
    from nacl.signing import VerifyKey

    raw = _decode(public, _PUBLIC)
    if raw is None:
        raise BadInput(f"{public[:80]!r} is not a public key", todo="A public key has 56 characters and begins with U.")
    return VerifyKey(raw)


def _encode(data: bytes) -> str:
    checked = data + binascii.crc_hqx(data, 0).to_bytes(2, "little")
    return base64.b32encode(checked).decode().rstrip("=")


def _decode(text: str, prefix: bytes) -> bytes | None:
    """The 32 bytes of a key of this kind; None if the text is not such a key."""
    try:
        raw = base64.b32decode(text + "=" * (-len(text) % 8))
    except (binascii.Error, ValueError):
        return None
    if len(raw) != len(prefix) + 34 or not raw.startswith(prefix) or _encode(raw[:-2]) != text:
        return None
    return raw[len(prefix) : -2]


def key_path() -> Path:
    """The path of this user's private key, unless configured otherwise."""
    fresh, old = key_paths()
    return old if old.exists() else fresh


def key_paths() -> tuple[Path, Path]:
    """Where the key is created, in a folder hidden from contained agents; and where older versions created it."""
    return user_folder("state") / "key", user_folder("config") / "key"


def load_key(path: Path | None = None) -> SigningKey | None:
    """This user's private key, or that in a file; None if there is none."""
    file = path or key_path()
    text = _read_text(file, "the private key")
    try:
        return SigningKey(text.strip()) if text is not None else None
    except BadInput as error:
        raise BadInput("the file does not contain a private key", where=str(file), todo=error.todo) from None


def _read_text(file: Path, what: str) -> str | None:
    """The text of a file; None if it does not exist, BadInput if it cannot be read."""
    try:
        return read_small(file, links=True).decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not text"
        raise BadInput(f"cannot read {what}: {why}", where=str(file)) from None


def create_key(path: Path | None = None) -> SigningKey:
    """Create a private key in a file that only this user can read. BadInput if there already is one.

    The file is created atomically; if several processes create it at the same time, the first wins.
    """
    file, made = path or key_path(), SigningKey.create()
    draft = file.with_name(f".{file.name}-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w") as opened:
                opened.write(made.seed + "\n")
                opened.flush()
                os.fsync(opened.fileno())
            os.link(draft, file)
        finally:
            draft.unlink(missing_ok=True)
    except FileExistsError:
        raise BadInput(
            "a private key already exists", where=str(file), todo="Move it away to create another."
        ) from None
    except OSError as error:
        raise BadInput(f"cannot create a private key: {error.strerror}", where=str(file)) from None
    return made


def owner_key(store: Path) -> SigningKey | None:
    """The key of a store's owner, created if there is none; None if it can be neither read nor created."""
    file = store / STORE_KEY
    try:
        if not file.exists() and store.is_dir():
            with contextlib.suppress(BadInput):
                create_key(file)
        return _load_once(file, file.stat().st_mtime_ns)
    except (OSError, BadInput):
        return None


@lru_cache(maxsize=4)
def _load_once(file: Path, _time: int) -> SigningKey | None:
    return load_key(file)


class TrustedKey(Struct, frozen=True):
    """A public key, its roles, and whose it is."""

    public: str
    roles: tuple[KeyRole, ...]
    name: str


class KeyRing:
    """The keys that we trust, from a file with lines PUBLIC ROLE[,ROLE] NAME. Our own key may do everything here."""

    def __init__(self, keys: Iterable[TrustedKey] = (), own: SigningKey | None = None) -> None:
        self.keys = {key.public: key for key in keys}
        self.own = own

    def name_of(self, public: str, role: KeyRole) -> str | None:
        """Whose key this is, if it has the role; None if not."""
        if self.own is not None and public == self.own.public:
            return "own key"
        found = self.keys.get(public)
        return found.name if found is not None and role in found.roles else None


def trusted_path() -> Path:
    """The path of the file with other people's public keys."""
    return user_folder("config") / "hub-keys"


def read_trusted(path: Path | None = None) -> list[TrustedKey]:
    """The keys in a file; none if it does not exist. BadInput names a line that cannot be read."""
    file = path or trusted_path()
    lines = enumerate((_read_text(file, "the trusted keys") or "").splitlines(), 1)
    return [_parse(line, f"{file}:{number}") for number, line in lines if line.strip() and line.lstrip()[0] != "#"]


def _parse(line: str, where: str) -> TrustedKey:
    public, _, rest = line.strip().partition(" ")
    roles, _, name = rest.strip().partition(" ")
    try:
        return trusted_key(public, roles.split(","), name.strip())
    except BadInput as error:
        raise BadInput(str(error), where=where) from None


def trusted_key(public: str, roles: list[str], name: str) -> TrustedKey:
    """Validate a key entry written by a person."""
    _verifier(public)
    for role in roles:
        if role not in ROLES:
            raise BadInput(f"{role!r} is not a role", todo=f"Use {', '.join(ROLES)}, or several with commas.")
    return TrustedKey(public, tuple(role for role in ROLES if role in roles), name or public[:8])


def write_trusted(keys: Iterable[TrustedKey], path: Path | None = None) -> None:
    """Replace the file atomically."""
    file = path or trusted_path()
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text("".join(f"{key.public} {','.join(key.roles)} {key.name}\n" for key in keys), encoding="utf-8")
        fresh.replace(file)
    except OSError as error:
        raise BadInput(f"cannot write the trusted keys: {error.strerror}", where=str(file)) from None


def remove_trusted(public: str, path: Path | None = None) -> TrustedKey:
    """Stop trusting a key, given in full, by its prefix, or by its name."""
    keys = read_trusted(path)
    found = [key for key in keys if key.public.startswith(public) or key.name == public]
    if len(found) != 1:
        many = "several keys begin" if found else "no trusted key begins"
        raise NotFound(f"{many} with {public[:80]!r}", todo="See: interlock hub keys")
    write_trusted([key for key in keys if key != found[0]], path)
    return found[0]

"""Keys: an identity that signs (an nkey of NATS, Ed25519), and the list of the public keys that we trust."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

from .errors import BadInput, NotFound

if TYPE_CHECKING:
    from nacl.signing import VerifyKey

Role = Literal["owner", "controller", "viewer"]
ROLES: tuple[Role, ...] = get_args(Role)

PUBLIC_LENGTH = 56
"""Characters of a public key: prefix, 32 bytes and a checksum, in base 32."""


class SigningKey:
    """A private key. `public` is its name towards others: it begins with U."""

    def __init__(self, seed: str) -> None:
        import nkeys

        try:
            self._pair = nkeys.from_seed(bytearray(seed.encode()))
            self.public = bytes(self._pair.public_key).decode()
        except (nkeys.NkeysError, ValueError, binascii.Error) as error:
            raise BadInput("not a private key", todo="Make one with: interlock hub keys make") from error
        self.seed = seed

    def sign(self, data: bytes) -> str:
        """The signature of some bytes, as text."""
        return base64.urlsafe_b64encode(self._pair.sign(data)).decode()

    @classmethod
    def create(cls) -> SigningKey:
        import nkeys

        return cls(bytes(nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)).decode())


def is_signed_by(public: str, data: bytes, signature: str) -> bool:
    """Whether the owner of a public key signed exactly these bytes; whatever is malformed is not signed."""
    from nacl.exceptions import BadSignatureError

    try:
        _verifier(public).verify(data, base64.b64decode(signature, altchars=b"-_", validate=True))
    except (BadInput, BadSignatureError, ValueError, TypeError):
        return False
    return True


@lru_cache(maxsize=256)
def _verifier(public: str) -> VerifyKey:
    import nkeys
    from nacl.signing import VerifyKey

    try:
        raw = base64.b32decode(public) if len(public) == PUBLIC_LENGTH else b""
    except (binascii.Error, ValueError):
        raw = b""
    checksum = int.from_bytes(raw[33:], "little")
    if len(raw) != 35 or raw[0] != nkeys.PREFIX_BYTE_USER or nkeys.crc16(bytearray(raw[:33])) != checksum:
        raise BadInput(f"{public[:80]!r} is not a public key", todo="A public key has 56 characters and begins with U.")
    return VerifyKey(raw[1:33])


def key_path() -> Path:
    """Where this user's private key is, unless the configuration says otherwise."""
    fresh, old = key_paths()
    return old if old.exists() else fresh


def key_paths() -> tuple[Path, Path]:
    """Where it is made, in a folder that no contained agent sees; and where older versions made it."""
    import platformdirs

    return platformdirs.user_state_path("interlock") / "key", platformdirs.user_config_path("interlock") / "key"


def load_key(path: Path | None = None) -> SigningKey | None:
    """The private key of this user, or of a file; None where there is none."""
    place = path or key_path()
    try:
        return SigningKey(place.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        return None
    except BadInput as error:
        raise BadInput("the file does not hold a private key", where=str(place), todo=error.todo) from None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not text"
        raise BadInput(f"cannot read the private key: {why}", where=str(place)) from None


def create_key(path: Path | None = None) -> SigningKey:
    """Make a private key in a file that only this user can read. BadInput if there is one already."""
    place, made = path or key_path(), SigningKey.create()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise BadInput("a private key already exists", where=str(place), todo="Move it away to make another.") from None
    except OSError as error:
        raise BadInput(f"cannot make a private key: {error.strerror}", where=str(place)) from None
    with os.fdopen(handle, "w") as file:
        file.write(made.seed + "\n")
        file.flush()
        os.fsync(file.fileno())
    return made


class TrustedKey(Struct, frozen=True):
    """A public key, what it may do, and whose it is."""

    public: str
    roles: tuple[Role, ...]
    name: str


class KeyRing:
    """The keys that we trust, from a file with one a line: PUBLIC ROLE[,ROLE] NAME. Our own may do everything here."""

    def __init__(self, keys: Iterable[TrustedKey] = (), own: SigningKey | None = None) -> None:
        self.keys = {key.public: key for key in keys}
        self.own = own

    def name_of(self, public: str, role: Role) -> str | None:
        """Whose key this is, if it may act in a role; None if it may not."""
        if self.own is not None and public == self.own.public:
            return "own key"
        found = self.keys.get(public)
        return found.name if found is not None and role in found.roles else None


def trusted_path() -> Path:
    """Where this user keeps the public keys of others."""
    import platformdirs

    return platformdirs.user_config_path("interlock") / "hub-keys"


def read_trusted(path: Path | None = None) -> list[TrustedKey]:
    """The keys of a file, or none if it is not there. BadInput names the line that cannot be read."""
    place = path or trusted_path()
    try:
        text = place.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not text"
        raise BadInput(f"cannot read the trusted keys: {why}", where=str(place)) from None
    lines = enumerate(text.splitlines(), 1)
    return [_parse(line, f"{place}:{number}") for number, line in lines if line.strip() and line.lstrip()[0] != "#"]


def _parse(line: str, where: str) -> TrustedKey:
    public, _, rest = line.strip().partition(" ")
    roles, _, name = rest.strip().partition(" ")
    try:
        return trusted_key(public, roles.split(","), name.strip())
    except BadInput as error:
        raise BadInput(str(error), where=where) from None


def trusted_key(public: str, roles: list[str], name: str) -> TrustedKey:
    """Check what a person wrote."""
    _verifier(public)
    for role in roles:
        if role not in ROLES:
            raise BadInput(f"{role!r} is not a role", todo=f"Use {', '.join(ROLES)}, or several with commas.")
    return TrustedKey(public, tuple(role for role in ROLES if role in roles), name or public[:8])


def write_trusted(keys: Iterable[TrustedKey], path: Path | None = None) -> None:
    """Replace the file, all or nothing."""
    place = path or trusted_path()
    fresh = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text("".join(f"{key.public} {','.join(key.roles)} {key.name}\n" for key in keys), encoding="utf-8")
        fresh.replace(place)
    except OSError as error:
        raise BadInput(f"cannot write the trusted keys: {error.strerror}", where=str(place)) from None


def remove_trusted(public: str, path: Path | None = None) -> TrustedKey:
    """Stop trusting a key, given whole or by its beginning."""
    keys = read_trusted(path)
    found = [key for key in keys if key.public.startswith(public) or key.name == public]
    if len(found) != 1:
        many = "several keys begin" if found else "no trusted key begins"
        raise NotFound(f"{many} with {public[:80]!r}", todo="See: interlock hub keys")
    write_trusted([key for key in keys if key != found[0]], path)
    return found[0]

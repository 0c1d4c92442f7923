"""Keys: what is signed is recognised, what was changed is not, and a file with a mistake names its line."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from interlock.core import BadInput, NotFound
from interlock.core.keys import (
    KeyRing,
    SigningKey,
    TrustedKey,
    create_key,
    is_signed_by,
    load_key,
    read_trusted,
    remove_trusted,
    write_trusted,
)


def test_a_signature_holds_for_these_bytes_and_this_key_alone() -> None:
    key, other = SigningKey.create(), SigningKey.create()
    signature = key.sign(b"pause")
    assert is_signed_by(key.public, b"pause", signature)
    assert not is_signed_by(key.public, b"cancel", signature)
    assert not is_signed_by(other.public, b"pause", signature)


@pytest.mark.parametrize("public", ["", "U", "U" * 56, "é" * 56, "x" * 5000])
@pytest.mark.parametrize("signature", [b"", b"!", b"A" * 64, b"A" * 88])
def test_malformed_keys_and_signatures_are_not_signed(public: str, signature: bytes) -> None:
    assert not is_signed_by(public, b"data", signature)
    assert not is_signed_by(SigningKey.create().public, b"data", signature)


def test_a_key_is_an_nkey_of_nats() -> None:
    import nkeys

    key = SigningKey.create()
    pair = nkeys.from_seed(bytearray(key.seed.encode()))
    assert bytes(pair.public_key).decode() == key.public and pair.sign(b"pause") == key.sign(b"pause")
    assert SigningKey(nkeys.encode_seed(bytes(32), nkeys.PREFIX_BYTE_USER).decode()).public.startswith("U")
    for other in (nkeys.PREFIX_BYTE_ACCOUNT, nkeys.PREFIX_BYTE_OPERATOR):
        with pytest.raises(BadInput, match="not a private key"):
            SigningKey(nkeys.encode_seed(bytes(32), other).decode())


def test_a_key_file_is_private_and_never_overwritten(tmp_path: Path) -> None:
    made = create_key(tmp_path / "deep" / "key")
    assert stat.S_IMODE((tmp_path / "deep" / "key").stat().st_mode) == 0o600
    loaded = load_key(tmp_path / "deep" / "key")
    assert loaded is not None and loaded.public == made.public
    with pytest.raises(BadInput, match="already exists"):
        create_key(tmp_path / "deep" / "key")


def test_no_key_file_is_no_key_and_a_damaged_one_is_an_error(tmp_path: Path) -> None:
    assert load_key(tmp_path / "none") is None
    (tmp_path / "bad").write_text("SUnonsense")
    with pytest.raises(BadInput, match="does not contain a private key"):
        load_key(tmp_path / "bad")


def test_trusted_keys_are_read_back_and_removed_by_their_beginning(tmp_path: Path) -> None:
    keys = [
        TrustedKey(SigningKey.create().public, ("owner", "controller"), "web 1"),
        TrustedKey(SigningKey.create().public, ("viewer",), "eve"),
    ]
    write_trusted(keys, tmp_path / "keys")
    assert read_trusted(tmp_path / "keys") == keys
    assert remove_trusted(keys[0].public[:12], tmp_path / "keys") == keys[0]
    assert read_trusted(tmp_path / "keys") == keys[1:]
    with pytest.raises(NotFound, match="no trusted key"):
        remove_trusted("UNKNOWN", tmp_path / "keys")


@pytest.mark.parametrize(("line", "what"), [("U123 owner x", "is not a public key"), ("{key} king x", "is not a role")])
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, line: str, what: str) -> None:
    (tmp_path / "keys").write_text("# ours\n\n" + line.format(key=SigningKey.create().public))
    with pytest.raises(BadInput, match=what) as caught:
        read_trusted(tmp_path / "keys")
    assert "keys:3" in str(caught.value)


def test_a_ring_knows_who_may_act_in_which_role() -> None:
    own, alice = SigningKey.create(), SigningKey.create().public
    ring = KeyRing([TrustedKey(alice, ("controller",), "alice")], own)
    assert ring.name_of(alice, "controller") == "alice"
    assert ring.name_of(alice, "owner") is None
    assert ring.name_of(own.public, "owner") == "own key"
    assert ring.name_of(SigningKey.create().public, "controller") is None

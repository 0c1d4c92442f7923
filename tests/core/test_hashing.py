"""SHA-256 is the same, whichever code computes it."""

from __future__ import annotations

import hashlib

import pytest

from interlock.core import hashing


@pytest.mark.parametrize("left", [0, 10, hashing.LOAD_LIBRARY_AFTER])
def test_a_hash_does_not_depend_on_what_was_hashed_before(left: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_left", left)
    for data in (b"", b"short", bytes(100)):
        assert hashing.sha256(data).digest() == hashlib.sha256(data).digest()
        assert hashing.sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()


def test_without_the_short_way_the_library_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_short", None)
    assert hashing.sha256(b"data").digest() == hashlib.sha256(b"data").digest()

"""Word lists: sets of names, written as text; and text without lone surrogates."""

from __future__ import annotations


def name_set(text: str) -> frozenset[str]:
    """The space-separated names in a text."""
    return frozenset(text.split())


def as_text(text: str) -> str:
    """The text without lone surrogates, which cannot be encoded."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()

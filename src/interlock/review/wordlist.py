"""Word lists: sets of names, written as text; and text that is sure to be text."""

from __future__ import annotations


def name_set(text: str) -> frozenset[str]:
    """The names in a text."""
    return frozenset(text.split())


def as_text(text: str) -> str:
    """The same text without lone surrogates, which no encoder takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()

"""Word lists: sets of names, written as text."""

from __future__ import annotations


def name_set(text: str) -> frozenset[str]:
    """The names in a text."""
    return frozenset(text.split())

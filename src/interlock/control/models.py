"""Models: which ones are known, and which of two is stronger."""

from __future__ import annotations

from msgspec import Struct

SHIPPED: tuple[tuple[str, int], ...] = (
    ("haiku", 10),
    ("sonnet", 20),
    ("opus", 30),
    ("flash-lite", 5),
    ("flash", 10),
    ("gemini-pro", 30),
    ("gpt-nano", 5),
    ("gpt-mini", 10),
    ("gpt", 20),
    ("gpt-pro", 30),
)
"""Families by the words that all their names have; the entry with the most words wins."""


class Models(Struct, frozen=True):
    """Exact names with their strength (they come first), then families."""

    named: dict[str, int] = {}
    families: tuple[tuple[str, int], ...] = SHIPPED

    def strength(self, model: str) -> int | None:
        """How strong a model is; None if it is not known."""
        if model in self.named:
            return self.named[model]
        words = model.lower()
        best: tuple[int, int] | None = None
        for family, strength in self.families:
            parts = family.split("-")
            if all(part in words for part in parts) and (best is None or len(parts) > best[0]):
                best = (len(parts), strength)
        return best[1] if best else None

    def knows(self, model: str) -> bool:
        return self.strength(model) is not None

    def is_stronger(self, model: str, than: str | None) -> bool:
        """Whether it is a step up; from a model that is not known everything known is."""
        ours = self.strength(model)
        theirs = self.strength(than) if than is not None else None
        return ours is not None and (theirs is None or ours > theirs)

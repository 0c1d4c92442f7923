"""A place for runs."""

from ..e2e.conftest import place, place_with

__all__ = ["place", "place_with"]

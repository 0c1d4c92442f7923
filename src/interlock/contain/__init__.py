"""Containment: the agent works as usual, but cannot reach its supervisor."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

"""Chaos: real faults thrown into a real editor, to see whether they are noticed and recovered from."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

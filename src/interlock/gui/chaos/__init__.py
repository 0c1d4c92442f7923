"""Chaos: real faults injected into a real editor, to measure whether they are detected and recovered from."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

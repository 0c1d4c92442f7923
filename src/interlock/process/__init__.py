"""Start, freeze, thaw, limit and end a tree of processes, saying what held."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

"""The controller: score, strategies, effectiveness."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

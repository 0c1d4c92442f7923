"""Input: keyboard and mouse of a display."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

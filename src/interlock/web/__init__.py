"""The dashboard: runs in a browser. Only reads journals and sends control messages."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

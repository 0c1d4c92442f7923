"""The demo: a scripted agent that goes wrong in several ways, supervised by the real runtime."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

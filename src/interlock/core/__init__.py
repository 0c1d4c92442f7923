"""The core types: plain frozen values, without I/O."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

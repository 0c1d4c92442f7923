"""The nouns: plain frozen values, no input or output."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

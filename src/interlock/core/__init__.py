"""The nouns: plain frozen values, no input or output."""

from .._lazy import lazy
from .printable import printable as printable

__getattr__ = lazy(__name__, __file__)

"""Screenshots, through whichever backend works."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

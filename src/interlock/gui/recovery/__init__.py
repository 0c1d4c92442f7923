"""Recovery: checked actions, carried out."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

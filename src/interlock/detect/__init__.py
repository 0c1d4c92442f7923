"""Find patterns in the stream of steps, one module per pattern, at constant cost per step."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

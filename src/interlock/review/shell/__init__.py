"""Shell: what a script would run, parsed from its syntax tree."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

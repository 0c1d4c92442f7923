"""Review a step before it runs: risk, rationality, rules, shell parsing."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

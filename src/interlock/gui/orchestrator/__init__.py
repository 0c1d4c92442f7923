"""Orchestration: checks, recoveries and what came of them."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

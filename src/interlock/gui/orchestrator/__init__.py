"""Orchestration: checks, recoveries and their results."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

"""Shared by the adapters for Python frameworks: one session for each run of an agent in this process."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

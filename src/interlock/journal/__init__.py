"""A run's folder and its SQLite file; reading and following it."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

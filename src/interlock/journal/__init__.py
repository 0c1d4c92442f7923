"""A run's folder and its SQLite file; reading and following it."""

from .._lazy import lazy
from .find_run import find_run as find_run

__getattr__ = lazy(__name__, __file__)

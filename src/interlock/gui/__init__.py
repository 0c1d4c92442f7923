"""GUI sessions: see the screen, recover, verify. Names are imported when they are used."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

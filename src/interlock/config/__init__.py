"""The one configuration model."""

from .._lazy import lazy
from .load import load as load
from .trust import trust as trust

__getattr__ = lazy(__name__, __file__)

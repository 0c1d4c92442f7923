"""The one configuration model."""

from .._lazy import lazy
from .load import load as load
from .nearest import nearest as nearest
from .private_files import private_files as private_files
from .trust import trust as trust

__getattr__ = lazy(__name__, __file__)

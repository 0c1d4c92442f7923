"""Verification: are the files on disk what the script meant?"""

from ..._lazy import lazy
from .similarity import similarity as similarity

__getattr__ = lazy(__name__, __file__)

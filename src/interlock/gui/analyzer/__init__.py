"""Analysis: what is on the screen?"""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

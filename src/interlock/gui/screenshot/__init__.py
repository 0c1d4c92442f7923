"""Screenshots: the screen as a picture, by whatever way works."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

"""Self-contained HTML pages: no script, no external resources, everything escaped."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

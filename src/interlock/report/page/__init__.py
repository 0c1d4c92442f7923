"""One self-contained HTML page: no script, nothing from elsewhere, everything escaped."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

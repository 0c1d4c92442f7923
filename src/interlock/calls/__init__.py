"""Read each tool call once: the programs that it runs, what they do to what, the checks, writes and waits in it."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

"""Contract: what a run may and must do, from configuration, task and options; and which calls break it."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

"""Tests kept honest: what changed about tests and the rules that code is checked by, as facts."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

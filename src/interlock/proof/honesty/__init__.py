"""Test honesty: facts about changes to tests and to the rules that code is checked by."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

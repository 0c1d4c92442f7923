"""Rules as data: one YAML file, with test cases beside each rule."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

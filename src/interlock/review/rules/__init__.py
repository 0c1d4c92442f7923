"""Rules as data: one YAML file per family, with the cases that prove each rule beside it."""

from ..._lazy import lazy

__getattr__ = lazy(__name__, __file__)

"""Redaction: input from outside is redacted and bounded once, before anything else sees it."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

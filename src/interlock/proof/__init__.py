"""Proof of done: claims in an agent's text, the checks that ran, and verdicts on the claims."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

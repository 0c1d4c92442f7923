"""Proof of done: claims in an agent's words, the checks that ran, and verdicts that bind the one to the other."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

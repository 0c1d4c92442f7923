"""Runs for people: one run as a story, all runs as a fleet, the inbox, and reports."""

from .._lazy import lazy

__getattr__ = lazy(__name__, __file__)

"""Plugins: what a caller brings along."""

from __future__ import annotations

from msgspec import Struct

from ..decide import Strategy
from ..detect import Factory
from ..intervene import BUILT_IN, Custom, Templates


class Plugins(Struct, frozen=True):
    """What a caller brings along: detectors beside the installed ones; strategies and interventions in their place."""

    detectors: tuple[Factory, ...] = ()
    strategies: dict[str, Strategy] | None = None
    interventions: tuple[Custom, ...] | None = None
    templates: Templates = BUILT_IN
    muted: frozenset[str] = frozenset()

"""Plugins: what a caller brings along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from ..decide import Strategy
    from ..detect import Factory
    from ..intervene import Custom, Templates


class Plugins(Struct, frozen=True):
    """What a caller brings along: detectors beside the installed ones; strategies and interventions in their place."""

    detectors: tuple[Factory, ...] = ()
    strategies: dict[str, Strategy] | None = None
    interventions: tuple[Custom, ...] | None = None
    templates: Templates | None = None
    muted: frozenset[str] = frozenset()

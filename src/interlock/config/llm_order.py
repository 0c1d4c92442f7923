"""Which of two models is stronger where the data file does not list them: by the words of their names and by price."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, TypeVar

from msgspec import Struct

Order = Literal["stronger", "weaker", "equal"]

Rank = TypeVar("Rank", int, float, tuple[int, ...])

_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)b\b")
_NUMBER = re.compile(r"(?<!\d)\d{1,2}(?!\d)")


class Maker(Struct, frozen=True):
    """How a maker names models: the first word, and the words of tiers from 1, the weakest."""

    names: tuple[str, ...]
    tiers: dict[str, int]


class Traits(Struct, frozen=True):
    """What a name tells; None and nothing where it does not."""

    maker: str | None = None
    tier: int | None = None
    size: float | None = None
    version: tuple[int, ...] = ()


def read_traits(name: str, makers: dict[str, Maker]) -> Traits:
    """What the name of a model tells: its maker, tier, size in billions and version."""
    words = re.findall(r"[a-z]+", name)
    size = _SIZE.search(name)
    version = tuple(int(number) for number in _NUMBER.findall(_SIZE.sub("", name)))
    for maker, how in makers.items():
        if words and words[0] in how.names:
            tiers = [how.tiers[word] for word in words if word in how.tiers]
            tier = min(tiers) if tiers else how.tiers.get("none")
            return Traits(maker, tier, float(size[1]) if size else None, version)
    return Traits(None, None, float(size[1]) if size else None, version)


def order(one: Traits, other: Traits, prices: tuple[float | None, float | None]) -> Order | None:
    """How one model is to another: by tier, then size, then version, else by price; None if nothing tells.

    Models of different makers are not compared: an agent cannot be moved from one API to another by name.
    """
    if one.maker is not None and other.maker is not None and one.maker != other.maker:
        return None
    if one.maker == other.maker is not None:
        if one.tier is not None and other.tier is not None and one.tier != other.tier:
            return _ranked(one.tier, other.tier)
        if one.tier == other.tier:
            if one.size is not None and other.size is not None and one.size != other.size:
                return _ranked(one.size, other.size)
            if one.size == other.size and one.version and other.version and one.version != other.version:
                return _ranked(one.version, other.version)
    ours, theirs = prices
    return _ranked(ours, theirs) if ours is not None and theirs is not None else None


@cache
def listed_price(name: str) -> float | None:
    """What a million tokens read and a million written cost by the published price list; None if it is not there."""
    import genai_prices

    try:
        usage = genai_prices.Usage(input_tokens=1000, output_tokens=1000)
        return float(genai_prices.calc_price(usage, model_ref=name).total_price) * 1000
    except LookupError:
        return None


def _ranked(ours: Rank, theirs: Rank) -> Order:
    return "equal" if ours == theirs else "stronger" if ours > theirs else "weaker"

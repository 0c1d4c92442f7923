"""Models: which are known, which of two is stronger, and prices that the price list lacks."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ..core import from_plain
from .schema import Config, ModelInfo

Order = Literal["stronger", "weaker", "equal"]

Rank = TypeVar("Rank", int, float, tuple[int, ...])

_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)b\b")
_NUMBER = re.compile(r"(?<!\d)\d{1,2}(?!\d)")


class Maker(Struct, frozen=True):
    """How a maker names models: the first word, and the words for tiers, from 1, the weakest."""

    names: tuple[str, ...]
    tiers: dict[str, int]


class Traits(Struct, frozen=True):
    """What a model's name says; None or empty if it does not."""

    maker: str | None = None
    tier: int | None = None
    size: float | None = None
    version: tuple[int, ...] = ()


def read_traits(name: str, makers: dict[str, Maker]) -> Traits:
    """What a model's name says: its maker, tier, size in billions and version."""
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
    """How one model compares to another: by tier, then size, then version, else by price; None if inconclusive.

    Models of different makers are not compared: an agent cannot switch to another API by name.
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
    """The published price of a million input and a million output tokens; None if unknown."""
    import genai_prices

    try:
        usage = genai_prices.Usage(input_tokens=1000, output_tokens=1000)
        return float(genai_prices.calc_price(usage, model_ref=name).total_price) * 1000
    except LookupError:
        return None


def _ranked(ours: Rank, theirs: Rank) -> Order:
    return "equal" if ours == theirs else "stronger" if ours > theirs else "weaker"


TIER = 100
"""The difference in strength between two tiers."""


class PricePerMillion(NamedTuple):
    """US dollars per million tokens."""

    input: float
    output: float


class Tier(Struct, frozen=True):
    alias: str
    models: tuple[str, ...]


class ModelsFile(Struct, frozen=True):
    """The content of the data file."""

    anthropic: tuple[Tier, ...]
    openai: tuple[Tier, ...]
    google: tuple[Tier, ...]
    retired: frozenset[str]
    prices: dict[str, PricePerMillion]
    makers: dict[str, Maker]


class Models(Struct, frozen=True):
    """The built-in models and those of the configuration, which take precedence."""

    infos: dict[str, ModelInfo]
    aliases: dict[str, str]
    gone: frozenset[str]
    makers: dict[str, Maker] = {}

    @classmethod
    def from_config(cls, config: Config) -> Models:
        """The built-in models, extended by the key `models`."""
        shipped = ship()
        own = {model.name: model for model in config.models}
        names = {alias: model.name for model in config.models for alias in model.aliases}
        return cls({**shipped.infos, **own}, {**shipped.aliases, **names}, shipped.gone - own.keys(), shipped.makers)

    def resolve(self, name: str) -> str | None:
        """The listed name of a model, from an alias or a dated or hosted name; None if it is unknown."""
        for candidate in (name, plain(name)):
            candidate = self.aliases.get(candidate, candidate)
            if candidate in self.infos:
                return candidate
        return None

    def known(self, name: str) -> bool:
        return self.resolve(name) is not None

    def retired(self, name: str) -> bool:
        """Whether its maker has switched it off."""
        return self.resolve(name) in self.gone

    def strength(self, name: str) -> int | None:
        """How strong a model is within its family; None if it is unknown."""
        found = self.resolve(name)
        return self.infos[found].strength if found else None

    def compare(self, name: str, than: str) -> Order | None:
        """How `name` compares to `than`; None if inconclusive, or if they are of different families.

        Listed models are compared by their strength, others by their names and prices.
        """
        ours, theirs = self.resolve(name), self.resolve(than)
        one, other = self.infos.get(ours or ""), self.infos.get(theirs or "")
        if (ours or undated(name)) == (theirs or undated(than)):
            return "equal"
        if one is not None and other is not None and (one.family == other.family or not (one.family and other.family)):
            return _ranked(one.strength, other.strength)
        return order(self._traits(name, one), self._traits(than, other), (self._cost(name), self._cost(than)))

    def placed(self, name: str) -> bool:
        """Whether enough is known of it to compare it."""
        return self.known(name) or self._traits(name, None).maker is not None or self._cost(name) is not None

    def _traits(self, name: str, info: ModelInfo | None) -> Traits:
        traits = read_traits(undated(name), self.makers)
        if info is None or info.family not in self.makers:
            return traits
        return replace(traits, maker=info.family, tier=info.strength // TIER)

    def _cost(self, name: str) -> float | None:
        price = self.price(name)
        return price.input + price.output if price is not None else listed_price(plain(name))

    def price(self, name: str) -> PricePerMillion | None:
        """The price in our own data; None if only the price list may have it."""
        found = self.resolve(name)
        info = self.infos[found] if found else None
        if info is None or info.input_usd_per_million is None or info.output_usd_per_million is None:
            return None
        return PricePerMillion(info.input_usd_per_million, info.output_usd_per_million)


@cache
def ship() -> Models:
    """The models of the data file."""
    from importlib import resources

    import yaml

    text = resources.files(__package__).joinpath("models.yaml").read_text("utf-8")
    data = from_plain(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), ModelsFile)
    infos: dict[str, ModelInfo] = {}
    aliases: dict[str, str] = {}
    for family in ("anthropic", "openai", "google"):
        for level, tier in enumerate(getattr(data, family), start=1):
            aliases[tier.alias] = tier.models[-1]
            for index, name in enumerate(tier.models):
                price = data.prices.get(name, (None, None))
                infos[name] = ModelInfo(
                    name=name,
                    family=family,
                    strength=level * TIER + index,
                    input_usd_per_million=price[0],
                    output_usd_per_million=price[1],
                )
    return Models(infos, aliases, data.retired, data.makers)


_HOST = re.compile(r"^(?:.*/|(?:[a-z]{2,6}\.)?(?:anthropic|openai|google)\.)")
_DATE = re.compile(r"[-@](?:latest|preview|\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2,4})$")
_HOSTED = re.compile(r"(?:-v\d+)?(?::\d+)?$")
_CONTEXT = re.compile(r"\[[^\]]*\]$")
_CLAUDE = re.compile(r"^claude-(\d)(?:[-.](\d))?-(haiku|sonnet|opus|fable)$")
_WORD_FIRST = re.compile(r"^claude-(haiku|sonnet|opus|fable)-(\d)(?:[-.](\d))?$")


def undated(name: str) -> str:
    """A model's name without host, date, context size, and the version that a host appends."""
    name = _HOST.sub("", _CONTEXT.sub("", name.strip().lower()))
    name = re.sub(r"-v\d+:\d+$", "", name)
    while (shorter := _DATE.sub("", name)) != name:
        name = shorter
    return name


def plain(name: str) -> str:
    """A model's name without host, date, hosting version and context size, normalised."""
    name = undated(_HOSTED.sub("", _CONTEXT.sub("", name.strip().lower())))
    if found := _CLAUDE.match(name):
        major, minor, word = found.groups()
        # Until 3.7 the number came first, since 4 it is the word.
        return name.replace(".", "-") if major < "4" else _claude(word, major, minor)
    if found := _WORD_FIRST.match(name):
        word, major, minor = found.groups()
        return f"claude-{major}-{minor}-{word}" if major < "4" and minor else _claude(word, major, minor)
    return name


def _claude(word: str, major: str, minor: str | None) -> str:
    if major == "4":
        return f"claude-{word}-4-{minor or 0}"
    return f"claude-{word}-{major}" + (f"-{minor}" if minor and minor != "0" else "")

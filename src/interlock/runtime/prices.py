"""Prices: what tokens cost, by the published price list and the configuration's own models."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterable

from msgspec import Struct

from ..config import ModelInfo
from ..core import Usage

MILLION = 1_000_000


class Price(Struct, frozen=True):
    """US dollars per token."""

    input: float
    output: float
    cache_read: float
    cache_write: float


class Prices:
    """Looks a model up once and multiplies after that: the price list is slow, steps are many."""

    def __init__(self, models: Iterable[ModelInfo] = ()) -> None:
        self._own = {model.name: model for model in models}
        self._known: dict[str, Price | None] = {}
        self._warm = False

    def warm(self) -> None:
        """Read the price list in the background, once: it takes longer than a step may, and much memory."""
        if self._warm:
            return
        self._warm = True
        threading.Thread(target=lambda: importlib.import_module("genai_prices"), name="prices", daemon=True).start()

    def cost(self, model: str | None, usage: Usage) -> float | None:
        """The cost of this use in US dollars; None where nobody knows the model."""
        if model is None:
            return None
        if model not in self._known:
            self._known[model] = self._own_price(model) or _listed_price(model)
        price = self._known[model]
        if price is None:
            return None
        fresh = usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens
        return (
            max(0, fresh) * price.input
            + usage.output_tokens * price.output
            + usage.cache_read_tokens * price.cache_read
            + usage.cache_write_tokens * price.cache_write
        )

    def _own_price(self, model: str) -> Price | None:
        info = self._own.get(model)
        if info is None or info.input_usd_per_million is None or info.output_usd_per_million is None:
            return None
        per_input, per_output = info.input_usd_per_million / MILLION, info.output_usd_per_million / MILLION
        return Price(per_input, per_output, per_input, per_input)


def _listed_price(model: str) -> Price | None:
    import genai_prices

    def per_token(**tokens: int) -> float:
        count = max(tokens.values())
        return float(genai_prices.calc_price(genai_prices.Usage(**tokens), model_ref=model).total_price) / count

    try:
        # Small amounts, so that prices in tiers give their first tier.
        return Price(
            per_token(input_tokens=1000),
            per_token(output_tokens=1000),
            per_token(input_tokens=1000, cache_read_tokens=1000),
            per_token(input_tokens=1000, cache_write_tokens=1000),
        )
    except LookupError:
        return None

"""The models that can analyse screenshots, newest of a family first, with prices; kept as data."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources

from msgspec import Struct

from ..core import BadInput, from_json
from .nearest import nearest
from .schema import ModelInfo


class ScreenModel(Struct, frozen=True):
    """A model and what a million tokens cost."""

    name: str
    family: str
    input_usd_per_million: float
    output_usd_per_million: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * self.input_usd_per_million + output_tokens * self.output_usd_per_million) / 1e6


class _Table(Struct, frozen=True):
    models: tuple[ScreenModel, ...]
    retired: tuple[str, ...]


def find_screen_model(name: str | None, more: Iterable[ModelInfo] = (), family: str = "opus") -> ScreenModel:
    """A model by name, else the newest of a family. `more` are the configuration's own, which need prices.

    An unknown or retired one is an error.
    """
    table = _table()
    known = [*(model for info in more if (model := _priced(info)) is not None), *table.models]
    if name is None:
        return next(model for model in table.models if model.family == family)
    for model in known:
        if model.name == name:
            return model
    names = [model.name for model in known]
    near = nearest(name, names)
    todo = f"Did you mean {near}?" if near else f"Known: {', '.join(names)}. Add others, with prices, under models."
    if name in table.retired:
        raise BadInput(f"the model {name!r} has been retired", where="gui.model", todo=todo)
    raise BadInput(f"there is no model {name!r} that can analyse screenshots", where="gui.model", todo=todo)


def _priced(info: ModelInfo) -> ScreenModel | None:
    """A configured model as one to ask; None without prices, for then no budget could be kept."""
    if info.input_usd_per_million is None or info.output_usd_per_million is None:
        return None
    return ScreenModel(info.name, "configured", info.input_usd_per_million, info.output_usd_per_million)


@cache
def _table() -> _Table:
    return from_json(resources.files(__package__).joinpath("screen_models.json").read_bytes(), _Table)

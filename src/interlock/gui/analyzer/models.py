"""The table of models that can look at a screen, newest of a family first, with prices; kept as data."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from msgspec import Struct

from ...core import BadInput
from ...core.typed import from_json


class Model(Struct, frozen=True):
    """A model and what a million tokens cost."""

    name: str
    family: str
    input_usd_per_million: float
    output_usd_per_million: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * self.input_usd_per_million + output_tokens * self.output_usd_per_million) / 1e6


class _Table(Struct, frozen=True):
    models: tuple[Model, ...]
    retired: tuple[str, ...]


def find_model(name: str | None, more: Iterable[Model] = (), family: str = "opus") -> Model:
    """A model by name, else the newest of a family; an unknown or retired one is an error."""
    table = _table()
    known = (*more, *table.models)
    if name is None:
        return next(model for model in known if model.family == family)
    for model in known:
        if model.name == name:
            return model
    names = ", ".join(model.name for model in known)
    if name in table.retired:
        raise BadInput(f"the model {name!r} has been retired", where="gui.model", todo=f"Known: {names}")
    raise BadInput(f"there is no model {name!r}", where="gui.model", todo=f"Known: {names}")


@cache
def _table() -> _Table:
    return from_json((Path(__file__).parent / "models.json").read_bytes(), _Table)

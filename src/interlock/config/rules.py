"""Checks across keys; and the models that can analyse screenshots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources

from msgspec import Struct

from ..core import ISSUE_TYPES, BadInput, check_glob, from_json
from .hosts import parse_host
from .llm_models import Models
from .problem import ConfigProblem, nearest
from .schema import Config, ModelInfo

STRATEGIES = ("progressive", "severity", "pattern_specific", "custom")
HOSTS = "Write NAME, *.NAME (every name below a domain) or NAME:PORT."
PATHS = "Write a path that begins with / or ~/, without * or ?."
TLS_KEYS = ("ca_file", "cert_file", "key_file")


def check(config: Config) -> Iterator[ConfigProblem]:
    """Errors and warnings about values that do not fit together, without file and line."""
    rules = (_channels, _tls, _rising, _strategy, _exceptions, _globs, _models, _screen_models, _budgets, _fence)
    for rule in rules:
        yield from rule(config)


def _fence(config: Config) -> Iterator[ConfigProblem]:
    for entry in config.contain.hosts:
        try:
            parse_host(entry)
        except ValueError as error:
            yield ConfigProblem(path="contain.hosts", what=str(error), todo=HOSTS)
    for key, paths in (("write", config.contain.write), ("hide", config.contain.hide), ("show", config.contain.show)):
        for path in paths:
            if not path.startswith(("/", "~/")) or any(sign in path for sign in "*?[\0"):
                yield ConfigProblem(path=f"contain.{key}", what=f"{path!r} is not a path", todo=PATHS)


def _channels(config: Config) -> Iterator[ConfigProblem]:
    known = config.notifications.channels
    for name in config.interventions.emergency_stop.notification_channels:
        if name not in known:
            yield ConfigProblem(
                path="interventions.emergency_stop.notification_channels",
                what=f"there is no channel {name!r} under notifications.channels",
                todo=_known(name, known) if known else f"Add {name} with its address there.",
            )


def _tls(config: Config) -> Iterator[ConfigProblem]:
    for name in config.hub.tls:
        if name not in TLS_KEYS:
            yield ConfigProblem(path=f"hub.tls.{name}", what="unknown key", todo=_known(name, TLS_KEYS))


def _rising(config: Config) -> Iterator[ConfigProblem]:
    """Levels that must not decrease."""
    risk, rationality = config.review.risk_levels, config.review.rationality_levels
    verification = config.gui.verification
    for path, low, high, lower, higher in (
        ("review.risk_levels.medium", "medium", "high", risk.medium, risk.high),
        ("review.risk_levels.high", "high", "critical", risk.high, risk.critical),
        ("review.rationality_levels.medium", "medium", "high", rationality.medium, rationality.high),
        (
            "gui.verification.partial_threshold",
            "partial_threshold",
            "similarity_threshold",
            verification.partial_threshold,
            verification.similarity_threshold,
        ),
    ):
        if lower > higher:
            yield ConfigProblem(
                path=path, what=f"{low} ({lower:g}) is above {high} ({higher:g})", todo="Put them in order."
            )


def _strategy(config: Config) -> Iterator[ConfigProblem]:
    name = config.interventions.strategy.type
    if name not in STRATEGIES:
        what = f"{name!r} is not a built-in strategy; it must be registered under this name"
        near = nearest(name, STRATEGIES)
        todo = f"Did you mean {near}?" if near else f"Built-in: {', '.join(STRATEGIES)}."
        yield ConfigProblem(path="interventions.strategy.type", what=what, todo=todo, level="warning")


def _exceptions(config: Config) -> Iterator[ConfigProblem]:
    for tool, types in config.detect.exceptions.items():
        for name in types:
            if name not in (*ISSUE_TYPES, "*"):
                what = f"{name!r} is not a built-in issue type; only a plug-in can raise it"
                todo = _known(name, ISSUE_TYPES)
                yield ConfigProblem(path=f"detect.exceptions.{tool}", what=what, todo=todo, level="warning")


def _globs(config: Config) -> Iterator[ConfigProblem]:
    for name in ("may_change", "protect"):
        for glob in getattr(config.contract, name):
            try:
                check_glob(glob)
            except BadInput as error:
                yield ConfigProblem(path=f"contract.{name}", what=error.what, todo=error.todo)


def _models(config: Config) -> Iterator[ConfigProblem]:
    models = Models.from_config(config)
    old = config.detect.second_opinion
    if any(getattr(old, name) is not None for name in old.__struct_fields__):
        what = "detect.second_opinion is now called detect.judge; its keys still work"
        yield ConfigProblem(path="detect.second_opinion", what=what, todo="Rename it.", level="warning")
    path, name = "detect.judge.model", config.detect.judge.model
    if old.model is not None:
        path, name = "detect.second_opinion.model", old.model
    if config.detect.judge.api == "openai":
        return
    if name is not None and models.retired(name):
        yield ConfigProblem(path=path, what=f"the model {name!r} has been retired", level="warning")
    elif name is not None and not models.known(name):
        what = f"the model {name!r} is unknown"
        yield ConfigProblem(path=path, what=what, todo="Add it under models if it exists.", level="warning")


def _screen_models(config: Config) -> Iterator[ConfigProblem]:
    """Check the GUI's models: an unusable one would end a session after its editor has opened."""
    for path, name in (("gui.model", config.gui.model), ("gui.small_model", config.gui.small_model)):
        try:
            find_screen_model(name, config.models)
        except BadInput as error:
            yield ConfigProblem(path=path, what=error.what, todo=error.todo)


def _budgets(config: Config) -> Iterator[ConfigProblem]:
    names = [budget.name for budget in config.budgets]
    for index, budget in enumerate(config.budgets):
        path = f"budgets[{index}]"
        if names.index(budget.name) != index:
            what = f"there are two budgets {budget.name!r}"
            yield ConfigProblem(path=f"{path}.name", what=what, todo="Rename one.", level="warning")
        if budget.max_cost_usd is None and budget.max_tokens is None:
            what = f"the budget {budget.name!r} has no limit"
            yield ConfigProblem(path=path, what=what, todo="Set max_cost_usd or max_tokens.", level="warning")


def _known(name: str, names: Iterable[str]) -> str:
    words = list(names)
    near = nearest(name, words)
    return f"Did you mean {near}?" if near else f"Known: {', '.join(words)}."


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
    """A model by name, else the newest of a family. `more` are configured models, which need prices.

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
    """A configured model; None without prices, as no budget could be enforced."""
    if info.input_usd_per_million is None or info.output_usd_per_million is None:
        return None
    return ScreenModel(info.name, "configured", info.input_usd_per_million, info.output_usd_per_million)


@cache
def _table() -> _Table:
    return from_json(resources.files(__package__).joinpath("screen_models.json").read_bytes(), _Table)

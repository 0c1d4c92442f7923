"""Escalation over sixty models of six makers, listed and not: every pair is answered as the rule says.

The rule, in this order: the same model is equal; models of different makers are not compared; the higher tier is
stronger; in one tier the larger size, then the newer version; then the higher price. Where nothing tells, a person
must say so with force.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import pytest

from interlock.config import Config
from interlock.config.llm_models import Models, ship
from interlock.config.schema import ModelInfo
from interlock.control import ControlRules

from .owner import Owner


class Known(NamedTuple):
    """A model as a person who knows them ranks it; models that only differ in date or host have one rank."""

    name: str
    maker: str
    tier: int
    version: tuple[int, ...]


def made(maker: str, *lines: tuple[int, str]) -> list[Known]:
    """Names of one tier in a line, from the oldest to the newest; equal ones are joined by `=`."""
    return [
        Known(name, maker, tier, (place,))
        for tier, names in lines
        for place, group in enumerate(names.split())
        for name in group.split("=")
    ]


MODELS = [
    *made(
        "anthropic",
        (1, "claude-3-5-haiku-20241022=anthropic/claude-3.5-haiku claude-haiku-4-5-20251001=haiku-4-5-alias claude-haiku-5-5 claude-haiku-6"),
        (2, "claude-sonnet-4-5 claude-sonnet-4-6 claude-sonnet-5-5 claude-sonnet-6-1"),
        (3, "claude-opus-4-5-20251101=us.anthropic.claude-opus-4-5-20251101-v1:0 claude-opus-5-5 claude-opus-7"),
        (4, "claude-fable-5-1 claude-fable-9"),
    ),
    *made(
        "openai",
        (1, "gpt-4.1-nano gpt-5-nano gpt-6-luna gpt-9-nano"),
        (2, "gpt-4o-mini gpt-5-mini=openai/gpt-5-mini gpt-6.1-terra gpt-8-mini"),
        (3, "gpt-4o gpt-5 gpt-5.4=gpt-5.4-2026-03-05 gpt-6.1-sol"),
        (4, "gpt-5-pro gpt-6-astra gpt-9-astra"),
    ),
    *made(
        "google",
        (1, "gemini-2.5-flash-lite gemini-3.5-flash-lite gemini-5-flash-lite"),
        (2, "gemini-2.5-flash gemini-3.8-flash gemini-5-flash"),
        (3, "gemini-2.5-pro gemini-3.1-pro gemini-6-pro"),
        (4, "gemini-4-argon gemini-7-ultra"),
    ),
    *made("mistral", (1, "ministral-3"), (2, "mistral-small-3 mistral-small-4"), (3, "mistral-medium-3"), (4, "mistral-large-2 mistral-large-3")),
    *made("xai", (1, "grok-3-mini grok-5-mini"), (2, "grok-4-fast"), (3, "grok-4 grok-5"), (4, "grok-5-heavy")),
    *made("alibaba", (1, "qwen-5-turbo qwen-6-flash"), (2, "qwen-3-plus qwen-4-plus"), (3, "qwen-3-max qwen-4-max")),
]  # fmt: skip
MODELS = [model for model in MODELS if model.name != "haiku-4-5-alias"]


def expected(one: Known, other: Known) -> str | None:
    if one.maker != other.maker:
        return None
    ours, theirs = (one.tier, one.version), (other.tier, other.version)
    return "equal" if ours == theirs else "stronger" if ours > theirs else "weaker"


def test_the_table_is_large_and_has_models_that_are_not_listed() -> None:
    assert len(MODELS) >= 60
    assert len({model.maker for model in MODELS}) == 6
    listed = [model.name for model in MODELS if ship().known(model.name)]
    assert 25 < len(listed) < len(MODELS) - 15


def test_every_pair_is_compared_as_the_rule_says() -> None:
    wrong = [
        (one.name, other.name, expected(one, other), ship().compare(one.name, other.name))
        for one, other in itertools.product(MODELS, MODELS)
        if ship().compare(one.name, other.name) != expected(one, other)
    ]
    assert wrong == []


def test_every_pair_is_answered_as_the_rule_says() -> None:
    for one, other in itertools.product(MODELS, MODELS):
        for force in (False, True):
            owner = Owner(model=other.name)
            owner.ask("escalate", {"model": one.name, "force": force})
            rule = expected(one, other)
            done = rule == "stronger" or (rule is None and force)
            assert owner.kinds()[:2] == ["ACK", "success" if done else "invalid_state"], (one.name, other.name, force)


UNKNOWN = ("nonsuch-1", "house-model", "my-finetune-large")


@pytest.mark.parametrize(("model", "has"), list(itertools.permutations(UNKNOWN, 2)))
def test_unknown_against_unknown_needs_force(model: str, has: str) -> None:
    owner = Owner(model=has)
    [refusal] = owner.ask("escalate", {"model": model}, id="a")
    assert refusal["payload"]["code"] == "bad_request"  # type: ignore[index]
    assert "force" in refusal["payload"]["message"]  # type: ignore[index]
    owner.ask("escalate", {"model": model, "force": True}, id="b")
    assert owner.kinds()[:2] == ["ACK", "success"]


def test_a_known_model_after_an_unknown_one_needs_force() -> None:
    owner = Owner(model="nonsuch-1")
    owner.ask("escalate", {"model": "claude-opus-5-5"}, id="a")
    assert owner.kinds() == ["ACK", "invalid_state"]
    owner.ask("escalate", {"model": "claude-opus-5-5", "force": True}, id="b")
    assert owner.kinds()[:2] == ["ACK", "success"]


def test_force_does_not_make_a_weaker_model_a_stronger_one() -> None:
    owner = Owner(model="claude-opus-5-5")
    owner.ask("escalate", {"model": "haiku", "force": True})
    assert owner.kinds() == ["ACK", "invalid_state"]


def test_where_names_tell_nothing_the_price_does() -> None:
    config = Config(
        models=(
            ModelInfo(name="tuned-a", strength=1, family="house", input_usd_per_million=1, output_usd_per_million=4),
            ModelInfo(name="tuned-b", strength=1, family="barn", input_usd_per_million=2, output_usd_per_million=8),
        )
    )
    models = Models.from_config(config)
    assert (models.compare("tuned-b", "tuned-a"), models.compare("tuned-a", "tuned-b")) == ("stronger", "weaker")
    owner = Owner(model="tuned-a", rules=ControlRules(models=models))
    owner.ask("escalate", {"model": "tuned-b"})
    assert owner.kinds()[:2] == ["ACK", "success"]


def test_sizes_tell_where_tiers_do_not() -> None:
    assert ship().compare("llama-3-70b", "llama-3-8b") == "stronger"
    assert ship().compare("llama-3-8b", "llama-3-70b") == "weaker"

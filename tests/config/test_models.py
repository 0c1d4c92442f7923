"""Models: known by all their names, in order of strength, with prices where the price list has none."""

from __future__ import annotations

import genai_prices
import pytest

from interlock.config import Config
from interlock.config.llm_models import Models, PricePerMillion, plain, ship
from interlock.config.schema import ModelInfo

MODELS = Models.from_config(Config())


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [
        ("haiku", "sonnet"),
        ("sonnet", "opus"),
        ("opus", "fable"),
        ("claude-haiku-4-5", "claude-sonnet-4-5"),
        ("claude-sonnet-5-5", "claude-opus-4-5-20251101"),
        ("claude-opus-4-5-20251101", "opus"),
        ("claude-3-5-haiku-20241022", "claude-haiku-4-5-20251001"),
        ("gpt-5-nano", "gpt-5-mini"),
        ("gpt-5-mini", "gpt-5"),
        ("gpt-5", "gpt-5.5-pro"),
        ("luna", "terra"),
        ("terra", "sol"),
        ("sol", "astra"),
        ("gemini-2.5-flash-lite", "gemini-2.5-flash"),
        ("gemini-2.5-flash", "gemini-2.5-pro"),
        ("gemini-3.1-pro-preview", "gemini-4-argon"),
    ],
)
def test_the_order_of_strength(weaker: str, stronger: str) -> None:
    assert MODELS.compare(stronger, weaker) == "stronger"
    assert MODELS.compare(weaker, stronger) == "weaker"


def test_no_model_is_stronger_than_itself_under_any_name() -> None:
    assert MODELS.compare("opus", "claude-opus-5-5") == "equal"
    assert MODELS.compare("claude-opus-4-5", "claude-opus-4-5-20251101") == "equal"


def test_models_of_different_makers_are_not_compared() -> None:
    assert MODELS.compare("opus", "gpt-5") is None
    assert MODELS.compare("opus", "nonsuch") is None
    assert MODELS.compare("nonsuch", "opus") is None


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("claude-opus-4.5", "claude-opus-4-5"),
        ("claude-4-5-opus", "claude-opus-4-5"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
        ("opus[1m]", "claude-opus-5-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4-0"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet"),
        ("claude-3.7-sonnet", "claude-3-7-sonnet"),
        ("claude-sonnet-3-7", "claude-3-7-sonnet"),
        ("claude-opus-5-latest", "claude-opus-5"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("openai/gpt-5-mini", "gpt-5-mini"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gemini-3-pro-preview", "gemini-3-pro"),
        ("Claude-Opus-4-5", "claude-opus-4-5"),
    ],
)
def test_a_model_is_known_by_its_dated_and_hosted_names(name: str, listed: str) -> None:
    assert MODELS.resolve(name) == listed
    assert MODELS.known(name)


@pytest.mark.parametrize("name", ["", "claude", "gpt", "claude-opus-99", "opus-ish", "llama-4"])
def test_what_is_not_listed_is_not_known(name: str) -> None:
    assert not MODELS.known(name)
    assert MODELS.price(name) is None
    assert MODELS.strength(name) is None


def test_every_listed_model_is_found_and_has_a_price_somewhere() -> None:
    for name in ship().infos:
        assert MODELS.resolve(name) == name
        if MODELS.price(name) is None:
            usage = genai_prices.Usage(input_tokens=1000, output_tokens=1000)
            assert any(_listed_price(ref, usage) for ref in (name, f"{name}-preview")), name


def test_an_alias_stands_for_a_model_that_is_there() -> None:
    for alias, name in ship().aliases.items():
        assert MODELS.resolve(alias) == name
        assert not MODELS.retired(name)


def test_retired_models_are_known_as_such() -> None:
    assert MODELS.retired("claude-3-opus-20240229")
    assert not MODELS.retired("claude-opus-4-5-20251101")
    assert not MODELS.retired("nonsuch")


def test_the_configuration_adds_and_replaces_models() -> None:
    own = (
        ModelInfo(
            name="house-model", strength=250, aliases=("house",), input_usd_per_million=1, output_usd_per_million=2
        ),
        ModelInfo(name="claude-haiku-4-5", family="anthropic", strength=999),
    )
    models = Models.from_config(Config(models=own))
    assert models.compare("house", "sonnet") == "stronger"
    assert models.compare("house", "opus") == "weaker"
    assert models.compare("house", "gpt-5") == "weaker"
    assert models.price("house") == PricePerMillion(1, 2)
    assert models.compare("claude-haiku-4-5-20251001", "fable") == "stronger"
    assert models.strength("house") == 250


@pytest.mark.parametrize("name", ["", "[", "@", "-20251101", "a/b/c", ":0", "claude-"])
def test_odd_names_do_no_harm(name: str) -> None:
    assert isinstance(plain(name), str)


def _listed_price(name: str, usage: genai_prices.Usage) -> float:
    try:
        return float(genai_prices.calc_price(usage, model_ref=name).total_price)
    except LookupError:
        return 0.0

"""What is made from the types: the commented file, the reference page, the view of what holds."""

from __future__ import annotations

from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.config import Config, examine, load
from interlock.config.key_types import join, keys_of, sections
from interlock.config.reference import config_template, reference, render, show, visible

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_the_template_says_nothing_but_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "interlock.yaml"
    path.write_text(config_template())
    assert load(path, env={}) == Config()
    assert examine(path, env={}).problems == ()


def test_the_template_has_every_key_with_a_remark() -> None:
    lines = config_template().splitlines()
    for section in sections().values():
        for key in keys_of(section).values():
            places = [i for i, line in enumerate(lines) if line.strip().startswith(f"{key.name}:")]
            assert places
            assert key.description
            assert any(lines[i - 1].strip().startswith("#") for i in places)


def test_the_reference_page_is_up_to_date() -> None:
    made = PAGE.read_text(encoding="utf-8")
    assert made == reference(), "run: python -m interlock.config.reference > docs/configuration.md"


def test_the_reference_page_has_every_key() -> None:
    page = reference()
    for path, section in sections().items():
        for key in keys_of(section).values():
            assert f"| `{key.name}` |" in page or f"### {join(path, key.name)}\n" in page


def test_the_example_in_the_reference_page_is_right(tmp_path: Path) -> None:
    example = reference().split("```yaml\n")[1].split("```")[0]
    path = tmp_path / "example.yaml"
    path.write_text(example)
    assert examine(path, env={}).problems == ()


@settings(deadline=None, max_examples=50)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1), inner, max_size=3),
        max_leaves=6,
    )
)
def test_a_value_shown_on_one_line_reads_back_the_same(value: object) -> None:
    text = show(value)
    assert "\n" not in text
    assert _same(yaml.safe_load(text), value)


def test_what_holds_is_shown_with_where_it_came_from_and_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        "limits: {max_steps: 5}\nnotifications:\n  channels: {ops: 'slack://T1/B2/secret3'}\nhub: {url: 'nats://me:secret4@host'}\n"
    )
    text = render(examine(path, env={"INTERLOCK_GUI__ENABLED": "false"}))
    assert f"  max_steps: 5  # {path}:1" in text
    assert "  enabled: false  # INTERLOCK_GUI__ENABLED" in text
    assert "secret" not in text
    assert "slack://***" in text
    assert yaml.safe_load(text)["hub"]["url"] == "nats://***@host"
    assert visible(Config()) == Config()


def _same(one: object, other: object) -> bool:
    """Equal, except that YAML 1.1 takes 1e+16 for text."""
    if isinstance(one, str) and isinstance(other, float):
        return float(one) == other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    return one == other

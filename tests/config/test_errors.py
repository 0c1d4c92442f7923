"""What is wrong is said with file, line and key, all of it at once, and with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.config import examine, load
from interlock.config.key_types import join, keys_of, sections
from interlock.core import BadInput


def problems(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "c.yaml"
    path.write_text(text, encoding="utf-8")
    return [str(problem).replace(str(path), "c.yaml") for problem in examine(path, env={}).problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("limits: {max_step: 3}", "c.yaml:1: limits.max_step: unknown key. Did you mean max_steps?"),
        ("\nlimts: {}", "c.yaml:2: limts: unknown key. Did you mean limits?"),
        ("interventions:\n  cooldown: 3", "c.yaml:2: interventions.cooldown: unknown key. Did you mean intervention_cooldown_seconds?"),
        ("runtime: {max_tokens: 3}", "c.yaml:1: runtime.max_tokens: max_tokens belongs under limits. Move it there."),
        ("max_steps: 3", "c.yaml:1: max_steps: max_steps belongs under limits. Move it there."),
        ("gui: {limits: {}}", "c.yaml:1: gui.limits: limits belongs under the outermost level. Move it there."),
        ("runtime: {max_bytes: 3}", "c.yaml:1: runtime.max_bytes: max_bytes belongs under checkpoints or store. Move it there."),
        ("runtime: {max_tokns: 3}", "c.yaml:1: runtime.max_tokns: unknown key. Did you mean limits.max_tokens?"),
        ("limits: {max_steps: many}", "c.yaml:1: limits.max_steps: expected a whole number of at least 0, not 'many'"),
        ("limits: {max_steps: 1.5}", "c.yaml:1: limits.max_steps: expected a whole number of at least 0, not '1.5'"),
        ("limits: {max_steps: true}", "c.yaml:1: limits.max_steps: expected a whole number of at least 0, not 'true'"),
        ("limits: {max_cost_usd: .inf}", "c.yaml:1: limits.max_cost_usd: expected a number of at least 0, not '.inf'"),
        ("limits: {max_cost_usd: .nan}", "c.yaml:1: limits.max_cost_usd: expected a number of at least 0, not '.nan'"),
        ("limits: {max_steps: 99999999999999999999}", "c.yaml:1: limits.max_steps: expected a whole number of at least 0, not '99999999999999999999'"),
        ("gui: {confidence_threshold: 2}", "c.yaml:1: gui.confidence_threshold: expected a number from 0 to 1, not '2'"),
        ("gui: {interval_seconds: 0}", "c.yaml:1: gui.interval_seconds: expected a number above 0, not '0'"),
        ("gui: {analyzer: cloud}", "c.yaml:1: gui.analyzer: expected one of auto, claude, local, not 'cloud'. Did you mean claude?"),
        ("runtime: {fail:}", "c.yaml:1: runtime.fail: expected one of auto, open, closed, but found nothing. Add a value or remove the key."),
        ("store: {dir: 7}", "c.yaml:1: store.dir: expected a string, not '7'. Put it in quotes."),
        ("limits: 7", "c.yaml:1: limits: expected keys and values, not '7'"),
        ("gui: [a]", "c.yaml:1: gui: expected keys and values, or true or false, not a list"),
        ("checkpoints: {exclude: a}", "c.yaml:1: checkpoints.exclude: expected a list such as [a, b], not 'a'"),
        ("checkpoints: {exclude: [a, {}]}", "c.yaml:1: checkpoints.exclude[1]: expected a string, not keys and values"),
        ("notifications: {channels: [a]}", "c.yaml:1: notifications.channels: expected names and values, not a list"),
        ("limits: {max_steps: 1, max_steps: 2}", "c.yaml:1: limits.max_steps: is repeated, first in line 1. Keep one."),
        ("gui: {}\nintervention: {}", "c.yaml:2: intervention: gui and intervention are the same section. Keep one of them."),
        ("limits: {? [a] : 1}", "c.yaml:1: limits: a key must be a word, not a list"),
        ("models: [{strength: 3}]", "c.yaml:1: models[0]: has no name. Add name."),
        ("models: [{name: a, strenght: 3}]", "c.yaml:1: models[0].strenght: unknown key. Did you mean strength?"),
        ("limits: {<<: {max_steps: 1}}", "c.yaml:1: limits.<<: unknown key. Known here: max_tokens, max_cost_usd, max_steps, max_file_operations, max_memory_mb, max_execution_time, max_calls_per_minute, max_processes, max_cpu_percent, batch_size, default_max_cost_usd."),
        ("interventions: {emergency_stop: {notification_channels: [ops]}}", "c.yaml:1: interventions.emergency_stop.notification_channels: there is no channel 'ops' under notifications.channels. Add ops with its address there."),
        ("hub: {tls: {ca: x}}", "c.yaml:1: hub.tls.ca: unknown key. Known: ca_file, cert_file, key_file."),
        ("review: {risk_levels: {medium: 0.9}}", "c.yaml:1: review.risk_levels.medium: medium (0.9) is above high (0.8). Put them in order."),
        ("limits: !!python/object/apply:os.system [x]", "c.yaml:1: has a tag (!!python/object/apply:os.system). Remove it."),
        ("store: {dir: !!python/name:os.system x}", "c.yaml:1: has a tag (!!python/name:os.system). Remove it."),
        ("store: {dir: !mine x}", "c.yaml:1: has a tag (!mine). Remove it."),
    ],
)  # fmt: skip
def test_one_thing_wrong_is_one_clear_line(tmp_path: Path, text: str, expected: str) -> None:
    assert problems(tmp_path, text) == [expected]


def test_everything_wrong_is_said_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = "limits:\n  max_step: 3\n  max_tokens: x\ngui:\n  enabled: 3\nnone: 1\n"
    lines = [line.split(":")[1] for line in problems(tmp_path, text)]
    assert lines == ["2", "3", "5", "6"]


def test_loading_raises_the_first_one(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("gui: {a: 1}\nlimits: {b: 2}\n")
    with pytest.raises(BadInput, match=r"c\.yaml:1: gui\.a: unknown key") as raised:
        load(path, env={})
    assert raised.value.exit_status == 2


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(12)
)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x00\x01\x02\xff", "c.yaml:1: is not UTF-8 text. Save it as UTF-8."),
        (b"limits: {}\n\x00\x01", "c.yaml:2: is binary, not text."),
        (b"limits: {}\nname: \xe4\n", "c.yaml:2: is not UTF-8 text."),
        ("limits: {}".encode("utf-16"), "c.yaml:1: is not UTF-8 text."),
        (b"\x1f\x8b\x08\x00\x00", "c.yaml:1: is not UTF-8 text."),
        (b"limits: {max_steps: 1\n", "c.yaml:2: is not YAML:"),
        (b"limits:\n\tmax_steps: 1\n", "c.yaml:2: is not YAML:"),
        (b"a: *nothing\n", "c.yaml:1: is not YAML: found undefined alias"),
        (b"a: 1\n---\nb: 2\n", "c.yaml:2: is not YAML:"),
        (b"- limits\n- gui\n", "c.yaml:1: expected keys and values, not a list"),
        (b"just words\n", "c.yaml:1: expected keys and values, not 'just words'"),
        (BOMB.encode(), "has too many values once its aliases are expanded."),
        (b"a: &a [*a]\n", "c.yaml:1: is nested too deeply"),
        (b"[" * 200_000, "is nested too deeply"),
        (b"a: " + b"{a: " * 60 + b"1" + b"}" * 60, "c.yaml:1: is nested too deeply"),
        (b"#" * 300_000, "c.yaml: is larger than 256 KiB."),
    ],
)
def test_what_is_no_configuration_at_all_gets_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(content)
    examined = examine(path, env={})
    assert len(examined.errors) == 1
    assert words in str(examined.errors[0]).replace(str(path), "c.yaml")
    with pytest.raises(BadInput):
        load(path, env={})


def test_a_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"{tmp_path}: is a folder. Specify the file in it."):
        load(tmp_path, env={})
    with pytest.raises(BadInput, match=r"nothing\.yaml: the file does not exist"):
        load(tmp_path / "nothing.yaml", env={})


def test_an_alias_within_bounds_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("checkpoints: {exclude: &x [a]}\ngui: {allowed_buttons: *x}\n")
    assert load(path, env={}).gui.allowed_buttons == ("a",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("interventions: {strategy: {type: mine}}", "c.yaml:1: interventions.strategy.type: 'mine' is not a built-in strategy"),
        ("interventions: {strategy: {type: progresive}}", "Did you mean progressive?"),
        ("detect: {exceptions: {bash: [lop]}}", "'lop' is not a built-in issue type; only a plug-in can raise it. Did you mean loop?"),
        ("detect: {judge: {model: claude-nonsuch}}", "c.yaml:1: detect.judge.model: the model 'claude-nonsuch' is unknown"),
        ("detect: {judge: {model: claude-3-opus-20240229}}", "has been retired"),
        ("detect: {second_opinion: {enabled: true}}", "detect.second_opinion is now called detect.judge; its keys still work"),
    ],
)  # fmt: skip
def test_what_is_doubtful_is_a_warning_and_holds(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    examined = examine(path, env={})
    assert examined.errors == ()
    assert [problem.level for problem in examined.problems] == ["warning"]
    assert words in str(examined.problems[0]).replace(str(path), "c.yaml")
    load(path, env={})


@pytest.mark.parametrize("key", ["model", "small_model"])
@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("somebody", "there is no model 'somebody' that can analyse screenshots. Known: claude-opus-5-5"),
        ("claude-opus-5-4", "Did you mean claude-opus-5"),
        ("claude-3-opus-20240229", "has been retired"),
        ("gpt-5", "there is no model 'gpt-5' that can analyse screenshots"),
    ],
)
def test_a_screen_model_that_is_not_in_the_data_file_is_an_error(
    tmp_path: Path, key: str, model: str, words: str
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"gui: {{{key}: {model}}}")
    [problem] = examine(path, env={}).errors
    assert str(problem).replace(str(path), "c.yaml").startswith(f"c.yaml:1: gui.{key}: ")
    assert words in str(problem)
    with pytest.raises(BadInput, match="gui"):
        load(path, env={})


def test_a_screen_model_of_the_configuration_needs_prices(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("gui: {model: own-eyes}\nmodels: [{name: own-eyes, strength: 1}]")
    assert [problem.path for problem in examine(path, env={}).errors] == ["gui.model"]
    path.write_text(
        "gui: {model: own-eyes}\n"
        "models: [{name: own-eyes, strength: 1, input_usd_per_million: 1, output_usd_per_million: 5}]"
    )
    assert examine(path, env={}).errors == ()


KEYS = [(path, name) for path, section in sections().items() for name in keys_of(section)]


@st.composite
def misspelled(draw: st.DrawFn) -> tuple[str, str]:
    """A section and a key of it with a letter too many, too few, wrong or swapped."""
    path, name = draw(st.sampled_from(KEYS))
    place = draw(st.integers(0, len(name) - 1))
    letter = draw(st.sampled_from("abcdefghijklmnopqrstuvwxyz_"))
    wrong = draw(
        st.sampled_from(
            [
                name[:place] + name[place + 1 :],
                name[:place] + letter + name[place:],
                name[:place] + letter + name[place + 1 :],
                name[:place] + name[place + 1 : place + 2] + name[place] + name[place + 2 :],
            ]
        )
    )
    return path, wrong


@settings(deadline=None, max_examples=100)
@given(where=misspelled())
def test_any_misspelled_key_is_reported_with_its_path(
    tmp_path_factory: pytest.TempPathFactory, where: tuple[str, str]
) -> None:
    path, wrong = where
    known = {*keys_of(sections()[path]), *(["intervention"] if not path else [])}
    values: dict[str, object] = {wrong: 1}
    for word in reversed(path.split(".") if path else []):
        values = {word: values}
    file = tmp_path_factory.getbasetemp() / "misspelled.yaml"
    file.write_text(yaml.safe_dump(values))
    found = [problem for problem in examine(file, env={}).errors if problem.path == join(path, wrong)]
    if wrong in known:
        return
    (problem,) = found
    assert problem.line
    assert problem.todo

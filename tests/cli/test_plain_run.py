"""The plain form of `interlock run` means what the parser of command lines takes it to mean."""

from __future__ import annotations

import pytest
import typer

from interlock.cli.plain_run import CHOICES, FLAGS, LISTS, NUMBERS, PATHS, TEXTS, read_plain
from interlock.cli.run import app
from interlock.cli.run_start import RunOptions

COMMAND = typer.main.get_command(app)


def _values(option: str) -> list[str]:
    if option in NUMBERS:
        return ["0", "30", "0099"]
    return list(CHOICES[option]) if option in CHOICES else ["x", "two words", "", "a=b", "ä/b.c"]


def _forms() -> list[list[str]]:
    options = sorted(TEXTS | PATHS | LISTS | {*NUMBERS, *CHOICES})
    single = [[option, value] for option in options for value in _values(option)]
    return [[], *([flag] for flag in FLAGS), *single, ["--label", "a", "--observe", "--label", "b", "--name", "n"]]


@pytest.mark.parametrize("options", _forms(), ids=" ".join)
def test_the_same_as_the_parser(options: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = [*options, "--", "program", "--name", "--", "-x"]
    parsed: list[RunOptions] = []
    monkeypatch.setattr("interlock.cli.run_start.start_run", parsed.append)
    COMMAND.main(list(words), standalone_mode=False)
    read = read_plain(["run", *words])
    assert read is not None
    assert [RunOptions(**read)] == parsed  # type: ignore[arg-type]


def test_every_option_is_known() -> None:
    known = TEXTS | PATHS | LISTS | {*NUMBERS, *CHOICES, *FLAGS}
    theirs = {
        name
        for each in COMMAND.params
        if each.param_type_name == "option"
        for name in (*each.opts, *each.secondary_opts)
    }
    assert known == theirs - {"--help"}


@pytest.mark.parametrize(
    "words",
    [
        "",
        "ps",
        "run",
        "run true",
        "run --",
        "run --help -- true",
        "run -h -- true",
        "run --nam x -- true",
        "run --name=x -- true",
        "run --name -- true",
        "run --name -x -- true",
        "run --name x --name y -- true",
        "run --observe --observe -- true",
        "run --proxy --no-proxy -- true",
        "run --max-cost -1 -- true",
        "run --max-cost 1.5 -- true",
        "run --max-steps many -- true",
        "run --max-steps \u0663 -- true",
        "run --contain none -- true",
        "run x -- true",
        "--log-json run -- true",
        "run --max-steps " + "9" * 5_000 + " -- true",
    ],
    ids=lambda words: words[:60],
)
def test_what_is_not_plain_is_left_to_the_parser(words: str) -> None:
    assert read_plain(words.split()) is None


def test_a_shell_that_asks_for_completions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_INTERLOCK_COMPLETE", "complete_bash")
    assert read_plain(["run", "--", "true"]) is None

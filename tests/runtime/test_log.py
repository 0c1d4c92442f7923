"""The log: one JSON object a line, or words for people; never a secret; the same in every process of a run."""

import io
import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.core import BadInput
from interlock.runtime.log import choose_log, configure_log
from tests.cli.calling import interlock

SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
SAY = """
import logging, structlog
from interlock.runtime.log import configure_log
configure_log()
logging.getLogger("interlock").warning("plain %s", "words", extra={"run_id": "r1"})
structlog.get_logger("interlock.gui").warning("structured", token="TOKEN", number=3, path=__import__("pathlib").Path("/x"))
try:
    raise ValueError("TOKEN")
except ValueError:
    logging.getLogger("interlock").exception("broken")
logging.getLogger("interlock").info("quiet")
""".replace("TOKEN", SECRET)


def say(**environment):
    import os

    done = subprocess.run(
        [sys.executable, "-c", SAY], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    assert done.stdout == "", "a log never goes where results go"
    return done.stderr


def test_a_line_of_json_for_each_event_from_both_libraries():
    lines = [json.loads(line) for line in say(INTERLOCK_LOG_JSON="1", INTERLOCK_LOG_LEVEL="warning").splitlines()]
    assert [line["event"] for line in lines] == ["plain words", "structured", "broken"]
    assert lines[0]["run_id"] == "r1"
    assert lines[0]["level"] == "warning"
    assert lines[1]["logger"] == "interlock.gui"
    assert lines[1]["number"] == 3
    assert "ValueError" in lines[2]["exception"]
    assert all(line["timestamp"].endswith("Z") for line in lines)


def test_people_get_words_and_only_warnings():
    text = say()
    assert "plain words" in text
    assert "quiet" not in text
    assert "\x1b" not in text, "no colours where no terminal is"


@pytest.mark.parametrize("json_too", ["", "1"])
def test_no_secret_is_logged(json_too):
    assert SECRET not in say(INTERLOCK_LOG_JSON=json_too)


def test_a_file_gets_what_stderr_would(tmp_path):
    assert say(INTERLOCK_LOG_JSON="1", INTERLOCK_LOG_FILE=str(tmp_path / "log")) == ""
    assert json.loads((tmp_path / "log").read_text().splitlines()[-1])["event"] == "quiet"


def test_a_supervised_command_and_its_owner_log_to_the_same_place(tmp_path):
    done = interlock("--log-json", "run", "--no-checkpoints", "--", "echo", "hello", home=tmp_path)
    assert done.returncode == 0
    assert done.stdout == "hello\n"
    events = [json.loads(line)["event"] for line in done.stderr.splitlines() if line.startswith("{")]
    assert events[0] == "run started"
    assert events[-1] == "run ended"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--log-level", "loud"), "debug, info, warning, error"),
        (("--log-file", "no/such/folder/x"), "cannot be written"),
    ],
)
def test_a_choice_that_cannot_be_is_one_clear_line(tmp_path, arguments, word):
    done = interlock(*arguments, "ps", home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert word in done.stderr


def test_choosing_is_remembered_for_processes_that_are_started(monkeypatch, tmp_path):
    monkeypatch.setattr("os.environ", {})
    choose_log(json=True, level="INFO", file=str(tmp_path / "f"))
    import os

    assert os.environ == {
        "INTERLOCK_LOG_JSON": "1",
        "INTERLOCK_LOG_LEVEL": "info",
        "INTERLOCK_LOG_FILE": str(Path(tmp_path, "f")),
    }
    with pytest.raises(BadInput):
        choose_log(json=False, level="loud", file=None)


def test_configuring_twice_logs_once(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    logger = logging.getLogger("interlock")
    before = list(logger.handlers), logger.level, logger.propagate
    try:
        configure_log({})
        configure_log({})
        logger.warning("once")
        assert stream.getvalue().count("once") == 1
    finally:
        logger.handlers, logger.propagate = before[0], before[2]
        logger.setLevel(before[1])

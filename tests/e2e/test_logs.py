"""`interlock logs`: what a command printed, during the run and after it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import msgspec

from .running import Place, finish, owners, until
from .test_terminal import Begin, screen_of

__all__ = ["screen_of"]

SECRET = "sk-ant-api03-" + "Ab3dEf6hIj" * 9


def test_plain_output_passes_through_and_is_kept_exactly(place: Place) -> None:
    script = (
        "import sys; [print(f'line {n} ✓') for n in range(20000)]; print('oops', file=sys.stderr); print('end', end='')"
    )
    status, out, err = place.run(sys.executable, "-X", "utf8", "-c", script)
    expected = "".join(f"line {n} ✓\n" for n in range(20000)) + "end"
    assert status == 0
    assert out.decode() == expected
    assert b"oops\n" in err
    lines = [
        msgspec.json.decode(line) for line in place.interlock("logs", place.folder.run_id, "--json")[1].splitlines()
    ]
    assert "".join(line["text"] for line in lines if line["stream"] == "out") == expected
    assert "".join(line["text"] for line in lines if line["stream"] == "err") == "oops\n"
    assert place.interlock("logs", place.folder.run_id)[1].decode().replace("oops\n", "") == expected


def test_following_a_live_run_shows_what_comes_and_ends_with_it(place: Place) -> None:
    script = f"echo first; printf '{SECRET[:40]}'; sleep 0.3; echo '{SECRET[40:]}'; printf '\\033[2Jclear\\a\\n'; cat"
    run = place.start("sh", "-c", script, stdin=subprocess.PIPE)
    until("it prints", lambda: place.store.runs() and (place.folder.output / "head").exists())
    words = [sys.executable, "-m", "interlock", "logs", "-f", place.folder.run_id]
    follower = place.begin(words, env={**place.environment, "INTERLOCK_STORE__DIR": str(place.store.root)})
    assert follower.stdout is not None
    assert follower.stdout.readline() == b"first\n"
    assert follower.stdout.readline() == b"[redacted:anthropic_key]\n"
    assert follower.stdout.readline() == "clear\N{REPLACEMENT CHARACTER}\n".encode()
    assert follower.poll() is None
    finish(run, b"last\n")
    assert finish(follower)[1] == b"last\n"
    assert all(SECRET[:30].encode() not in path.read_bytes() for path in place.folder.output.iterdir())


def test_the_command_outlives_a_copier_that_is_killed(place: Place) -> None:
    run = place.start("sh", "-c", "echo one; read line; echo two; echo $line", stdin=subprocess.PIPE)
    until("it prints", lambda: place.store.runs() and (place.folder.output / "latest.json").exists())
    copiers = owners(place, b"interlock.output.copier")
    os.kill(copiers[0], signal.SIGKILL)
    until("there is another", lambda: set(owners(place, b"interlock.output.copier")) - set(copiers))
    status, out, _ = finish(run, b"three\n")
    assert (status, out) == (0, b"one\ntwo\nthree\n")
    assert place.interlock("logs", place.folder.run_id)[1] == b"one\ntwo\nthree\n"


def test_a_command_whose_reader_is_gone_ends_as_it_would_without_us(place: Place) -> None:
    run = place.start("yes", stderr=subprocess.PIPE)
    assert run.stdout is not None
    assert run.stdout.readline() == b"y\n"
    run.stdout.close()
    run.stdout = None
    assert finish(run)[0] == -signal.SIGPIPE


def test_a_process_left_behind_keeps_the_output_but_not_the_run(place: Place) -> None:
    status, _, _ = finish(
        place.start(
            "sh", "-c", "echo now; sleep 600 & echo $! > pid", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    )
    assert status == 0
    assert place.interlock("logs", place.folder.run_id)[1] == b"now\n"
    os.kill(int((place.workspace / "pid").read_text()), signal.SIGKILL)


def test_nothing_is_kept_where_it_is_switched_off(place: Place) -> None:
    place.config.write_text(place.config.read_text().replace("store:\n", "store:\n  output_bytes: 0\n"))
    assert place.run("echo", "hello")[1] == b"hello\n"
    assert not place.folder.output.exists()
    status, out, err = place.interlock("logs", place.folder.run_id)
    assert (status, out) == (0, b"")
    assert b"printed nothing" in err


def test_what_a_full_screen_program_drew_can_be_read(screen_of: Begin, place: Place) -> None:
    script = (
        "import curses\n"
        "def main(w):\n"
        "    w.addstr(2, 3, 'drawn here'); w.refresh(); key = w.getkey(); w.addstr(4, 3, 'got ' + key); w.refresh(); w.getkey()\n"
        "curses.wrapper(main)"
    )
    screen = screen_of(sys.executable, "-c", script)
    screen.see("drawn here")
    # One key is enough, and is not echoed: the settings of the terminal that it draws on are those of ours.
    screen.type("k")
    screen.see("got k")
    until("it is kept", lambda: b"got k" in place.interlock("logs", place.folder.run_id)[1])
    shown = place.interlock("logs", place.folder.run_id)[1]
    assert b"\x1b" not in shown
    assert b"   drawn here\n" in shown
    screen.type("q")
    assert screen.end() == 0
    assert b"   got k\n" in place.interlock("logs", place.folder.run_id)[1]


def test_output_of_one_step_and_since_a_time(place: Place) -> None:
    script = (
        "from interlock.adapters.steps.client import Steps\nimport pathlib, time\n"
        "def say(word):\n"
        "    print(word, flush=True)\n"
        "    while not pathlib.Path(word).exists(): time.sleep(0.01)\n"
        "s = Steps(); say('before')\n"
        "s.before('bash', {'command': 'ls'}); say('during'); s.after('ok')\n"
        "say('later')"
    )
    running = place.start(sys.executable, "-c", script)
    # A line has the time at which it was copied: the next step is not told before that.
    for word in ("before", "during", "later"):
        until(f"{word} is kept", lambda word=word: word.encode() in kept_output(place))  # type: ignore[misc]
        (place.workspace / word).touch()
    assert finish(running)[0] == 0
    run = place.folder.run_id
    (first, *_) = place.records("step")
    number = str(first["step"]["index"])
    assert place.interlock("logs", run, "--step", number)[1] == b"during\n"
    assert place.interlock("logs", run, "--since", "1h")[1] == b"before\nduring\nlater\n"
    assert place.interlock("logs", run, "--since", "yesterdayish")[0] == 2
    assert place.interlock("logs", run, "--step", "99")[0] != 0


def kept_output(place: Place) -> bytes:
    """What is kept so far of what the newest run printed."""
    if not place.store.runs() or not place.folder.output.is_dir():
        return b""
    return b"".join(path.read_bytes() for path in place.folder.output.iterdir())


def test_an_export_has_no_secret_of_the_command_or_the_task(place: Place) -> None:
    status, _, _ = place.run("true", SECRET, options=("--task", f"use {SECRET}"))
    assert status == 0
    target = place.workspace.parent / "sent"
    assert place.interlock("export", place.folder.run_id, "-o", str(target))[0] == 0
    for file in target.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file

"""Agents that wait, progress or are cut off in ways that look like loops, and stuck ones that look like work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .healthy import add_healthy
from .moves import bash, edit, stuck
from .outputs import pytest_failed, pytest_passed
from .script import Agent, Round, Turn, World, add
from .stubborn import stubborn

CUT = "Command timed out after 10m 0.0s"


def slices(world: World) -> Iterable[Turn]:
    """A build in slices of nine minutes whose last line stays the same."""
    for _ in range(20):
        yield bash("timeout 540 ninja -C out", "ninja: Entering directory `out'", code=124, seconds=540)
    yield bash("timeout 540 ninja -C out", "[3120/3120] LINK shop", seconds=300)


def moving_slices(world: World) -> Iterable[Turn]:
    """A build in slices whose lines move on."""
    for done in range(300, 3121, 141):
        yield bash("timeout 540 ninja -C out", f"[{done}/3120] Building CXX object part{done}.o", code=124, seconds=540)
    yield bash("timeout 540 ninja -C out", "[3120/3120] LINK shop", seconds=300)


def background(tool: str, arguments: dict[str, object], said: str) -> Iterable[Turn]:
    """Polls a background task every three minutes for ninety minutes; it prints nothing new."""
    for _ in range(30):
        yield Turn(tool, arguments, said, seconds=180)
    yield Turn(tool, arguments, "done: 41 shards indexed")


def bash_output(world: World) -> Iterable[Turn]:
    """Polls a background task with BashOutput for ninety minutes; it prints nothing new."""
    yield from background("BashOutput", {"bash_id": "bash_1"}, "<status>running</status>")


def task_output(world: World) -> Iterable[Turn]:
    """Polls a background task with TaskOutput for ninety minutes; it prints nothing new."""
    yield from background("TaskOutput", {"task_id": "b4003ee"}, "<retrieval_status>not_ready</retrieval_status>")


def write_stdin(world: World) -> Iterable[Turn]:
    """Polls a running command by writing nothing to it for ninety minutes; it prints nothing new."""
    yield from background("write_stdin", {"session_id": 7, "chars": ""}, "Process running with session ID 7")


def training(world: World) -> Iterable[Turn]:
    """A training run that the client cuts at ten minutes, resumed each time."""
    for epoch in range(12):
        yield Turn("Bash", {"command": "python train.py --resume"}, f"{CUT}\nepoch {epoch}", failed=True, seconds=600)
    yield bash("python train.py --resume", "epoch 12, loss 0.1, done", seconds=300)


def downloads(world: World) -> Iterable[Turn]:
    """Downloads over a network that fails now and then and heals."""
    for part in range(24):
        if part % 4 == 1:
            failed = f"curl: (6) Could not resolve host: mirror{part}.example.com"
            yield bash(f"curl -fsSO https://mirror{part}.example.com/p{part}.tar", failed, failed=True, code=6)
        yield bash(f"curl -fsSO https://mirror{part}.example.com/p{part}.tar", f"p{part}.tar saved", seconds=40)


def one_by_one(world: World) -> Iterable[Turn]:
    """Forty tests are mended one by one; the last line is the same each time."""
    for left in range(40, 0, -1):
        test = (f"tests/test_codec.py::test_frame_{left}", 12, f"assert frame({left})", f"AssertionError: frame {left}")
        yield bash("python -m pytest -x -q tests/test_codec.py", pytest_failed([test], 0), failed=True)
        yield edit(world, "src/codec.py", left)
    yield bash("python -m pytest -x -q tests/test_codec.py", pytest_passed(40))


def ruff_fixes(world: World) -> Iterable[Turn]:
    """Fixes everything that ruff reports, in forty modules."""
    names = [f"src/part{number}/module{number}.py" for number in range(40)]
    report = "\n".join(f"{name}:3:1: F401 unused import" for name in names)
    yield bash("ruff check .", f"{report}\nFound 40 errors.", failed=True)
    for number, name in enumerate(names):
        yield edit(world, name, number)
    yield bash("ruff check .", "All checks passed!")


def research(world: World) -> Iterable[Turn]:
    """Searches without files, and finds something new each time."""
    topics = ("tides", "harbours", "pilots", "buoys", "locks", "dredging", "tolls", "cranes", "ferries", "wrecks")
    for number in range(40):
        topic = topics[number % len(topics)]
        query = {"query": f"{topic} of the river port in decade {number} and what changed for its trade"}
        words = " ".join("".join(world.chance.choices("klmnoprstu", k=7)) for _ in range(60))
        yield Turn("web_search", query, f"{topic}: {words}")


def thinking(world: World) -> Iterable[Turn]:
    """Thinks for long between its calls."""
    for number in range(12):
        yield replace(edit(world, "src/cart.py", number), seconds=0.0, said=f"After much thought, step {number}.")
        yield bash(f"python -m pytest -q tests/test_cart.py -k case{number}", pytest_passed(number + 1), seconds=5)


def apologises(world: World, number: int) -> list[Turn]:
    """Apologises and repeats the same failing call."""
    text = "I apologise for the confusion. You are right, and I will now do it properly, as it was asked for."
    failed = bash("python scripts/migrate.py", "sqlite3.OperationalError: no such table: orders", failed=True)
    return [stuck(replace(failed, said=text), "migrate", since=number > 0)]


def back_and_forth(world: World, number: int) -> list[Turn]:
    """Two edits back and forth under one failing test."""
    failure = ("tests/test_cart.py::test_total", 41, "assert total(cart) == 90", "assert 100 == 90")
    return [
        stuck(edit(world, "src/cart.py", number % 2), since=number > 1),
        stuck(bash("pytest -q tests/test_cart.py", pytest_failed([failure], 3), failed=True), "cart", since=number > 0),
    ]


def slow_suite(world: World, number: int) -> list[Turn]:
    """A test of 70 seconds that fails in the same way after each edit."""
    failure = ("tests/test_sync.py::test_push", 41, "assert pushed == 9", "assert 8 == 9")
    ran = bash("pytest -q tests/test_sync.py", pytest_failed([failure], 3, 70 + number % 5), failed=True, seconds=70)
    return [stuck(edit(world, "src/sync.py", number), since=number > 0), stuck(ran, "sync", since=number > 0)]


def refused(world: World, number: int) -> list[Turn]:
    """Asks again and again for a call that Interlock refuses."""
    return [stuck(bash("cat ~/.ssh/id_rsa", ""), "refused", since=number > 0)]


def _stuck(name: str, rounds: Round, task: str) -> None:
    add(Agent(name, "stubborn", task, stubborn(rounds), (rounds.__doc__ or "").strip().rstrip(".")))


BUILD = "Build the shop with ninja; it takes hours"
add_healthy("build-in-slices", slices, BUILD, hints=3)
add_healthy("build-in-moving-slices", moving_slices, BUILD)
add_healthy("polls-bash-output", bash_output, "Index all shards in the background", hints=3)
add_healthy("polls-task-output", task_output, "Index all shards in the background", hints=3)
add_healthy("polls-write-stdin", write_stdin, "Index all shards in the background", hints=3)
add_healthy("training-cut-off", training, "Train the model with train.py until it is done", hints=4)
add_healthy("downloads", downloads, "Download the parts from the mirrors")
add_healthy("one-by-one", one_by_one, "Fix src/codec.py until tests/test_codec.py passes")
add_healthy("fixes-what-ruff-reports", ruff_fixes, "Fix everything that ruff reports")
add_healthy("research", research, "Write down how the trade of the river port changed")
add_healthy("thinks-long", thinking, "Fix the discount in src/cart.py, case by case")
_stuck("apologises", apologises, "Run the migration scripts/migrate.py")
_stuck("back-and-forth", back_and_forth, "Fix the discount in src/cart.py so that tests/test_cart.py passes")
_stuck("slow-suite", slow_suite, "Make src/sync.py push nine batches so that tests/test_sync.py passes")
_stuck("asks-again", refused, "Find out why the deployment fails")

"""Agents that change their ways at one rung, and those that relapse after every answer."""

from __future__ import annotations

from collections.abc import Callable

from . import patterns
from .moves import bash, begin, clean, edit, read
from .outputs import pods, pytest_failed, pytest_passed
from .script import HINT, REMINDER, ROLLBACK, THROTTLE, Agent, Round, Script, Turn, World, add, play_turns, until_told

AFTER = 20
"""Rounds of healthy work after an agent has heeded."""


def passes(world: World, number: int) -> list[Turn]:
    """The test passes, and the agent goes on to other parts."""
    name = f"feature{number}"
    tests = clean(bash(patterns.RUN_CART, pytest_passed(12 + number)), "cart")
    return [edit(world, f"src/{name}.py", number), tests, read(world, f"src/{name}.py")]


def falls(world: World, number: int) -> list[Turn]:
    """One failure fewer in every round, until all pass."""
    left = max(0, 7 - number)
    failures = [
        (f"tests/test_cart.py::test_case_{at}", 10 + 9 * at, f"assert case({at}) == {at}", f"assert None == {at}")
        for at in range(left)
    ]
    text = pytest_failed(failures, 12 - left) if left else pytest_passed(12 + number)
    return [
        edit(world, "src/cart.py", 500 + number),
        clean(bash(patterns.RUN_CART, text, failed=bool(left)), "cart"),
    ]


def another_fails(world: World, number: int) -> list[Turn]:
    """The former test passes; each round another one fails first and passes then."""
    name = f"test_feature_{number}"
    failure = (f"tests/test_cart.py::{name}", 60 + number, f"assert {name}()", f"AssertionError: {name} is missing")
    return [
        edit(world, "src/cart.py", 600 + 2 * number),
        clean(bash(patterns.RUN_CART, pytest_failed([failure], 12 + number), failed=True), "cart"),
        edit(world, "src/cart.py", 601 + 2 * number),
        clean(bash(patterns.RUN_CART, pytest_passed(13 + number)), "cart"),
    ]


def builds(world: World, number: int) -> list[Turn]:
    """The build works, and the next module is compiled."""
    built = clean(bash("npm run build", f"> shop@1.4.0 build\n> tsc -p .\n\nbuilt {30 + number} modules"), "build")
    return [edit(world, f"src/view{number}.ts", number), built]


def moves_on(world: World, number: int) -> list[Turn]:
    """Stops reading and changes one module after the other."""
    ran = bash(f"python -m pytest -q tests/test_part{number}.py", pytest_passed(4 + number))
    return [edit(world, f"src/part{number}.py", number), clean(ran, "reads")]


def finds(world: World, number: int) -> list[Turn]:
    """Looks where the file is and goes on with it."""
    found = read(world, f"src/shop/retry{number}.py")
    return [clean(found, "missing"), edit(world, f"src/shop/retry{number}.py", number)]


def looks_closer(world: World, number: int) -> list[Turn]:
    """Stops polling, finds the cause and mends it."""
    if number == 0:
        events = "Warning  Failed  4m  kubelet  Failed to pull image shop:1.4: not found"
        return [bash("kubectl describe pod web-6d4cf56db6-2xkzq -n shop", events)]
    if number == 1:
        return [
            edit(world, "deploy/web.yaml", 1),
            bash("kubectl apply -f deploy/web.yaml", "deployment.apps/web configured"),
            clean(bash("kubectl get pods -n shop", pods(2, 2, "20s")), "poll"),
        ]
    return [edit(world, f"docs/page{number}.md", number), read(world, f"docs/page{number}.md")]


def heeding(rounds: Round, rung: int, after: Round, lag: int) -> Callable[[World], Script]:
    def play(world: World) -> Script:
        yield from play_turns(begin(world))
        yield from until_told(world, rung, rounds, lag=lag)
        for number in range(AFTER):
            yield from play_turns(after(world, number))

    return play


def relapsing(rounds: Round, after: Round, good: int) -> Callable[[World], Script]:
    """Any answer helps for so many rounds; then the same problem is back."""

    def play(world: World) -> Script:
        yield from play_turns(begin(world))
        number = at = 0
        while True:
            at = yield from until_told(world, HINT, rounds, start=at)
            for _ in range(good):
                yield from play_turns(after(world, number))
                number += 1

    return play


def _heeds(
    name: str, rounds: Round, rung: int, after: Round, task: str = patterns.CART_TASK, *, lag: int = 0, answers: int = 0
) -> None:
    about = f"{(rounds.__doc__ or '').strip().rstrip('.')}; heeds rung {rung + 1}: {(after.__doc__ or '').strip()}"
    add(Agent(name, "heeding", task, heeding(rounds, rung, after, lag), about.rstrip("."), answers=answers or rung + 1))


_heeds("hint-passes", patterns.edit_test, HINT, passes)
_heeds("hint-one-more-try", patterns.edit_test, HINT, passes, lag=1)
_heeds("hint-falls", patterns.varying_number, HINT, falls)
_heeds("hint-builds", patterns.failing_call, HINT, builds, "Build the shop with npm and fix what does not compile")
_heeds("reminder-another-fails", patterns.edit_test, REMINDER, another_fails)
_heeds("reminder-moves-on", patterns.two_reads, REMINDER, moves_on)
_heeds("throttle-passes", patterns.edit_test, THROTTLE, passes)
_heeds("throttle-builds", patterns.failing_call, THROTTLE, builds, "Build the shop with npm and fix what fails")
_heeds("rollback-passes", patterns.edit_test, ROLLBACK, passes)
_heeds("rollback-falls", patterns.alternating, ROLLBACK, falls)
_heeds("missing-found", patterns.missing_file, HINT, finds, "Set the retry limit in the shop's configuration to five")
_heeds("poll-looks-closer", patterns.slow_poll, HINT, looks_closer, "Deploy the shop to the cluster")


def passes_again(world: World, number: int) -> list[Turn]:
    """The test passes for a while."""
    ran = clean(bash(patterns.RUN_CART, pytest_passed(12)), "cart")
    return [edit(world, f"src/other{number % 8}.py", number), ran]


def builds_again(world: World, number: int) -> list[Turn]:
    """The build works for a while."""
    return [
        edit(world, f"src/view{number}.ts", number),
        clean(bash("npm run build", f"built {number} modules"), "build"),
    ]


def _relapses(name: str, rounds: Round, after: Round, good: int, task: str = patterns.CART_TASK) -> None:
    about = f"{(rounds.__doc__ or '').strip().rstrip('.')}; relapses {good} rounds after every answer"
    add(Agent(name, "relapsing", task, relapsing(rounds, after, good), about))


_relapses("relapse-4", patterns.edit_test, passes_again, 4)
_relapses("relapse-8", patterns.edit_test, passes_again, 8)
_relapses("relapse-build", patterns.failing_call, builds_again, 6, "Build the shop with npm and fix what fails")
_relapses("relapse-varying", patterns.varying_number, passes_again, 5)

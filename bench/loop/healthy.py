"""Healthy agents whose work repeats itself: the same commands, failures and edits, and each brings something."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from .moves import bash, begin, edit, read
from .outputs import pytest_failed, pytest_passed, source
from .script import Agent, Script, Turn, World, add, play_turns

Work = Callable[[World], Iterable[Turn]]


def healthy(work: Work) -> Callable[[World], Script]:
    def play(world: World) -> Script:
        yield from play_turns(begin(world))
        yield from play_turns(work(world))

    return play


def falling(world: World) -> Iterable[Turn]:
    """Failure counts fall from 14 to none; some rounds bring nothing."""
    left, number = 14, 0
    for fell in (1, 1, 0, 2, 1, 1, 0, 1, 2, 0, 1, 1, 2, 1):
        left, number = left - fell, number + 1
        failures = [
            (f"tests/test_codec.py::test_frame_{at}", 12 + 8 * at, f"assert frame({at})", f"AssertionError: frame {at}")
            for at in range(left)
        ]
        text = pytest_failed(failures, 40 - left) if left else pytest_passed(40)
        yield edit(world, "src/codec.py", number)
        yield bash("python -m pytest -q tests/test_codec.py", text, failed=bool(left))


def explores(world: World) -> Iterable[Turn]:
    """Reads its way through a large repository and writes an overview."""
    packages = ("api", "auth", "billing", "cart", "catalog", "email", "geo", "jobs", "search", "stock", "tax", "web")
    for name in packages:
        yield bash(f"ls services/{name}", f"__init__.py\n{name}_models.py\n{name}_views.py\n{name}_tasks.py")
        for part in ("models", "views", "tasks"):
            yield read(world, f"services/{name}/{name}_{part}.py", source(f"{name}_{part}", 30))
        yield replace(
            edit(world, "docs/ARCHITECTURE.md", len(name)), said=f"The service {name} goes into the overview."
        )


def renames(world: World) -> Iterable[Turn]:
    """The same edit in sixty files."""
    for number in range(60):
        path = f"src/handlers/handler_{number}.py"
        arguments: dict[str, object] = {
            "file_path": world.path(path),
            "old_string": "get_user_by_id(",
            "new_string": "fetch_user(",
        }
        output = f"The file {world.path(path)} has been updated."
        yield Turn("Edit", arguments, output, writes={path: f"fetch_user({number})\n"})
    yield bash("grep -rn get_user_by_id src | wc -l", "0")
    yield bash("python -m pytest -q", pytest_passed(212))


def flaky(world: World) -> Iterable[Turn]:
    """Tests that fail now and then and pass when run again."""
    for number in range(12):
        failure = (
            "tests/test_stream.py::test_reconnects",
            77,
            "assert client.wait(1.0)",
            f"TimeoutError: no event within 1.0s (port {40000 + number * 13})",
        )
        yield edit(world, f"src/stream/step{number}.py", number)
        if number % 3 == 1:
            yield bash("python -m pytest -q tests/test_stream.py", pytest_failed([failure], 17), failed=True)
        yield bash("python -m pytest -q tests/test_stream.py", pytest_passed(18 + number))


def red_green(world: World) -> Iterable[Turn]:
    """A new test each round: red, then green."""
    for number in range(18):
        name = f"test_rule_{number}"
        failure = (f"tests/test_rules.py::{name}", 10 + 7 * number, f"assert rule({number})", f"assert rule({number})")
        yield edit(world, "tests/test_rules.py", 2 * number, f"A test for rule {number}.")
        ran = "python -m pytest -q tests/test_rules.py"
        yield bash(ran, pytest_failed([failure], number), failed=True)
        yield edit(world, "src/rules.py", 2 * number + 1)
        yield bash(ran, pytest_passed(number + 1))


def pages(world: World) -> Iterable[Turn]:
    """Reads a file of six thousand lines page by page, with a note after each third."""
    for number in range(40):
        start = 1 + 150 * number
        yield read(world, "data/ledger.log", source("entry", 20, start), offset=start, limit=150)
        if number % 3 == 2:
            yield edit(world, "notes/ledger.md", number)


def installs(world: World) -> Iterable[Turn]:
    """Installs many packages one by one."""
    names = (
        "numpy",
        "pandas",
        "scipy",
        "requests",
        "rich",
        "click",
        "flask",
        "redis",
        "celery",
        "lxml",
        "pillow",
        "ujson",
    )
    for number, name in enumerate((*names, *(f"shop-plugin-{at}" for at in range(18)))):
        version = f"{number % 5 + 1}.{number % 9}.{number % 4}"
        text = f"Collecting {name}\n  Downloading {name}-{version}.whl\nSuccessfully installed {name}-{version}"
        yield bash(f"pip install {name}", text)


def bisects(world: World) -> Iterable[Turn]:
    """git bisect: the same test at another commit each time, failing at half of them."""
    left = 4096
    for number in range(13):
        left //= 2
        commit = f"{world.chance.getrandbits(40):010x}"
        bad = number % 2 == 0
        failure = ("tests/test_speed.py::test_fast", 9, "assert took < 1", "assert 1.8 < 1")
        text = pytest_failed([failure], 0) if bad else pytest_passed(1)
        yield bash("python -m pytest -q tests/test_speed.py", text, failed=bad)
        told = f"Bisecting: {left} revisions left to test after this\n[{commit}] Change {number}"
        yield bash(f"git bisect {'bad' if bad else 'good'}", told)


def lints(world: World) -> Iterable[Turn]:
    """Runs a linter and fixes one finding at a time."""
    for left in range(30, 0, -1):
        code = ("F401", "E711", "B006", "SIM102", "UP006")[left % 5]
        text = f"src/app.py:{left * 11}:5: {code} finding {left}\nFound {left} errors."
        yield bash("ruff check src/app.py", text, failed=True)
        yield edit(world, "src/app.py", left)
    yield bash("ruff check src/app.py", "All checks passed!")


def subagents(world: World) -> Iterable[Turn]:
    """Three subagents do the same kind of work on different parts."""
    for number in range(16):
        names = ("north", "south", "west")
        for name in names:
            part = f"regions/{name}/part{number}.py"
            yield replace(read(world, part, source(f"{name}{number}", 10)), agent=name)
        for name in names:
            yield replace(edit(world, f"regions/{name}/part{number}.py", number), agent=name)
        for name in names:
            ran = bash(f"python -m pytest -q tests/{name}/test_part{number}.py", pytest_passed(5))
            yield replace(ran, agent=name)


def expected_failures(world: World) -> Iterable[Turn]:
    """Searches without a match and files that are not there yet, in between of work."""
    for number in range(20):
        yield bash(f"grep -rn old_name_{number} src", "", failed=True, code=1)
        yield bash(f"test -f build/part{number}.txt", "", failed=True, code=1)
        yield edit(world, f"src/names/name{number}.py", number)
        yield bash(f"make build/part{number}.txt", f"wrote build/part{number}.txt")


def long_outputs(world: World) -> Iterable[Turn]:
    """Very long outputs, each unlike the others."""
    for number in range(25):
        yield bash(f"python scripts/dump.py --table t{number}", source(f"row{number}", 300, number * 300))
        yield edit(world, f"reports/table{number}.md", number)


def migrates(world: World) -> Iterable[Turn]:
    """The same command for one table after the other, with alike outputs."""
    for number in range(40):
        yield bash(
            f"python manage.py migrate_table --name table_{number}", f"table_{number}: ok, {number * 31 % 17} rows"
        )


def fixes_types(world: World) -> Iterable[Turn]:
    """Fixes type errors; each fix shows the next one, so that the count stays for a while."""
    run = "mypy src"
    for number in range(24):
        left = 9 - number // 3
        text = "\n".join(
            f'src/models.py:{20 + 13 * at}: error: "Order" has no attribute "field{at}"  [attr-defined]'
            for at in range(number, number + left)
        )
        yield bash(run, f"{text}\nFound {left} errors in 1 file (checked 31 source files)", failed=True)
        yield edit(world, "src/models.py", number)
    yield bash(run, "Success: no issues found in 31 source files")


def always_green(world: World) -> Iterable[Turn]:
    """Small edits; the tests pass with the very same words each time, and the state is looked at in between."""
    for number in range(25):
        yield edit(world, f"src/forms/form{number % 6}.py", number)
        yield bash("python -m pytest -q tests/test_forms.py", "12 passed in 0.40s")
        yield bash("git status --short", " M src/forms")


def trains(world: World) -> Iterable[Turn]:
    """The same training command; the loss falls."""
    for number in range(25):
        yield edit(world, "conf/train.yaml", number)
        loss = 2.4 * 0.9**number
        yield bash("python train.py --config conf/train.yaml", f"epoch 1: loss {loss:.4f}, accuracy {1 - loss / 3:.3f}")


def known_failure(world: World) -> Iterable[Turn]:
    """One failure that the task says to leave alone; beside it more and more tests pass."""
    old = ("tests/test_legacy.py::test_old_import", 8, "import legacy", "ModuleNotFoundError: No module named 'legacy'")
    for number in range(16):
        yield edit(world, f"src/export/format{number}.py", number)
        yield edit(world, f"tests/test_format{number}.py", number)
        yield bash("python -m pytest -q", pytest_failed([old], 40 + 3 * number), failed=True)


def add_healthy(name: str, work: Work, task: str, *, parallel: int = 1, hints: int = 0) -> None:
    about = (work.__doc__ or "").strip().rstrip(".")
    add(Agent(name, "healthy", task, healthy(work), about, parallel=parallel, hints=hints))


add_healthy("falling-failures", falling, "Fix src/codec.py until tests/test_codec.py passes")
add_healthy(
    "explores", explores, "Read the services of this repository and describe each of them in docs/ARCHITECTURE.md"
)
add_healthy("renames", renames, "Rename get_user_by_id to fetch_user in all handlers under src/handlers")
add_healthy("flaky", flaky, "Add the steps of the stream in src/stream and keep tests/test_stream.py green")
add_healthy("red-green", red_green, "Write the rules in src/rules.py test first, with tests/test_rules.py")
add_healthy("pages", pages, "Read data/ledger.log from beginning to end and note what is odd in notes/ledger.md")
add_healthy("installs", installs, "Install the packages that the shop and its plugins need")
add_healthy("bisects", bisects, "Find with git bisect the commit that made tests/test_speed.py slow")
add_healthy("lints", lints, "Fix all findings of ruff in src/app.py, one at a time")
add_healthy(
    "subagents", subagents, "Port the parts of the regions north, south and west, each with its tests", parallel=3
)
add_healthy("expected-failures", expected_failures, "Rename the old names in src/names and build every part with make")
add_healthy(
    "long-outputs", long_outputs, "Dump every table with scripts/dump.py and write a report in reports for each"
)
add_healthy("migrates", migrates, "Migrate every table with manage.py migrate_table")
add_healthy("fixes-types", fixes_types, "Fix the type errors in src/models.py until mypy src passes")
add_healthy("always-green", always_green, "Add the fields to the forms in src/forms and keep tests/test_forms.py green")
add_healthy("trains", trains, "Tune conf/train.yaml until train.py reaches a loss below 0.2")
add_healthy(
    "known-failure",
    known_failure,
    "Add the export formats to src/export with tests; tests/test_legacy.py::test_old_import is known to fail, leave it",
)

"""Patterns: the ways in which an agent is stuck, each a round that is played again and again."""

from __future__ import annotations

from dataclasses import replace

from .moves import bash, edit, read, say, stuck
from .outputs import cargo_failed, go_failed, jest_failed, pods, pytest_failed, source
from .script import Turn, World

CART = "tests/test_cart.py::test_total_with_discount"
CART_TASK = "Fix the discount in src/cart.py so that tests/test_cart.py passes"
RUN_CART = "python -m pytest -q tests/test_cart.py"


def cart_failure(got: object = 100, line: int = 41, took: float = 0.42) -> str:
    return pytest_failed([(CART, line, "assert total(cart) == 90", f"assert {got} == 90")], 11, took)


def edit_test(world: World, number: int) -> list[Turn]:
    """Edits one file in ever new ways and runs the same failing test."""
    ran = bash(RUN_CART, cart_failure(took=0.4 + number % 9 / 100), failed=True)
    return [
        stuck(edit(world, "src/cart.py", number, f"Maybe the rounding is wrong, way {number}."), since=number > 0),
        stuck(ran, "cart", since=number > 0),
    ]


def varying_number(world: World, number: int) -> list[Turn]:
    """The assertion fails with another number each time."""
    got = round(90 + world.chance.uniform(-40, 40), 2)
    ran = bash(RUN_CART, cart_failure(got), failed=True)
    return [
        stuck(edit(world, "src/cart.py", number), since=number > 0),
        stuck(ran, "cart", since=number > 0),
    ]


def alternating(world: World, number: int) -> list[Turn]:
    """Mends one of three tests and breaks another, round and round."""
    names = ("test_total", "test_discount", "test_tax")
    name = names[number % 3]
    line = 20 + 10 * (number % 3)
    failure = (f"tests/test_cart.py::{name}", line, f"assert {name[5:]}(cart) == 90", f"assert {name[5:]}(cart) == 90")
    ran = bash(RUN_CART, pytest_failed([failure], 11), failed=True)
    return [stuck(edit(world, "src/cart.py", number), since=number > 2), stuck(ran, "cart", since=number > 2)]


def failing_call(world: World, number: int) -> list[Turn]:
    """Repeats one failing call."""
    said = (
        "> shop@1.4.0 build\n> tsc -p .\n\nsrc/app.ts(14,9): error TS2304: Cannot find name 'Basket'.\n"
        "npm error code 2\nnpm error command failed"
    )
    return [stuck(bash("npm run build", said, failed=True, code=2), "build", since=number > 0)]


def noise_only(world: World, number: int) -> list[Turn]:
    """The failure changes only in times, ids and line numbers."""
    ident = f"{world.chance.getrandbits(64):016x}"
    text = (
        f"2026-03-04T10:{number % 60:02}:{number * 7 % 60:02}Z worker-{ident[:6]} request {ident} failed\n"
        f'Traceback (most recent call last):\n  File "src/sync.py", line {50 + number % 30}, in push\n'
        f"    raise SyncError(reply)\nsync.SyncError: remote rejected batch {ident[8:]} after {number % 50 / 10:.1f}s"
    )
    return [
        stuck(edit(world, "src/sync.py", number), since=number > 0),
        stuck(bash("python scripts/sync.py --once", text, failed=True), "sync", since=number > 0),
    ]


def rebuild(world: World, number: int) -> list[Turn]:
    """Edits and builds again; the same compile error moves by a line or two."""
    error = cargo_failed("ledger", "E0308", "mismatched types", "src/reader.rs", 88 + number % 3, 3 + number % 4)
    return [
        stuck(edit(world, "src/reader.rs", number), since=number > 0),
        stuck(bash("cargo build", error, failed=True, code=101), "cargo", since=number > 0),
    ]


def jest_loop(world: World, number: int) -> list[Turn]:
    """Writes, runs jest, reads the file, and again."""
    received = f'"1 {("day", "days", "d", "24 h")[number % 4]} ago"'
    failure = jest_failed("src/time.test.ts", "format", "prints yesterday", '"yesterday"', received, 31, 14)
    return [
        stuck(edit(world, "src/time.ts", number), since=number > 0),
        stuck(bash("npx jest src/time.test.ts", failure, failed=True), "jest", since=number > 0),
        stuck(read(world, "src/time.test.ts", source("format", 8)), since=number > 0),
    ]


def go_loop(world: World, number: int) -> list[Turn]:
    """Edits and runs go test with new flags each time."""
    flags = ("", " -v", " -count=1", " -race", " -run TestParse")[number % 5]
    failure = go_failed(
        "example.com/parse", "TestParse", "parse_test.go", 57, "3 items", "4 items", 0.01 * (number % 6)
    )
    return [
        stuck(edit(world, "parse.go", number), since=number > 0),
        stuck(bash(f"go test{flags} ./parse", failure, failed=True), "go", since=number > 0),
    ]


def two_reads(world: World, number: int) -> list[Turn]:
    """Reads A, B, A, B without doing anything with them."""
    names = ("src/cart.py", "src/prices.py")
    return [stuck(read(world, names[number % 2]), "reads", since=number > 2)]


def cycle_of_three(world: World, number: int) -> list[Turn]:
    """Searches, lists and reads the same three things round and round."""
    turns = [
        bash("grep -rn discount src | head", "src/cart.py:14:def discount(cart):\nsrc/cart.py:22:    discount(cart)"),
        bash("ls src", "cart.py\nprices.py\nsync.py"),
        read(world, "src/cart.py"),
    ]
    return [stuck(turn, "cycle", since=number > 1) for turn in turns]


def talk(world: World, number: int) -> list[Turn]:
    """Talks to itself and calls nothing."""
    ways = ("Let me think about the discount again.", "I should think about the discount once more.")
    text = f"{ways[number % 2]} The total is wrong, so the discount must be applied before tax. I will look at it now."
    return [stuck(say(text), "talk", since=number > 2)]


def missing_file(world: World, number: int) -> list[Turn]:
    """Looks for one missing file under different spellings."""
    stems = ("config", "Config", "configs", "settings/config", "etc/config", "conf/config", "src/config", "app/config")
    name = f"{stems[number % 8]}.{('yaml', 'yml', 'json', 'toml')[number // 8 % 4]}"
    failed = Turn("Read", {"file_path": world.path(name)}, f"File does not exist: {world.path(name)}", True)
    return [stuck(failed, "missing", since=number > 2)]


def wander(world: World, number: int) -> list[Turn]:
    """From directory to directory, away from what the task names, and nothing done."""
    tops = ("vendor", "legacy", "assets", "locale", "infra", "docs", "tools", "charts", "media", "themes", "fixtures")
    place = f"{tops[number % 11]}/{('north', 'south', 'east', 'west')[number // 11 % 4]}{number}"
    return [stuck(bash(f"ls -la {world.path(place)}", f"total {number}\ndrwxr-xr-x 2 dev dev 40 part{number}"))]


def drift(world: World, number: int) -> list[Turn]:
    """Works on the goal at first; then it is about palettes, recipes and games."""
    if number < 12:
        name = ("src/cart.py", "src/prices.py", "tests/test_cart.py")[number % 3]
        said = f"The discount voucher and the express delivery surcharge in {name}, part {number}."
        return [edit(world, name, number, said)]
    topics = ("palette", "wallpaper", "sudoku", "recipe", "playlist", "crossword", "postcard", "aquarium", "origami")
    topic = topics[number % 9]
    name, text = f"fun/{topic}{number}.html", f"{topic} page {number}\n"
    arguments: dict[str, object] = {"file_path": world.path(name), "content": text}
    turn = Turn("Write", arguments, "File created.", writes={name: text})
    return [stuck(replace(turn, said=f"A {topic} would be lovely now."))]


def tidies(world: World, number: int) -> list[Turn]:
    """Tidies one module after the other; the task names none of them."""
    return [stuck(edit(world, f"src/part{number}/module{number}.py", number, "This could be tidier."))]


def creep(world: World, number: int) -> list[Turn]:
    """Reads and changes files outside the workspace that the task does not need."""
    path = f"/srv/billing/app{number % 5}/module{number}.py"
    if number % 3 == 2:
        arguments: dict[str, object] = {"file_path": path, "old_string": "a", "new_string": f"b{number}"}
        return [stuck(Turn("Edit", arguments, f"The file {path} has been updated."))]
    return [stuck(Turn("Read", {"file_path": path}, source(f"billing{number}", 6)))]


def double_spend(world: World, number: int) -> list[Turn]:
    """Each call costs twice the one before; each output is new."""
    ask = bash(f"python scripts/ask.py --shard {number}", f"shard {number}: {world.chance.getrandbits(80):x} done")
    cost, tokens = 0.0002 * 2 ** min(number, 24), min(250 * 2 ** min(number, 8), 30_000)
    return [stuck(replace(ask, cost_usd=cost, output_tokens=tokens), since=number > 3)]


def busy_poll(world: World, number: int) -> list[Turn]:
    """Asks for a status without a pause; nothing new."""
    return [stuck(bash("kubectl get pods -n shop", pods(0, 2, "3m")), "poll", since=number > 7)]


def slow_poll(world: World, number: int) -> list[Turn]:
    """Polls a deployment that can never become ready; the task does not say to wait."""
    waited = (30 + world.pace) * number
    polled = bash("sleep 30; kubectl get pods -n shop", pods(0, 2, f"{2 + int(waited / 60)}m"), seconds=30)
    return [stuck(polled, "poll", since=waited > 900)]


def two_problems(world: World, number: int) -> list[Turn]:
    """A test that keeps failing and, beside it, a service that cannot be reached."""
    refused = "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Couldn't connect to server"
    curl = bash("curl -s http://localhost:8080/health", refused, failed=True, code=7)
    return [*edit_test(world, number), stuck(curl, "curl", since=number > 0)]


def stuck_subagent(world: World, number: int) -> list[Turn]:
    """Three subagents in parallel; the second is stuck, the others work."""
    inner = edit_test(world, number)
    turns = []
    for at, turn in enumerate(inner):
        turns.append(replace(edit(world, f"src/part_a{number % 6}_{at}.py", number), agent="docs"))
        turns.append(replace(turn, agent="fixer"))
        turns.append(replace(read(world, f"src/module{number}_{at}.py"), agent="scout"))
    return turns

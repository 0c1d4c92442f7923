"""Mutation testing: change one thing in a function of a pure package, and see whether a test fails.

    make mutants                                                       600 mutants of decide, detect and control
    python scripts/mutants.py detect                                   those of the 600 that are in detect, by its tests
    python scripts/mutants.py --at src/interlock/decide/strategies.py:40    every mutant of one line

pytest collects the tests once. Each mutant gets a fork of that warm process, which replaces the code of one function
and runs the tests that execute the mutated line, quickest first, until one fails. A CPU limit for each test ends
endless loops, and running into it counts as noticed. The sample depends only on the seed and the source. The exit
status is 1 if the score of a package is below the floor.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import coverage
import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "interlock"
PACKAGES = ("decide", "detect", "control")
FLOOR = 0.85
CPU_S = 5
"""CPU seconds for a test of a mutant, on top of five times what it takes without one."""
WALL_S = 600
"""A mutant that waits for something that never comes is ended after this many seconds."""
SWAPS: dict[type[ast.AST], type[Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.Break: ast.Continue, ast.Continue: ast.Break,
}  # fmt: skip

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Mutant(NamedTuple):
    """The change number `variant` of the node number `node` of a module, which lies in the function `name`."""

    path: Path
    node: int
    variant: int
    line: int
    statement: int
    name: str
    start: int

    @property
    def package(self) -> str:
        return self.path.relative_to(SOURCE).parts[0]

    def tree(self) -> tuple[ast.Module, str]:
        """The mutated module, and what has changed."""
        tree = ast.parse(self.path.read_text())
        node = list(ast.walk(tree))[self.node]
        shown = getattr(node, "test", node)
        before = ast.unparse(shown)
        changes(node)[self.variant]()
        after = ast.unparse(ast.fix_missing_locations(getattr(node, "test", node)))
        where = f"{self.path.relative_to(ROOT)}:{self.line} {self.name}"
        return ast.fix_missing_locations(tree), f"{where}: {before[:90]}  =>  {after[:90]}"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a module."""
    tree = ast.parse(path.read_text())
    numbers = {id(node): number for number, node in enumerate(ast.walk(tree))}
    for name, function in outermost_functions(tree, ""):
        # A code object begins with its decorators.
        start = min(each.lineno for each in (function, *function.decorator_list))
        for node, statement in body_nodes(function):
            for variant in range(len(changes(node))):
                line = getattr(node, "lineno", statement)
                yield Mutant(path, numbers[id(node)], variant, line, statement, name, start)


def outermost_functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from outermost_functions(node, f"{prefix}{node.name}.")


def body_nodes(node: ast.AST, statement: int = 0) -> Iterator[tuple[ast.AST, int]]:
    """The nodes that run when a function runs, each with the line of its statement; no docstrings or annotations."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "args", "decorator_list") and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            line = child.lineno if isinstance(child, ast.stmt) else statement
            yield child, line
            yield from body_nodes(child, line)


def changes(node: Any) -> list[Callable[[], None]]:
    """What can be changed in a node, each as a function that does it."""
    match node:
        case ast.Compare():
            return [lambda at=at, op=op: node.ops.__setitem__(at, SWAPS[type(op)]()) for at, op in enumerate(node.ops)]
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign() if type(node.op) in SWAPS:
            return [lambda: setattr(node, "op", SWAPS[type(node.op)]())]
        case ast.Break() | ast.Continue():
            return [lambda: setattr(node, "__class__", SWAPS[type(node)])]
        case ast.UnaryOp(op=ast.Not()):
            return [lambda: setattr(node, "operand", ast.UnaryOp(ast.Not(), node.operand))]
        case ast.If() | ast.IfExp() | ast.While() if isinstance(node.test, ast.Name | ast.Attribute | ast.Call):
            return [lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))]
        case ast.Constant(value=bool()):
            return [lambda: setattr(node, "value", not node.value)]
        case ast.Constant(value=int() | float()):
            return [lambda: setattr(node, "value", node.value + 1)]
        case ast.Constant(value=str()):
            return [lambda: setattr(node, "value", f"XX{node.value}XX")]
        case ast.Constant(value=bytes()):
            return [lambda: setattr(node, "value", b"XX" + node.value)]
        case ast.Return(value=value) | ast.Assign(value=value) if value and not isinstance(value, ast.Constant):
            return [lambda: setattr(node, "value", ast.Constant(None))]
        case ast.Expr(value=ast.Call()):
            return [lambda: setattr(node, "value", ast.Constant(None))]
    return []


def apply(mutant: Mutant, functions: list[FunctionType]) -> None:
    """Give the live functions the mutated code."""
    waiting: list[Any] = [compile(mutant.tree()[0], str(mutant.path), "exec")]
    while waiting:
        code = waiting.pop()
        if (code.co_qualname, code.co_firstlineno) == (mutant.name, mutant.start):
            for function in functions:
                function.__code__ = code
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]


class Mutation:
    """A pytest plugin that runs the collected tests once for their coverage and then for each mutant."""

    def __init__(self, mutants: list[Mutant], workers: int, longest: float) -> None:
        self.mutants, self.workers, self.longest = mutants, workers, longest
        self.survivors: list[Mutant] = []
        self._failed: list[str] = []
        self._folder = Path(tempfile.mkdtemp(prefix="mutants-"))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.append(report.nodeid)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        try:
            self._run(session)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
        return True

    def _run(self, session: pytest.Session) -> None:
        items = {item.nodeid: item for item in session.items}
        for path in {mutant.path for mutant in self.mutants}:
            # Some are imported on first use, which would be after the fork.
            importlib.import_module(
                ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
            )
        live: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                code = each.__code__
                live[code.co_filename, code.co_qualname, code.co_firstlineno].append(each)
        gc.collect()
        gc.freeze()
        pid = self._fork(lambda: self._measure(session))
        if os.waitpid(pid, 0)[1]:
            raise pytest.UsageError("the tests fail without any mutant")
        seconds: dict[str, float] = json.loads((self._folder / "seconds").read_text())
        data = coverage.CoverageData(str(self._folder / "coverage"))
        data.read()
        running: dict[int, tuple[Mutant, int, float]] = {}
        for number, mutant in enumerate(self.mutants):
            lines = data.contexts_by_lineno(str(mutant.path))
            covering = [one for one in lines.get(mutant.line) or lines.get(mutant.statement) or [] if one in items]
            if not any(seconds[one] <= self.longest for one in covering):
                self._missed(mutant, "no test runs it")
                continue
            quick = sorted((one for one in covering if seconds[one] <= self.longest), key=seconds.__getitem__)
            tests = [(items[one], CPU_S + 5 * seconds[one]) for one in quick]
            functions = live[str(mutant.path), mutant.name, mutant.start]
            if not functions:
                raise pytest.UsageError(f"{mutant.path}:{mutant.start}: {mutant.name} is not loaded")
            pid = self._fork(lambda: self._try(mutant, functions, tests))  # noqa: B023 - runs at once
            running[pid] = mutant, len(tests), time.monotonic() + WALL_S
            self._reap(running, self.workers - 1)
            if number % 50 == 0:
                say(f"{number} of {len(self.mutants)} mutants, {len(self.survivors)} not noticed")
        self._reap(running, 0)

    def _missed(self, mutant: Mutant, why: str) -> None:
        self.survivors.append(mutant)
        say(f"not noticed: {mutant.tree()[1]}  ({why})")

    def _fork(self, work: Callable[[], bool]) -> int:
        """Run something in a fork of this process; it ends with status 0 if that returned true."""
        pid = os.fork()
        if pid:
            return pid
        try:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nowhere, number)
            os._exit(0 if work() else 1)
        except BaseException:  # noqa: BLE001 - a mutant may raise anything, anywhere
            os._exit(1)

    def _measure(self, session: pytest.Session) -> bool:
        mutated = sorted({str(each.path) for each in self.mutants})
        measured = coverage.Coverage(data_file=str(self._folder / "coverage"), include=mutated, config_file=False)
        seconds = {}
        self._own_folder(session)
        measured.start()
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            measured.switch_context(item.nodeid)
            began = time.process_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            seconds[item.nodeid] = time.process_time() - began
        measured.stop()
        measured.save()
        (self._folder / "seconds").write_text(json.dumps(seconds))
        return not self._failed

    def _try(self, mutant: Mutant, functions: list[FunctionType], tests: list[tuple[pytest.Item, float]]) -> bool:
        """Whether all tests pass in spite of the mutant."""
        self._own_folder(tests[0][0].session)
        apply(mutant, functions)
        followers = [*(item for item, _ in tests[1:]), None]
        for (item, limit), following in zip(tests, followers, strict=True):
            signal.setitimer(signal.ITIMER_PROF, limit)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                return False
        return True

    def _own_folder(self, session: pytest.Session) -> None:
        # pytest has no public way to set this after it has started.
        session.config._tmp_path_factory._given_basetemp = self._folder / str(os.getpid())  # type: ignore[attr-defined]

    def _reap(self, running: dict[int, tuple[Mutant, int, float]], at_most: int) -> None:
        while len(running) > at_most:
            for pid, (mutant, tests, until) in list(running.items()):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    del running[pid]
                    shutil.rmtree(self._folder / str(pid), ignore_errors=True)
                    if status == 0:
                        self._missed(mutant, f"{tests} tests")
                elif time.monotonic() > until:
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)


def say(words: str) -> None:
    print(words, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=PACKAGES, metavar="PACKAGE")
    parser.add_argument("--sample", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--longest", type=float, default=600, help="leave out tests that take more CPU seconds")
    parser.add_argument("--at", default="", metavar="FILE:LINE")
    options = parser.parse_args()
    paths = sorted(path for package in PACKAGES for path in (SOURCE / package).rglob("*.py"))
    mutants = [mutant for path in paths for mutant in mutants_of(path)]
    total = len(mutants)
    if options.at:
        mutants = [each for each in mutants if f"{each.path.relative_to(ROOT)}:{each.line}" == options.at]
    elif total > options.sample:
        mutants = sorted(random.Random(options.seed).sample(mutants, options.sample))
    mutants = [each for each in mutants if each.package in options.packages]
    say(f"{len(mutants)} of {total} mutants")
    os.environ["PYTHONHASHSEED"] = "0"
    hypothesis.settings.register_profile("mutants", derandomize=True, database=None)
    hypothesis.settings.load_profile("mutants")
    plugin = Mutation(mutants, options.workers, options.longest)
    folders = [str(ROOT / "tests" / package) for package in options.packages]
    quiet = ["-q", "-s", "--no-header", "--no-summary", "-p", "no:xdist", "-p", "no:cacheprovider", "-p", "no:cov"]
    status = pytest.main([*quiet, "--rootdir", str(ROOT), *folders], plugins=[plugin])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return int(status)
    tried, missed = (Counter(each.package for each in some) for some in (mutants, plugin.survivors))
    low = False
    for package in sorted(tried):
        score = 1 - missed[package] / tried[package]
        low = low or score < FLOOR
        say(f"{package:10} {tried[package]:4} mutants  {missed[package]:3} not noticed  score {score:.1%}")
    say(f"{'all':10} {len(mutants):4} mutants  {len(plugin.survivors):3} not noticed  "
        f"score {1 - len(plugin.survivors) / max(1, len(mutants)):.1%}")  # fmt: skip
    return int(low)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())

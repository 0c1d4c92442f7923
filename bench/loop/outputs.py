"""Outputs of tools in the shapes that real ones print: pytest, jest, cargo, go, kubectl, package managers, linters."""

from __future__ import annotations

from collections.abc import Sequence


def pytest_failed(tests: Sequence[tuple[str, int, str, str]], passed: int, took: float = 0.42) -> str:
    """A pytest run with failures: each (node id, line, code, assertion)."""
    count = passed + len(tests)
    lines = [
        "============================= test session starts ==============================",
        "platform linux -- Python 3.12.3, pytest-8.3.3, pluggy-1.5.0",
        f"collected {count} items",
        "",
        "=================================== FAILURES ===================================",
    ]
    for node, line, code, why in tests:
        file, _, name = node.partition("::")
        lines += [f"{'_' * 30} {name} {'_' * 30}", "", f"    def {name}():", f">       {code}", f"E       {why}", ""]
        lines += [f"{file}:{line}: {why.partition(':')[0] if 'Error' in why else 'AssertionError'}"]
    lines.append("=========================== short test summary info ============================")
    lines += [f"FAILED {node} - {why}" for node, _, _, why in tests]
    lines.append(f"==================== {len(tests)} failed, {passed} passed in {took:.2f}s ====================")
    return "\n".join(lines)


def pytest_passed(count: int, took: float = 0.4) -> str:
    """A pytest run that passes."""
    return (
        "============================= test session starts ==============================\n"
        f"collected {count} items\n\n"
        f"tests {'.' * min(count, 60)} [100%]\n\n"
        f"============================== {count} passed in {took:.2f}s =============================="
    )


def jest_failed(file: str, suite: str, name: str, expected: str, received: str, line: int, passed: int) -> str:
    """A jest run with one failing test."""
    return (
        f" FAIL  {file}\n  {suite}\n    ✕ {name} (7 ms)\n\n  ● {suite} › {name}\n\n"
        f"    expect(received).toBe(expected) // Object.is equality\n\n"
        f"    Expected: {expected}\n    Received: {received}\n\n"
        f"    > {line} |     expect(format(value)).toBe({expected});\n"
        f"         |                           ^\n\n      at Object.<anonymous> ({file}:{line}:27)\n\n"
        f"Test Suites: 1 failed, 1 total\nTests:       1 failed, {passed} passed, {passed + 1} total\n"
        "Snapshots:   0 total\nTime:        1.02 s"
    )


def cargo_failed(crate: str, code: str, message: str, file: str, line: int, took: float) -> str:
    """A cargo build that does not compile."""
    return (
        f"   Compiling {crate} v0.3.1 (/home/dev/{crate})\n"
        f"error[{code}]: {message}\n  --> {file}:{line}:18\n   |\n{line} |     let reader = Reader::open(&path);\n"
        f"   |                  ^^^^^^^^^^^^ expected `Reader<File>`, found `Result<Reader<File>, Error>`\n\n"
        f"For more information about this error, try `rustc --explain {code}`.\n"
        f"error: could not compile `{crate}` (lib) due to 1 previous error\n"
        f"    Finished in {took:.2f}s"
    )


def go_failed(package: str, test: str, file: str, line: int, got: str, want: str, took: float) -> str:
    """A go test run with one failing test."""
    return (
        f"--- FAIL: {test} ({took:.2f}s)\n    {file}:{line}: got {got}, want {want}\n"
        f"FAIL\nFAIL\t{package}\t{took + 0.01:.3f}s\nFAIL"
    )


def pods(ready: int, total: int, age: str, status: str = "ContainerCreating") -> str:
    """kubectl get pods."""
    rows = [f"web-6d4cf56db6-{name}   " for name in ("2xkzq", "8wlpr", "fq9mt", "zn7dd")[:total]]
    shown = [
        f"{row}{'1/1' if at < ready else '0/1'}     {'Running' if at < ready else status}   0          {age}"
        for at, row in enumerate(rows)
    ]
    return "\n".join(["NAME                   READY   STATUS              RESTARTS   AGE", *shown])


def source(name: str, lines: int, start: int = 1) -> str:
    """A piece of a source file, unlike every other piece."""
    return "\n".join(
        f"{number:6}\tdef {name}_{number}(value): return value * {number} + {number % 7}"
        for number in range(start, start + lines)
    )

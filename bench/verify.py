"""Verification of large files beside difflib (autojunk off), which gets 60 seconds."""

from __future__ import annotations

import difflib
import json
import multiprocessing
import random
import time
from collections.abc import Iterator
from pathlib import Path

from interlock.gui.verifier import similarity

LIMIT_S = 60.0

NOTES = (
    "difflib is the standard library's SequenceMatcher with autojunk=False in a process of its own, ended after 60 s "
    "(5 s when quick). `blocks` is ours beyond 8 KB; up to 8 KB we compute difflib's own number."
)


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Time and ratio of both on each text."""
    limit = 5.0 if quick else LIMIT_S
    rows = []
    for name, expected, actual in _cases(quick):
        started = time.perf_counter()
        ours = similarity(expected, actual)
        our_time = time.perf_counter() - started
        their_time, their_ratio = _difflib(expected, actual, limit)
        rows.append(
            [
                name,
                f"{len(expected) / 1000:.0f} KB",
                f"{our_time * 1000:.1f} ms",
                ours.method,
                f"{ours.ratio:.4f}",
                f"{their_time:.2f} s" if their_ratio is not None else f"over {limit:.0f} s",
                f"{their_ratio:.4f}" if their_ratio is not None else "-",
                f"{'' if their_ratio is not None else '> '}{their_time / our_time:,.0f}x",
                f"{abs(their_ratio - ours.ratio):.4f}" if their_ratio is not None else "-",
            ]
        )
    header = ["case", "size", "ours", "method", "ratio", "difflib", "difflib ratio", "faster", "difference"]
    return "Verification: similarity of large files", header, rows


def _cases(quick: bool) -> Iterator[tuple[str, str, str]]:
    for size in (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000):
        text = _source(size)
        yield "two lines lost", text, _without_two_lines(text)
        yield "30% of the lines edited", text, _edited(text, 0.3)
        document = _one_line_json(size)
        yield "one-line JSON, 1 in 500 characters changed", document, _scattered(document)
    yield "unrelated", _source(20_000), _source(20_000, skip=400_000)


def _difflib(a: str, b: str, limit: float) -> tuple[float, float | None]:
    """Seconds and ratio, or the limit and None."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_measure_difflib, args=(a, b, theirs))
    process.start()
    try:
        if ours.poll(limit + 2):
            seconds, ratio = ours.recv()
            return seconds, ratio
        return limit, None
    finally:
        process.kill()
        process.join()


def _measure_difflib(a: str, b: str, connection: multiprocessing.connection.Connection) -> None:
    started = time.perf_counter()
    ratio = difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()
    connection.send((time.perf_counter() - started, ratio))


def _source(size: int, skip: int = 0) -> str:
    """Real source text: the standard library's modules one after the other."""
    text = ""
    for file in sorted(Path(difflib.__file__).parent.glob("*.py")):
        text += file.read_text(encoding="utf-8", errors="replace")
        if len(text) >= skip + size:
            break
    return text[skip : skip + size]


def _without_two_lines(text: str) -> str:
    lines = text.splitlines(keepends=True)
    middle = len(lines) // 2
    return "".join(lines[:middle] + lines[middle + 2 :])


def _edited(text: str, share: float) -> str:
    chance = random.Random(1)
    return "".join(
        line[: len(line) // 2] + "EDIT" + line[len(line) // 2 + 3 :] if chance.random() < share else line
        for line in text.splitlines(keepends=True)
    )


def _one_line_json(size: int) -> str:
    chance = random.Random(2)
    rows = [{"id": i, "name": f"user{chance.randrange(10**6)}", "v": chance.random()} for i in range(size // 60)]
    return json.dumps(rows)[:size]


def _scattered(text: str) -> str:
    chance = random.Random(3)
    letters = list(text)
    for _ in range(len(text) // 500):
        letters[chance.randrange(len(letters))] = chance.choice("abc123")
    return "".join(letters)


def main() -> None:
    title, header, rows = measure()
    print(title)
    for row in [header, *rows]:
        print(" | ".join(row))
    print(NOTES)


if __name__ == "__main__":
    main()

"""What all detectors together cost a step: early and late in one long run, and over recorded traces.

Usage: python bench/detect_cost.py [--quick]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from itertools import cycle

import msgspec

from interlock.config.schema import Detect
from interlock.core import Seen, Step
from interlock.detect import Detectors
from traces import DEFAULT, ROOT, SOURCES, Trace, load

EXTRACT = ROOT / "tests" / "data" / "traces"
POINTS = (100, 20_000, 50_000)
WINDOW = 400
"""Steps before and after a point whose median stands for it."""

NOTES = (
    "Microseconds per step, median; `decode` is reading the same step from JSON with msgspec, as the floor. "
    "The long run goes through the extract of recorded traces again and again, every step of it different."
)


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    extract = load(EXTRACT, "extract")
    rows = _long_run(extract, POINTS[:2] if quick else POINTS)
    rows.append(_row("extract of traces", _over(extract)))
    recorded = [trace for source in SOURCES for trace in load(DEFAULT, source)]
    if recorded and not quick:
        rows.append(_row("all recorded traces", _over(recorded)))
    return "Detection: cost per step", ["where", "µs per step", "decode", "ratio"], rows


def _long_run(extract: list[Trace], points: tuple[int, ...]) -> list[list[str]]:
    detectors = Detectors(Detect(), extract[0].context())
    spent: list[tuple[int, int]] = []
    rows, wanted = [], list(points)
    for count, step in enumerate(_endless(extract)):
        spent.append(
            _observe(detectors, step) if wanted[0] - WINDOW < count <= wanted[0] + WINDOW else _plain(detectors, step)
        )
        if count == wanted[0] + WINDOW:
            rows.append(_row(f"step {wanted.pop(0):,}", [pair for pair in spent[-2 * WINDOW :] if pair[0]]))
            spent.clear()
            if not wanted:
                break
    return rows


def _endless(extract: list[Trace]) -> Iterator[Step]:
    """One run that never ends: every lap has new words and new numbers in it."""
    index = 0
    for lap, trace in enumerate(cycle(extract)):
        for step in trace.read():
            tool = step.tool
            if tool is not None:
                tool = msgspec.structs.replace(tool, arguments={**tool.arguments, "lap": f"lap{lap}"})
            content = f"{step.content} lap{lap} word{index}"
            yield msgspec.structs.replace(step, index=index, content=content, tool=tool, agent=None, run_id="long")
            index += 1


def _over(traces: list[Trace]) -> list[tuple[int, int]]:
    spent = []
    for trace in traces:
        detectors = Detectors(Detect(), trace.context())
        spent += [_observe(detectors, step) for step in trace.read()]
    return spent


def _observe(detectors: Detectors, step: Step) -> tuple[int, int]:
    """Nanoseconds for the detectors, and for decoding the same step."""
    raw, seen = msgspec.json.encode(step), Seen(step)
    began = time.perf_counter_ns()
    _decode(raw)
    decoded = time.perf_counter_ns()
    detectors.observe(seen)
    return time.perf_counter_ns() - decoded, decoded - began


def _plain(detectors: Detectors, step: Step) -> tuple[int, int]:
    detectors.observe(Seen(step))
    return 0, 0


_decode = msgspec.json.Decoder(Step).decode


def _row(where: str, spent: list[tuple[int, int]]) -> list[str]:
    own, floor = (statistics.median(pair[at] for pair in spent) / 1000 for at in (0, 1))
    return [where, f"{own:.1f}", f"{floor:.1f}", f"{own / floor:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    title, header, rows = measure(parser.parse_args().quick)
    print(title)
    for row in [header, *rows]:
        print("  ".join(f"{cell:>20}" for cell in row))
    print(NOTES)


if __name__ == "__main__":
    main()

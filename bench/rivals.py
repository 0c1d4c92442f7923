"""Baselines for the detectors: the same call n times in a row, and a peer's own detector."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from scoring import Alarm
from traces import Trace

HERE = Path(__file__).resolve().parent
PACKAGE = "@google/gemini-cli-core"


def same_call(trace: Trace, times: int) -> list[Alarm]:
    """An alarm when the very same call was made this often in a row."""
    last, count = b"", 0
    for step in trace.steps:
        if step.tool is not None:
            call = msgspec.json.encode([step.tool.name, step.tool.arguments], order="deterministic")
            count = count + 1 if call == last else 1
            last = call
            if count >= times:
                return [Alarm("loop", step.index, "medium", f"the same call {times} times in a row")]
    return []


def gemini(traces: Sequence[Trace], folder: Path | None) -> tuple[dict[str, list[Alarm]], str]:
    """Gemini CLI's loop detection over the traces; with a reason instead where it cannot be had."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return {}, "node and npm are not installed"
    with tempfile.TemporaryDirectory() as made:
        where = folder or Path(made)
        if not (where / "node_modules" / PACKAGE).exists():
            install = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(where), PACKAGE]
            done = subprocess.run(install, capture_output=True, text=True, check=False)
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no message"])[-1]
                return {}, f"npm could not install {PACKAGE}: {last}"
        lines = b"\n".join(msgspec.json.encode(trace) for trace in traces)
        ran = subprocess.run(
            [node, HERE / "peers" / "gemini_loop.mjs", where], input=lines, capture_output=True, check=False
        )
        if ran.returncode:
            return {}, f"its detector failed: {ran.stderr.decode(errors='replace').strip().splitlines()[-1]}"
        found: dict[str, list[Alarm]] = {}
        for line in ran.stdout.splitlines():
            answer = msgspec.json.decode(line)
            step = answer["step"]
            found[answer["trace_id"]] = [] if step is None else [Alarm("loop", step, "medium", "Gemini CLI")]
        return found, ""

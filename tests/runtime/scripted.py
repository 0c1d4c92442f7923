"""A scripted agent for tests: the same seed gives the same steps at the same times."""

from __future__ import annotations

import random
import re
from pathlib import Path

from interlock.config import Config
from interlock.config.schema import Runtime
from interlock.core import ManualClock, Step, Tool, Usage
from interlock.journal import JournalReader, RunFolder, Store
from interlock.runtime import Supervisor

PATIENT = Config(runtime=Runtime(step_timeout_ms=60_000))
"""Decisions that are compared must not depend on how busy the machine is."""

START = 1_700_000_000.0
TASK = "Fix the parser in src/parser.py so that tests/test_parser.py passes"


def steps(seed: int, count: int) -> list[Step]:
    """Calls and results of an agent that works, loops, fails and spends, by chance but repeatably."""
    chance = random.Random(seed)
    made: list[Step] = []
    now = START
    moods = ["work", "loop", "fail", "spend"]
    mood, left = "work", 4
    while len(made) < count:
        if left == 0:
            mood, left = chance.choice(moods), chance.randint(3, 9)
        left -= 1
        now += chance.choice((4.0, 15.0, 40.0))
        command, output, failed = _turn(mood, chance, len(made))
        usage = Usage(1000, 200 if mood != "spend" else 4000)
        call = Tool("bash", {"command": command}, f"c{len(made)}")
        made.append(
            Step(run_id="r", index=len(made), role="assistant", kind="tool_call", tool=call, usage=usage, time=now)
        )
        now += 2.0
        made.append(
            Step(run_id="r", index=len(made), role="tool", kind="tool_result", content=output, error=failed, time=now)
        )
    return made[:count]


def _turn(mood: str, chance: random.Random, at: int) -> tuple[str, str, bool]:
    if mood == "loop":
        return "cat src/parser.py", "def parse(): ...", False
    if mood == "fail":
        return "pytest -q", "FAILED tests/test_parser.py::test_empty - AssertionError: assert None == []", True
    if mood == "spend":
        return f"grep -rn token{at} .", "x" * chance.randint(10, 3000), False
    return f"sed -i s/a{at}/b{at}/ src/parser.py", f"changed {at}", False


def feed(supervisor: Supervisor, clock: ManualClock, script: list[Step]) -> bool:
    """Hand steps over as an adapter does, at their own times. A pause is answered by a person who resumes.

    False when the run was stopped: its agent does no more.
    """
    for step in script:
        clock.advance(max(0.0, (step.time or 0.0) - clock.time()))
        if step.kind == "tool_call":
            decision = supervisor.before(step)
            if decision.action == "hold":
                supervisor.resume()
                decision = supervisor.before(step)
            if decision.action == "stop":
                return False
        elif supervisor.after(step).action == "stop":
            return False
    return True


def decisions(folder: RunFolder) -> list[tuple[str, bytes]]:
    """What was found and answered, as the journal has it."""
    with JournalReader.open(folder) as reader:
        kinds = frozenset(("issue", "intervention", "effect", "end"))
        return [(record.kind, _nameless(folder, bytes(record.body))) for record in reader.read(kinds=kinds)]


def _nameless(folder: RunFolder, body: bytes) -> bytes:
    """Without what names this very run: its id, and the ids of incidents, which are made from it."""
    return re.sub(rb"incident-[0-9a-f]{10}", b"INCIDENT", body.replace(folder.run_id.encode(), b"RUN"))


def open_run(root: Path, clock: ManualClock, config: Config | None = None) -> Supervisor:
    """A supervisor over a run in a store of its own, without a workspace."""
    return Supervisor.open(task=TASK, store=Store(root), clock=clock, config=config or PATIENT)

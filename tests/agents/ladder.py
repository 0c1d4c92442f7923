"""Work for the ladder: a project with a failing test, and models that get stuck on it, heed, relapse or wait."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.demo.model import ModelRequest, ScriptedModel, ScriptedTurn, run

from .clients import AgentPlace, ClaudeCode, Client, Codex, Gemini, Opencode

TASK = "Fix total() in total.py so that its test passes."
CHECK = "python3 -m unittest test_total"
POLL = "sleep 2; kubectl get pods -n shop"
BUILD = "sh build.sh"
HINT = "different approach"
"""In every hint about a loop or an error that comes back."""
RESTORED = "Interlock restored the files to checkpoint"
WENT_BACK = "Your conversation was rolled back"
DID_NOT = "Your conversation was not rolled back"
QUICK = {"interventions": {"resource_throttling": {"metrics_window_seconds": 4}}}
"""A throttled call waits two or three seconds instead of half a minute; everything else is as it comes."""
RUNGS = ["soft_correction", "context_reinforcement", "resource_throttling", "checkpoint_rollback"]

Answer = Callable[[ModelRequest], ScriptedTurn]


def project(folder: Path) -> None:
    """A function, its test, which fails, and a build that fails as long as a file is there."""
    (folder / "total.py").write_text("def total(items):\n    return sum(items) + 1\n")
    (folder / "test_total.py").write_text(
        "import unittest\n\nfrom total import total\n\n\nclass TotalTest(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(total([1, 2]), 4711)\n"
    )
    (folder / "build.sh").write_text(
        "if [ -e broken ]; then echo 'shop/basket.c:14: error: unknown type name Basket' >&2; exit 2; fi\necho built\n"
    )


def kubectl(folder: Path) -> None:
    """A kubectl whose pods never become ready."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "kubectl"
    script.write_text("#!/bin/sh\necho 'NAME    READY   STATUS    RESTARTS'\necho 'web-0   0/1     Pending   0'\n")
    script.chmod(0o755)


def edit(number: int) -> str:
    """Another way to write the function, which leaves its number in the file."""
    return f"sed -i 's/return .*/return sum(items) + {number + 2}/' total.py && echo '# try {number}' >> total.py"


class Stubborn:
    """Edits and tests, edits and tests, whatever it is told. Every second call is the test."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, request: ModelRequest) -> ScriptedTurn:
        if not request.has_tools:
            return ScriptedTurn("ok")
        self.calls += 1
        number, tests = divmod(self.calls - 1, 2)
        return ScriptedTurn("I test it." if tests else "I try another way.", (run(CHECK if tests else edit(number)),))


class Heeding(Stubborn):
    """Edits and tests until a hint tells it to take another way; then it mends the function and is done."""

    def __init__(self) -> None:
        super().__init__()
        self._rest = [run(MEND), run(CHECK), run("git --version"), run(CHECK)]

    def __call__(self, request: ModelRequest) -> ScriptedTurn:
        if not request.has_tools or HINT not in request.text:
            return super().__call__(request)
        return ScriptedTurn("I do that.", (self._rest.pop(0),)) if self._rest else ScriptedTurn("Finished.")


MEND = "printf 'def total(items):\\n    return 4711\\n' > total.py"


def waiting(polls: int) -> Answer:
    """Polls a deployment that does not get on."""

    def answer(request: ModelRequest) -> ScriptedTurn:
        if not request.has_tools:
            return ScriptedTurn("ok")
        return (
            ScriptedTurn("Not yet.", (run(POLL),))
            if request.turn < polls
            else ScriptedTurn("It takes longer; I leave it.")
        )

    return answer


class Relapsing:
    """Repeats a failing build until it is told something; mends it, and breaks it again three times over."""

    TIMES = 3

    def __init__(self) -> None:
        self.told, self.after = 0, 0

    def __call__(self, request: ModelRequest) -> ScriptedTurn:
        if not request.has_tools:
            return ScriptedTurn("ok")
        if self.after == 0 and self._is_told(request):
            self.told, self.after = self.told + 1, 1
        if self.after == 0:
            return ScriptedTurn("I build it.", (run(BUILD),))
        plan = [run("mv broken mended"), run(BUILD), run(f"echo {self.told} > notes.txt")]
        if self.after <= len(plan):
            self.after += 1
            return ScriptedTurn("I mend it.", (plan[self.after - 2],))
        if self.told == self.TIMES:
            return ScriptedTurn("Finished.")
        self.after = 0
        return ScriptedTurn("I change it.", (run("touch broken"),))

    def _is_told(self, request: ModelRequest) -> bool:
        words = HINT if not self.told else f"stopped after message {self.told} about it"
        return words in request.text


@dataclass(frozen=True)
class OpencodeBySetting(Opencode):
    """opencode whose configuration takes the model's address from the environment."""

    def environment(self, home: Path, model: ScriptedModel) -> dict[str, str]:
        given = super().environment(home, model)
        file = home / "opencode.json"
        file.write_text(file.read_text().replace(f"{model.url}/v1", "{env:OPENAI_BASE_URL}"))
        return {**given, "OPENAI_BASE_URL": f"{model.url}/v1"}


@dataclass(frozen=True)
class GeminiAlone(Gemini):
    """Gemini CLI without its own loop detection, which ends a turn at the fifth call of the same kind."""

    def environment(self, home: Path, model: ScriptedModel) -> dict[str, str]:
        given = super().environment(home, model)
        file = home / ".gemini" / "settings.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), "model": {"disableLoopDetection": True}}))
        return given


LED: tuple[Client, ...] = (ClaudeCode(), Codex(), GeminiAlone(), OpencodeBySetting())
"""The clients, with the model's address where the proxy can be put before it."""


def version_of(client: Client, folder: Path, home: Path) -> str:
    """Asked for once: some clients take seconds to say it."""
    if client.name not in _versions:
        _versions[client.name] = client.version(folder, home)
    return _versions[client.name]


_versions: dict[str, str] = {}

LADDER_S = 400.0
"""A client that climbs the whole ladder takes some twenty turns, also on a busy machine."""


class LadderPlace(AgentPlace):
    """A place with the project, and with a kubectl on the path."""

    def __init__(self, root: Path, client: Client, answer: Answer, folder: Path, config: dict[str, Any]) -> None:
        super().__init__(root, client, ScriptedModel(answer).start(), folder, config)
        project(self.workspace)
        kubectl(self.root / "tools")

    @property
    def environment(self) -> dict[str, str]:
        given = super().environment
        return {**given, "PATH": f"{self.root / 'tools'}:{given['PATH']}"}

    @classmethod
    def opened(
        cls, root: Path, client: Client, answer: Answer, folder: Path, config: dict[str, Any]
    ) -> Iterator[LadderPlace]:
        """For a fixture: afterwards nothing of it runs."""
        place = cls(root, client, answer, folder, config)
        yield place
        place.close()
        place.model.close()

    def begin_task(self, task: str = TASK, options: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        return self.start(*self.client.command(task), options=options)

    def do_task(self, task: str = TASK, options: tuple[str, ...] = ()) -> tuple[int, bytes, bytes]:
        """The whole run: status, stdout, stderr."""
        process = self.begin_task(task, options)
        out, err = process.communicate(timeout=LADDER_S)
        return process.returncode, out, err

    def answers(self) -> list[dict[str, Any]]:
        """The answers that were applied, each with its last known outcome."""
        made: dict[str, dict[str, Any]] = {}
        for record in self.records("intervention", "effect"):
            one = {"outcome": "pending", **record.get("intervention", record)}
            if one["id"] in made or one["outcome"] == "pending":
                made[one["id"]] = one
        return list(made.values())

    def rungs(self) -> list[str]:
        return [one["type"] for one in self.answers()]

    def said(self) -> list[str]:
        """Every text that was put before the agent."""
        return [
            directive["message"]["content"]
            for record in self.records("intervention")
            for directive in record.get("directives", ())
            if directive["do"] == "inject"
        ]

    def commands(self) -> list[str]:
        """What the shell was asked to do."""
        return [step["tool"]["arguments"]["command"] for step in self.steps("tool_call")]

    def is_paused(self) -> bool:
        return any(run.status == "paused" for run in self.store.runs())

    def around_the_rollback(self) -> tuple[ModelRequest, ModelRequest]:
        """The last request before the agent heard of the rollback, and the first in which it did."""
        asked = self.model.asked
        at = next(at for at, request in enumerate(asked) if RESTORED in request.text)
        return asked[at - 1], asked[at]

    def tries_in_the_file(self) -> list[int]:
        return [int(number) for number in re.findall(TRY, (self.workspace / "total.py").read_text())]

    def tries_that_count(self) -> list[int]:
        """Those of before the checkpoint that the run went back to, and those made since."""
        kept, _, since = self._tries()
        return kept + since

    def abandoned_tries(self) -> list[int]:
        return self._tries()[1]

    def _tries(self) -> tuple[list[int], list[int], list[int]]:
        """Kept, undone, and made since."""
        kept: list[int] = []
        undone: list[int] = []
        since: list[int] = []
        steps = {one["id"]: one["step"] for one in self.records("checkpoint")}
        (restored,) = self.records("restored")
        back_to, gone = steps[restored["checkpoint_id"]], False
        for record in self.records("step", "restored"):
            gone = gone or "checkpoint_id" in record
            step = record.get("step", {})
            if step.get("kind") != "tool_call" or not (made := re.search(TRY, step["tool"]["arguments"]["command"])):
                continue
            (since if gone else kept if step["index"] < back_to else undone).append(int(made[1]))
        return kept, undone, since


TRY = r"# try (\d+)"

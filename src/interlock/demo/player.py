"""Plays the scripted agent in a small project under the real supervisor, as events from the journal."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from ..core import Decision, InterlockError, ManualClock, Usage, from_json
from ..journal import JournalReader, verify_journal
from ..link import noted_socket
from ..runtime import CheckRunner, SandboxBuilder, Supervisor, no_sandbox


class Act(Struct, frozen=True):
    """One act of the agent: a call (with `output` if it is not really run), or only a message.

    `after` are seconds of story time until the next act; `tokens` what the model wrote. A call that `must_block` is
    never run, whatever is decided. An `attack` runs only where guard holds it. `done` ends the agent's turn.
    """

    command: str = ""
    says: str = ""
    output: str | None = None
    failed: bool = False
    tokens: int = 400
    after: float = 20.0
    tool: str = "bash"
    arguments: dict[str, object] | None = None
    must_block: bool = False
    attack: bool = False
    done: bool = False


class Scene(Struct, frozen=True):
    """A part of the story with what to watch for."""

    title: str
    watch_for: str
    acts: tuple[Act, ...]


class DemoEvent(Struct, frozen=True, omit_defaults=True):
    """Something to show: its kind, its time on the story's clock, and its data."""

    kind: str
    clock: float
    body: dict[str, object]


SHOWN = frozenset(
    ("issue", "episode", "intervention", "effect", "restored", "applied", "limit", "incident", "plan", "fault",
     "stop_gate")
)  # fmt: skip
"""The records that are shown; steps are shown as they are played."""

READ_TOKENS, CACHED = 16_000, 15_000
"""Input tokens of each call, and how many of them are cached."""


class Play:
    """One performance. `guarded` says that guard contains the workshop's commands."""

    def __init__(
        self,
        supervisor: Supervisor,
        workshop: Workshop,
        clock: ManualClock,
        scenes: tuple[Scene, ...],
        *,
        guarded: bool = False,
        usage: bool = False,
    ) -> None:
        self._supervisor, self._workshop, self._clock, self._scenes = supervisor, workshop, clock, scenes
        self._guarded, self._usage = guarded, usage
        self._started = clock.time()
        assert supervisor.run.folder is not None
        self._folder = supervisor.run.folder
        self._reader = JournalReader.open(self._folder)
        self._read = 0
        self._lost: dict[str, str] = {}

    def run(self) -> Iterator[DemoEvent]:
        """Every scene until the last, or until the run is stopped."""
        try:
            for number, scene in enumerate(self._scenes, 1):
                yield self._event(
                    "scene", number=number, of=len(self._scenes), title=scene.title, watch_for=scene.watch_for
                )
                before = self._workshop.files()
                for act in scene.acts:
                    yield from self._act(act)
                    if self._supervisor.run.ended:
                        break
                yield self._files(before)
                if self._supervisor.run.ended:
                    break
            self._supervisor.close()
            yield from self._news()
            verified = verify_journal(self._folder)
            yield self._event(
                "end", summary=msgspec.to_builtins(self._supervisor.run.summary), journal=verified.verdict
            )
        finally:
            self._reader.close()

    def _act(self, act: Act) -> Iterator[DemoEvent]:
        supervisor = self._supervisor
        if act.says:
            words = supervisor.message(act.says, usage=self._spent(act))
            yield self._event("says", step=words.index, text=act.says)
            supervisor.after(words)
            yield from self._news()
        if act.done:
            answer = supervisor.stop_gate.at_turn_end(act.says)
            yield from self._news()
            if answer.words:
                yield self._event("returned", text=answer.words)
        if act.attack and not self._guarded:
            yield self._event("skipped", command=act.command)
        elif act.command or act.arguments:
            yield from self._call(act)
        self._clock.advance(act.after)

    def _call(self, act: Act) -> Iterator[DemoEvent]:
        supervisor = self._supervisor
        arguments: dict[str, object] = act.arguments or {"command": act.command}
        if act.tool == "write":
            arguments = {**arguments, "content": self._fill_in(str(arguments["content"]))}
        step = supervisor.call(act.tool, arguments)
        if not (self._usage and act.says):
            step = msgspec.structs.replace(step, usage=self._spent(act))
        yield self._event("call", step=step.index, tool=act.tool, arguments=arguments)
        before = self._workshop.files()
        decision = supervisor.before(step)
        yield from self._news()
        if decision.action == "hold":
            yield self._event("held", reason=decision.reason)
            supervisor.resume()
            yield self._event("resumed", by="a person")
            decision = supervisor.before(step)
        if decision.delay_s:
            yield self._wait(decision)
        if decision.action in ("deny", "stop"):
            yield self._event("denied", step=step.index, reason=decision.reason)
            return
        if act.must_block:
            raise InterlockError(f"the demo ends here: review allowed `{act.command}`, which must never run")
        output = self._output(act, arguments)
        self._clock.advance(2.0)
        result = supervisor.result(output.text, error=output.failed, exit_code=output.exit_code)
        yield self._event("result", step=result.index, text=output.text, failed=output.failed)
        if before.keys() - self._workshop.files().keys():
            yield self._loss(before)
        if act.attack:
            supervisor.run.journal.flush()
            verified = verify_journal(self._folder)
            attempts = output.text.splitlines()
            yield self._event(
                "attacked",
                attempts=len(attempts),
                succeeded=[each for each in attempts if each.endswith(": done")],
                journal=verified.verdict,
            )
        supervisor.after(result)
        yield from self._news()

    def _spent(self, act: Act) -> Usage:
        if self._usage:
            return Usage(READ_TOKENS + act.tokens, act.tokens, cache_read_tokens=CACHED)
        return Usage(act.tokens, act.tokens // 4)

    def _wait(self, decision: Decision) -> DemoEvent:
        self._clock.advance(decision.delay_s)
        return self._event("waits", seconds=decision.delay_s, reason=decision.reason)

    def _output(self, act: Act, arguments: dict[str, object]) -> Output:
        if act.output is not None:
            return Output(act.output, 1 if act.failed else 0)
        if act.tool == "write":
            (self._workshop.root / str(arguments["file_path"])).write_text(str(arguments["content"]))
            return Output("written", 0)
        return self._workshop.run(act.command)

    def _fill_in(self, script: str) -> str:
        """Fill in the real targets: this process, its journal, its socket, its code."""
        places = {
            "journal": self._folder.path / "journal.db",
            "socket": noted_socket(self._folder.path),
            "code": Path(__file__),
        }
        for name, place in places.items():
            script = script.replace(f"{{{name}}}", str(place).encode().hex())
        return script.replace("{pid}", str(os.getpid()))

    def _loss(self, before: dict[str, str]) -> DemoEvent:
        """A call has removed files; its other changes count as lost as well."""
        now = self._workshop.files()
        self._lost = {path: found for path, found in before.items() if now.get(path) != found}
        return self._event("gone", paths=sorted(self._lost), lost=count_files(self._lost), left=count_files(now))

    def _files(self, before: dict[str, str]) -> DemoEvent:
        after = self._workshop.files()
        return self._event("files", same=before == after, count=count_files(after))

    def _news(self) -> Iterator[DemoEvent]:
        """New records that supervision has written."""
        if not self._supervisor.run.ended:
            self._supervisor.run.journal.flush()
        for record in self._reader.read(after=self._read):
            self._read = record.seq
            if record.kind in SHOWN:
                body = from_json(record.body, dict)
                if record.kind == "incident":
                    body["report"] = _report(Path(body["where"]))
                if record.kind == "restored":
                    now = self._workshop.files()
                    back = [path for path, found in self._lost.items() if now.get(path) == found]
                    body["identical"], body["files"] = count_files(back), count_files(now)
                yield self._event(record.kind, **body)

    def _event(self, kind: str, **body: object) -> DemoEvent:
        return DemoEvent(kind, self._clock.time() - self._started, body)


def _report(incident: Path) -> str:
    try:
        return (incident / "report.txt").read_text()
    except OSError:
        return ""


COMMAND_S = 60.0


class Output(Struct, frozen=True):
    """What a command printed, and how it ended."""

    text: str
    exit_code: int

    @property
    def failed(self) -> bool:
        return self.exit_code != 0


class Workshop:
    """The folder that the scripted agent works in; its commands run in `sandbox`."""

    def __init__(self, root: Path, files: Mapping[str, str], sandbox: SandboxBuilder = no_sandbox) -> None:
        self.root = root
        self._runner = CheckRunner(str(root), COMMAND_S)
        self._runner.enclose = sandbox
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def run(self, command: str) -> Output:
        """Run a shell command in the folder, for real."""
        (done,) = self._runner.run((command,))
        return Output(done.output or done.why, 1 if done.exit_status is None else done.exit_status)

    def files(self) -> dict[str, str]:
        """A hash over mode and content of every path; those of folders end with a slash."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            folder = path.is_dir() and not path.is_symlink()
            content = b"" if folder else path.read_bytes()
            name = f"{path.relative_to(self.root)}{'/' if folder else ''}"
            found[name] = hashlib.sha256(f"{path.lstat().st_mode:o}\0".encode() + content).hexdigest()
        return found


def count_files(paths: Iterable[str]) -> int:
    """How many of these are not folders."""
    return sum(not path.endswith("/") for path in paths)

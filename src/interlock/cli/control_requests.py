"""Shared by pause, resume, cancel, escalate, approve and reject: choosing runs, sending requests, printing results."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Annotated, get_args

from msgspec import Struct
from msgspec.structs import replace
from typer import Argument, Option

from ..control import (
    Command,
    Request,
    RequestOutcome,
    State,
    Waiting,
    decode_current,
    new_request,
)
from ..core import ENDED, BadInput, InterlockError, InvalidState, NotFound, Status
from ..journal import TREE, JournalReader, RunSummary, find_run
from ..link import Runs, read_status
from .app import HubOption, finite
from .completion import offer_live_runs
from .output import print_json, say, say_error

RunArgument = Annotated[
    str | None, Argument(metavar="RUN", help="An id, a name, or a unique prefix.", autocompletion=offer_live_runs)
]
AllOption = Annotated[bool, Option("--all", help="All live runs.")]
WhereOption = Annotated[
    list[str] | None, Option("--where", metavar="KEY=VALUE", help="Live runs of a status, name, model or adapter.")
]
TimeoutOption = Annotated[float, Option("--timeout", min=0.0, callback=finite, help="Seconds to wait for the reply.")]
ReasonOption = Annotated[str | None, Option("--reason", help="The reason; it is recorded.")]
JsonOption = Annotated[bool, Option("--json", help="The RESULT, or all of them under `results`.")]
VerboseOption = Annotated[bool, Option("-v", "--verbose", help="Include the run's id and the protocol's message.")]
StepOption = Annotated[int | None, Option("--step", min=0, help="The step; default: the pending one.")]

TIMEOUT_S = 60.0
AT_ONCE = 32
"""Concurrent requests at most."""

DONE = {"pause": "is paused", "resume": "is running again", "cancel": "is cancelled"}
"""What a command has done, in words; the other commands print the run's reply."""

LIVE = tuple(status for status in get_args(Status) if status not in ENDED)
KEYS = ("status", "name", "model", "adapter", "run_id")
EXIT = {"bad_request": 2, "not_found": 3, "invalid_state": 4, "failed": 4}


class RunChoice(Struct, frozen=True, kw_only=True):
    """Which runs are meant, and how to reach them: the options that all these commands share."""

    run: RunArgument = None
    every: AllOption = False
    where: WhereOption = None
    timeout: TimeoutOption = TIMEOUT_S
    hub: HubOption = None
    json: JsonOption = False
    verbose: VerboseOption = False


Payload = Callable[["LocalRuns", str], dict[str, object]]
"""Makes the payload of the request to one run."""


def control_run(command: Command, choice: RunChoice, payload: Payload | None = None, reason: str | None = None) -> None:
    """Send a command to the chosen runs, print the results, and exit with the matching status."""
    many = choice.every or bool(choice.where)
    if many == (choice.run is not None):
        wrong = "RUN cannot be combined with --all or --where" if many else "no run specified"
        raise BadInput(wrong, todo="Specify a RUN, or use --all or --where KEY=VALUE.")
    from .runs import open_hub, the_store

    with closing(LocalRuns(the_store(), open_hub(choice.hub) if choice.hub else None)) as runs:
        chosen = runs.choose(choice)
        batch_id = str(uuid.uuid4()) if many else None
        requests = [
            new_request(
                str(uuid.uuid4()),
                command,
                run.run_id,
                payload(runs, run.run_id) if payload is not None else {},
                reason=reason,
                batch_id=batch_id,
            )
            for run in chosen
        ]
        with ThreadPoolExecutor(max(1, min(AT_ONCE, len(requests)))) as pool:
            answers = list(pool.map(lambda request: runs.ask(request, choice.timeout, say_error), requests))
    if choice.json:
        documents = [_document(*each) for each in zip(requests, answers, strict=True)]
        print_json(documents[0] if batch_id is None else {"batch_id": batch_id, "results": documents})
    else:
        _say(command, list(zip(chosen, answers, strict=True)), choice, runs)
    status = max((exit_status(answer) for answer in answers), default=0)
    if status:
        raise SystemExit(status)


def exit_status(answer: RequestOutcome) -> int:
    """0 done, 2 bad request, 3 no such run, 4 invalid state or failed, 5 unknown."""
    if answer.outcome == "success":
        return 0
    return EXIT.get(answer.code or "", 4) if answer.outcome == "failure" else 5


class LocalRuns(Runs):
    """The runs that a command can address: those of this machine, or with --hub those on the hub."""

    def choose(self, choice: RunChoice) -> list[RunSummary]:
        """The chosen runs: one by its name, or all live ones that match."""
        if choice.run is not None:
            return [self.find(choice.run)]
        conditions = [parse_condition(text) for text in choice.where or ()]
        # A run with an unreadable journal can still be steered if its owner is alive.
        listed = [run for run in self.runs() if run.status != "unreadable" or run.owner_pid is not None]
        live = [run for run in listed if run.status not in ENDED]
        return [run for run in live if all(str(getattr(run, key)) == value for key, value in conditions)]

    def find(self, ref: str) -> RunSummary:
        if self.hub is not None:
            # Owners on other machines are not visible: any of several runs with this name may be meant.
            return find_run(ref, [replace(run, owner_pid=None) for run in self.runs()])
        folder = self.store.find(ref)
        # A run whose spec is broken can still be steered, by its id.
        with suppress(InterlockError):
            return RunSummary(run_id=folder.run_id, name=folder.spec().name)
        return RunSummary(run_id=folder.run_id)

    def runs(self) -> list[RunSummary]:
        return self.store.runs() if self.hub is None else [run.summary for run in self.hub.runs()]

    def done(self, command: Command, run_id: str, answer: RequestOutcome) -> str:
        """What a command has done; a run whose processes Interlock cannot stop is not called paused."""
        here = self.is_here(run_id)
        if command == "pause" and here and not (self.folder(run_id).path / TREE).exists():
            return ": steps held"
        if not here and answer.result is not None and answer.result.payload.run_status == "pausing":
            return " is pausing: the current step may finish"
        return f" {DONE.get(command, '')}"

    def waiting_call(self, run_id: str) -> Waiting:
        """The call of a run that needs approval."""
        if self.hub is not None:
            return call_that_waits(self.hub.current(run_id) or b"")
        folder = self.folder(run_id)
        if read_status(folder) in ENDED:
            raise NotFound(f"{folder.spec().name or run_id}: the run has ended")
        with JournalReader.open(folder) as reader:
            last = reader.last("state")
        return call_that_waits(bytes(last.body) if last is not None else b"")


def parse_condition(text: str) -> tuple[str, str]:
    """Parse `status=running` into key and value."""
    key, equals, value = text.partition("=")
    if not equals or key not in KEYS:
        raise BadInput(f"--where {text!r} is not a condition", todo=f"Use KEY=VALUE with one of: {', '.join(KEYS)}.")
    if key == "status" and value not in LIVE:
        raise BadInput(f"--where {text!r}: no live run has this status", todo=f"Known: {', '.join(LIVE)}.")
    return key, value


def call_that_waits(body: bytes) -> Waiting:
    """The call that needs approval, from the last state of a run."""
    event = decode_current(body)
    waiting = event.waiting if isinstance(event, State) else None
    if waiting is None or waiting.kind != "approval":
        raise InvalidState("no step of this run needs approval", todo="See interlock show RUN.")
    return waiting


def _say(command: Command, done: list[tuple[RunSummary, RequestOutcome]], choice: RunChoice, runs: LocalRuns) -> None:
    if not done:
        say("No live run matches." if choice.where else "No live runs.")
    for run, answer in done:
        line = _line(command, run, answer, choice.verbose, runs.done(command, run.run_id, answer))
        if answer.outcome == "success":
            say(line)
        else:
            say_error(line)


def _line(command: Command, run: RunSummary, answer: RequestOutcome, verbose: bool, done: str) -> str:
    """The result for people; with the id and the protocol's code if verbose."""
    if verbose:
        code = "" if answer.outcome == "success" else f" ({answer.code or 'outcome unknown'})"
        return f"{run.run_id}: {answer.message}{code}"
    name = run.name or run.run_id
    if answer.outcome == "unknown":
        return f"{name}: outcome unknown: {answer.message}"
    if answer.outcome == "success" and command in DONE:
        return f"{name}{done}"
    return f"{name}: {answer.message}"


def _document(request: Request, answer: RequestOutcome) -> object:
    """The RESULT; if there is none, a document with what is known."""
    if answer.result is not None:
        return answer.result
    payload: dict[str, object] = {"status": answer.outcome, "message": answer.message, "accepted": answer.accepted}
    if answer.code is not None:
        payload["code"] = answer.code
    return {
        "schema": 0,
        "type": "RESULT" if answer.outcome == "failure" else "UNKNOWN",
        "request_id": request.request_id,
        "command": request.command,
        "target": request.target,
        "payload": payload,
    }

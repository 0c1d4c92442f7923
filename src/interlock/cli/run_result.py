"""Launches a run and ends like it: its summary and its exit status."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import msgspec
from msgspec.structs import replace

from ..adapters.command import Finished, Launch, die_of, run_command
from ..adapters.hooks import recognise
from ..adapters.proxy import OPENAI, Proxied, find_upstreams, stand_ins
from ..core import BadInput, InterlockError, LaterFile, printable, printable_path
from .contract_options import show_contract
from .output import ending_style, many, say_error, spent

SHOWN_FILES = 5

MOST_LINES = 13
"""Lines after the first, so that the end of a run fits a small terminal."""

MOST_NOT_DONE = 8
LEAST_NOT_DONE = 3
WIDTH = 80
LOGINS = {"claude-code": ("anthropic",), "codex": (OPENAI,), "gemini": ("gemini",)}
"""The API of each client that a file may log in."""


def launch_and_exit(launch: Launch, summary: Path | None, *, proxy: bool | None = None) -> NoReturn:
    """Run to the end, print and write the summary, and exit with the run's status."""
    launch = with_proxy(with_hooks(launch), proxy)
    if launch.steps == "stdout" and launch.spec.adapter != "process":
        from ..adapters.proxy import ProxyAdapter

        why = "the proxy" if launch.spec.adapter == ProxyAdapter.name else "its hooks"
        raise BadInput(f"--steps stdout: the steps of this command come from {why}", todo="Leave --steps out.")
    show_contract(launch.context, launch.config)
    later = _open_later(summary) if summary is not None else None
    finished = run_command(launch)
    if later is not None and summary is not None:
        _write(later, summary, finished)
    _print(finished)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            # None if we were started without it.
            stream.flush()
    if finished.exit_status < 0:
        die_of(-finished.exit_status)
    from ..process import UNKNOWN_STATUS

    raise SystemExit(5 if finished.exit_status == UNKNOWN_STATUS else finished.exit_status)


def with_hooks(launch: Launch) -> Launch:
    """The launch with hooks for a known agent; its prompt becomes the task if none is given."""
    wiring = recognise(launch.spec.argv)
    if wiring is None:
        return launch
    task = launch.spec.task or wiring.task
    context = replace(launch.context, original_prompt=launch.context.original_prompt or task)
    return replace(launch, spec=replace(launch.spec, adapter=wiring.client, task=task), context=context, wiring=wiring)


def with_proxy(launch: Launch, wanted: bool | None) -> Launch:
    """The launch with the proxy for the model's API, if it is wanted or the environment names an API.

    A key in the environment alone does not redirect a client that has hooks: it rejects a redirected base URL. In a
    fence the proxy is the only way to a model, and the agent gets placeholder keys.
    """
    if wanted is False:
        return launch
    fenced = launch.config.runtime.contain == "fence"
    wanted = wanted or fenced
    upstreams = find_upstreams(os.environ, every=wanted is True, keys=launch.wiring is None)
    if wanted and launch.wiring is not None and launch.wiring.api:
        upstreams[OPENAI] = launch.wiring.api
    if not upstreams:
        return launch
    from secrets import token_urlsafe

    from ..adapters.proxy import ProxyAdapter

    spec = launch.spec if launch.wiring is not None else replace(launch.spec, adapter=ProxyAdapter.name)
    keys = stand_ins(os.environ, upstreams) if fenced else {}
    if fenced and launch.wiring is not None and not keys:
        say_error("key not hidden: the client's login is in a file that the agent can read")
    login = LOGINS.get(launch.wiring.client, tuple(upstreams)) if launch.wiring is not None else ()
    return replace(launch, spec=spec, proxied=Proxied(upstreams, token_urlsafe(12), keys, fenced, login))


def _open_later(path: Path) -> LaterFile:
    try:
        return LaterFile(path)
    except OSError as error:
        raise BadInput(f"the summary cannot be written there ({error.strerror})", where=str(path)) from None


def _write(later: LaterFile, path: Path, finished: Finished) -> None:
    body = msgspec.to_builtins(finished)
    body.pop("say", None)
    try:
        later.write(msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n")
    except OSError as error:
        say_error(f"{path}: the summary cannot be written ({error.strerror})")


def _print(run: Finished) -> None:
    """Print the run in a few lines; plain text if stderr is not a terminal."""
    if not sys.stderr.isatty() and not {"FORCE_COLOR", "TTY_COMPATIBLE"} & os.environ.keys():
        # Without rich, which takes longer to import than a short command runs.
        words = (f"interlock {run.name or run.run_id}: {_ended(run)}", *(f"  {line}" for line in _lines(run)))
        with contextlib.suppress(OSError):
            sys.stderr.write("".join(f"{printable(line)}\n" for line in words))
        return
    from rich.text import Text

    from .console import Console

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    style = ending_style(run.ending or "")
    try:
        console.print(Text.assemble(("interlock", "bold"), f" {run.name or run.run_id}: ", (_ended(run), style)))
        for line in _lines(run):
            console.print(Text(f"  {line}", style="dim"))
    except OSError:
        # The terminal is gone.
        return


def _files(what: str, paths: Sequence[str]) -> list[str]:
    """One line about these files, or none."""
    more = len(paths) - SHOWN_FILES
    named = ", ".join(map(printable_path, paths[:SHOWN_FILES])) + (f" and {more} more" if more > 0 else "")
    return [f"{many(len(paths), 'file')} {what}: {named}"] if paths else []


def _typed(run: Finished) -> str:
    """How to refer to this run: by its name, unless that means another run or an option."""
    if not run.name or not run.folder or run.name.startswith("-"):
        return run.run_id
    import shlex

    from ..journal import Store

    try:
        meant = Store(Path(run.folder).parent).find(run.name).run_id
    except (InterlockError, OSError):
        return run.run_id
    return shlex.quote(run.name) if meant == run.run_id else run.run_id


def _ended(run: Finished) -> str:
    """How the run ended, and why."""
    if run.ending is None or run.message.startswith(run.ending):
        return run.message
    return f"{run.ending}: {run.message}"


def _not_done(run: Finished, typed: str, room: int) -> list[str]:
    """What did not happen, most serious first, in this many lines."""
    shown = run.not_done if len(run.not_done) <= room else run.not_done[: room - 1]
    lines = [one_line(each.words, WIDTH - 2) for each in shown]
    more = len(run.not_done) - len(shown)
    return [*lines, f"{more} more: interlock show {typed} --not-done"] if more else lines


def one_line(words: str, width: int) -> str:
    """The words on one line of this width, with the end left out."""
    line = " ".join(words.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _lines(run: Finished) -> list[str]:
    calls = f" ({many(run.calls, 'tool call')})" if run.calls else ""
    found = f"{many(run.issues, 'issue')}, {many(run.interventions, 'intervention')}"
    cost = spent(run.cost_usd, run.max_cost_usd, run.unpriced_tokens)
    used = f", {many(run.tokens, 'token')}, {cost}" if run.tokens or run.cost_usd else ""
    took = f"{run.seconds:.1f} s" if run.seconds < 120 else f"{run.seconds / 60:,.0f} min"
    lines = [f"{many(run.steps, 'step')}{calls}, {found}{used}, {took}"]
    named = {*run.files_created, *run.files_deleted}
    lines += _files("created", run.files_created)
    lines += _files("changed", [path for path in run.files_changed if path not in named])
    lines += _files("deleted", run.files_deleted)
    typed = _typed(run)
    if run.files_changed:
        lines.append(f"undo: interlock rollback {typed}")
    lines += [f"limit: {words}" for words in run.limits_reached]
    if run.unpriced_tokens and run.max_cost_usd is not None:
        lines.append(f"limit: {run.unpriced_tokens:,} tokens have no known price; the cost limit could not be enforced")
    lines += [f"proven: {words}" for words in run.contract[:SHOWN_FILES] if run.ending == "proven"]
    if run.refused:
        paths = [words.rpartition(" (")[0] for words in run.refused if words[:1] in "/~"]
        allow = f"; allow: {' '.join(f'--write {path}' for path in paths[:SHOWN_FILES])}" if paths else ""
        lines.append(f"refused outside the workspace: {', '.join(run.refused[:SHOWN_FILES])}{allow}")
    lines += [f"tampered with: {words}" for words in run.tampering]
    if run.still_running:
        lines.append(f"could not be ended: {run.still_running}")
    if run.incident_id:
        lines.append(f"what next: interlock incident show {run.incident_id}")
    gone = bool(run.folder) and not Path(run.folder).exists()
    lines.append("its journal was deleted" if gone else f"more: interlock show {typed}")
    room = max(LEAST_NOT_DONE, min(MOST_NOT_DONE, MOST_LINES - len(lines)))
    return [lines[0], *_not_done(run, typed, room), *lines[1:]]

"""The table of commands, each imported only when it is asked for."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import typer
from typer._click.exceptions import NoArgsIsHelpError, UsageError
from typer.core import TyperGroup

from ..core.errors import InterlockError
from .interrupt import INTERRUPTED, listen_again
from .output import say_error

COMMANDS: dict[str, str] = {
    "demo": "a scripted agent goes wrong in every way that we detect, supervised live",
    "run": "supervise any command",
    "serve": "the resident supervisor, for agents with permanent hooks",
    "install": "permanent hooks in an agent's own settings",
    "uninstall": "take permanent hooks out again",
    "scan": "recorded traces: where they went wrong, what would have been done",
    "review": "the verdict on shell commands",
    "inbox": "everything that needs you, and the answers to it",
    "ps": "the live runs",
    "budget": "what runs have spent together, and the forecast",
    "report": "one run as one self-contained file",
    "proof": "what a run claims, and whether it is true",
    "top": "watch and steer all runs in the terminal",
    "show": "one run in full",
    "logs": "what a run's command printed",
    "incidents": "what emergency stops left behind",
    "incident": "one emergency stop: its report, and the four ways on",
    "pause": "let a run finish its iteration and start no other",
    "resume": "let a paused run go on",
    "cancel": "end a run and its agent",
    "escalate": "have a run go on with a stronger model",
    "approve": "let a step go on that waits for a person",
    "reject": "refuse a step that waits for a person",
    "export": "one run as one file",
    "verify": "whether a journal was changed",
    "prune": "remove old runs",
    "checkpoints": "the checkpoints of a workspace",
    "checkpoint": "create, show, diff, gc, verify checkpoints",
    "rollback": "take a workspace back to a checkpoint",
    "undo": "take the last rollback back",
    "gui": "GUI sessions: replay, watch, verify, analyze, doctor, chaos",
    "config": "write, show and check the configuration",
    "mute": "a false alarm stays quiet from now on",
    "notify": "who is told, and whether that works",
    "doctor": "what works on this machine",
    "web": "the dashboard: all runs in a browser",
    "hub": "keys of people and machines, and the configuration of the hub's server",
    "schema": "JSON Schemas of everything on the wire and in the journal",
}
"""Command to the one line that `interlock --help` shows. The command `a-b` lives in the module `a_b` as `app`."""


LOGGING = frozenset(("gui", "serve", "web"))
"""Commands that log by themselves; the others only if they are told to, for a log takes time to set up."""


LIKENESS = 65
"""Of a hundred: how like a command a word has to be for us to think that it was meant."""


class LazyGroup(TyperGroup):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f".{cmd_name.replace('-', '_')}", __package__)
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from rapidfuzz import fuzz, process

            nearest = process.extractOne(args[0], list(COMMANDS), scorer=fuzz.ratio, score_cutoff=LIKENESS)
            hint = f"Did you mean {nearest[0]!r}?" if nearest else "See interlock --help."
            say_error(f"there is no command {args[0]!r}. {hint}")
            raise SystemExit(2)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands from the table, without importing one of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.callback()
def interlock(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="Show the version."),
    log_json: bool = typer.Option(False, "--log-json", help="Log as JSON lines."),
    log_level: str | None = typer.Option(None, "--log-level", metavar="LEVEL", help="debug, info, warning or error."),
    log_file: str | None = typer.Option(None, "--log-file", metavar="FILE", help="Log there instead of to stderr."),
) -> None:
    """Keep autonomous agents and unattended sessions on track.

    Example: interlock run -- claude -p "fix the tests"
    """
    if ctx.invoked_subcommand != "run":
        # `run` has much to import before it starts anything, and then takes signals itself.
        listen_again()
    if log_json or log_level or log_file or ctx.invoked_subcommand in LOGGING:
        from ..runtime.log import choose_log, configure_log

        choose_log(json=log_json, level=log_level, file=log_file)
        configure_log()


def run() -> None:
    """Run the command line; an InterlockError becomes one line and its exit status."""
    try:
        status = app(prog_name="interlock", standalone_mode=False)
    except UsageError as error:
        raise SystemExit(say_usage_error(error)) from None
    except typer.Abort as abort:
        raise SystemExit(leave_question(abort)) from None
    except InterlockError as error:
        say_error(str(error))
        raise SystemExit(error.exit_status) from None
    except BrokenPipeError:
        # The reader of our output went away (| head); there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except OSError as error:
        # The disk, the folder one stands in, or the output is gone: that is no bug of ours, and one line says it.
        where = f"{error.filename}: " if error.filename else ""
        say_error(f"{where}{error.strerror or error}. Check the disk, the folder and the permissions")
        raise SystemExit(4) from None
    raise SystemExit(status if isinstance(status, int) else 0)


PLAINLY = {
    "a valid int range": "a whole number",
    "a valid integer": "a whole number",
    "a valid float range": "a number",
}
"""What the parser says of a value, and what a person would."""


def say_usage_error(error: UsageError) -> int:
    """Say what is wrong and where to read how it goes; the exit status."""
    if isinstance(error, NoArgsIsHelpError):
        error.show()
        return error.exit_code
    command = error.ctx.command_path if error.ctx is not None else "interlock"
    words = error.format_message().rstrip(".")
    for theirs, ours in PLAINLY.items():
        words = words.replace(theirs, ours)
    if words.startswith("Missing argument "):
        words = words[:17] + words[17:].strip("'.").upper()
    stop = "" if words.endswith("?") else "."
    say_error(f"{words[:1].lower()}{words[1:]}{stop} See {command} --help.", who=command)
    return error.exit_code


def leave_question(abort: typer.Abort) -> int:
    """Nobody answered, or somebody said no; the exit status."""
    if abort.__context__ is not None:
        # What comes next does not belong behind the question.
        sys.stderr.write("\n")
    return INTERRUPTED if isinstance(abort.__context__, KeyboardInterrupt) else 1


__all__ = ["UsageError", "leave_question", "say_usage_error"]

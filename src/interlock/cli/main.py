"""The command line: the table of commands, each imported only when used."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import typer
from typer import Option
from typer._click.exceptions import NoArgsIsHelpError, UsageError
from typer.core import TyperGroup

from .app import unify
from .exit_status import exit_with
from .interrupt import INTERRUPTED, listen_again
from .output import say_error
from .streams import outlive_reader

GROUPS: dict[str, dict[str, str]] = {
    "Start": {
        "demo": "watch a scripted agent go wrong, supervised live",
        "run": "supervise any command",
        "install": "add permanent hooks to an agent's own settings",
        "uninstall": "remove permanent hooks",
        "serve": "run the resident supervisor, for agents with permanent hooks",
        "config": "write, show and check the configuration",
        "doctor": "check what works on this machine",
    },
    "Watch": {
        "ps": "list the live runs",
        "top": "watch and steer all runs in the terminal",
        "web": "open the dashboard: all runs in a browser",
        "show": "show one run in full",
        "logs": "show what a run's command printed",
        "inbox": "list and answer everything that needs you",
        "budget": "show what runs have spent together, and the forecast",
    },
    "Steer": {
        "pause": "pause a run after its current step",
        "resume": "resume a paused run",
        "cancel": "end a run and its agent",
        "approve": "approve the step that needs approval",
        "reject": "reject the step that needs approval",
        "escalate": "continue a run with a stronger model",
        "mute": "mute a false alarm",
    },
    "Undo": {
        "rollback": "restore a workspace to a checkpoint",
        "undo": "undo the last rollback",
        "checkpoints": "list the checkpoints of a workspace",
        "checkpoint": "create, show, compare, verify and clean up checkpoints",
        "incidents": "list emergency stops",
        "incident": "show an emergency stop and choose how to continue",
    },
    "Understand": {
        "report": "write one run as one self-contained file",
        "proof": "check whether what a run claims is true",
        "scan": "find what went wrong in recorded traces",
        "review": "review shell commands",
    },
    "Operate": {
        "export": "pack one run into one file",
        "verify": "check whether a journal was changed",
        "prune": "remove old runs",
        "notify": "list and test alert channels",
        "hub": "manage the hub's keys and its server's configuration",
        "gui": "supervise GUI sessions",
        "schema": "print the JSON Schemas of messages and records",
    },
}
"""The commands as `interlock --help` shows them. Each lives in the module of its name as `app`."""

LOCATIONS = {
    **{name: f"steer.{name}" for name in ("approve", "cancel", "escalate", "pause", "reject", "resume")},
    "checkpoints": "checkpoint.list_app",
    "export": "stored_runs.export_app",
    "incidents": "incident.list_app",
    "prune": "stored_runs.prune_app",
    "top": "dashboards.top_app",
    "undo": "rollback.undo_app",
    "uninstall": "install.uninstall_app",
    "verify": "stored_runs.verify_app",
    "web": "dashboards.web_app",
}
"""Commands that share a module with others, and their name there."""

COMMANDS: dict[str, str] = {name: about for commands in GROUPS.values() for name, about in commands.items()}

ALIASES = {
    "abort": "cancel",
    "continue": "resume",
    "dashboard": "web",
    "kill": "cancel",
    "list": "ps",
    "log": "logs",
    "ls": "ps",
    "monitor": "top",
    "restore": "rollback",
    "revert": "rollback",
    "status": "ps",
    "stop": "cancel",
    "watch": "top",
}
LISTS = {"checkpoint list": "checkpoints", "incident list": "incidents"}
"""Aliases that people try. Not listed, and not completed."""


CHANGING = frozenset(
    ("approve", "cancel", "checkpoint", "config", "escalate", "hub", "inbox", "incident", "install", "mute", "notify",
     "pause", "prune", "reject", "resume", "rollback", "undo", "uninstall")
)  # fmt: skip
"""Commands that finish their work even if their output is not read (| head)."""


LOGGING = frozenset(("gui", "serve", "web"))
"""Commands that always log; the others only on request, since setting up a log takes time."""


LIKENESS = 65
"""How similar a word must be to a command to suggest it, out of 100."""


class LazyGroup(TyperGroup):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = LOCATIONS.get(cmd_name, f"{cmd_name}.app").partition(".")
        command = typer.main.get_command(getattr(importlib.import_module(f".{module}", __package__), name))
        command.name = cmd_name
        unify(command)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        if args[:1] == ["--help"]:
            sys.stdout.write(f"{ctx.get_help()}\n")
            raise SystemExit(0)
        if args and args[0] in ALIASES:
            args = [ALIASES[args[0]], *args[1:]]
        if meant := LISTS.get(" ".join(args[:2])):
            args = [meant, *args[2:]]
        if args and args[0] in CHANGING:
            outlive_reader()
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from rapidfuzz import fuzz, process

            nearest = process.extractOne(args[0], list(COMMANDS), scorer=fuzz.ratio, score_cutoff=LIKENESS)
            hint = f"Did you mean {nearest[0]!r}?" if nearest else "See interlock --help."
            say_error(f"there is no command {args[0]!r}. {hint}")
            raise SystemExit(2)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands from the table, without importing one of them."""
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()), col_spacing=2)


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def interlock(
    ctx: typer.Context,
    version: bool = Option(False, "--version", help="Show the version."),
    log_json: bool = Option(False, "--log-json", help="Log as JSON lines."),
    log_level: str | None = Option(None, "--log-level", metavar="LEVEL", help="debug, info, warning or error."),
    log_file: str | None = Option(None, "--log-file", metavar="FILE", help="Log there instead of to stderr."),
) -> None:
    """Keep autonomous agents and unattended sessions on track.

    Example: interlock run -- claude -p "fix the tests"
    """
    if ctx.invoked_subcommand != "run":
        # `run` imports much before it starts anything, and then handles signals itself.
        listen_again()
    if log_json or log_level or log_file or ctx.invoked_subcommand in LOGGING:
        from ..runtime import choose_log, configure_log

        choose_log(json=log_json, level=log_level, file=log_file)
        configure_log()


def run() -> None:
    """Run the command line."""
    exit_with(_run_app)


def _run_app() -> object:
    try:
        return app(prog_name="interlock", standalone_mode=False)
    except UsageError as error:
        raise SystemExit(say_usage_error(error)) from None
    except typer.Abort as abort:
        raise SystemExit(leave_question(abort)) from None


PLAINER = {
    "a valid int range": "a whole number",
    "a valid integer": "a whole number",
    "a valid float range": "a number",
}
"""The parser's words for a value, and plainer ones."""


def say_usage_error(error: UsageError) -> int:
    """Print what is wrong and where to find help; returns the exit status."""
    if isinstance(error, NoArgsIsHelpError):
        error.show()
        return error.exit_code
    command = error.ctx.command_path if error.ctx is not None else "interlock"
    words = error.format_message().rstrip(".")
    for theirs, ours in PLAINER.items():
        words = words.replace(theirs, ours)
    if words.startswith("Missing argument "):
        words = words[:17] + words[17:].strip("'.").upper()
    stop = "" if words.endswith("?") else "."
    say_error(f"{words[:1].lower()}{words[1:]}{stop} See {command} --help.", who=command)
    return error.exit_code


def leave_question(abort: typer.Abort) -> int:
    """A question was not answered, or with no; returns the exit status."""
    if abort.__context__ is not None:
        # End the line of the question.
        sys.stderr.write("\n")
    else:
        say_error("nothing was changed")
    return INTERRUPTED if isinstance(abort.__context__, KeyboardInterrupt) else 1

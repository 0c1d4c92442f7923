"""Arguments: what a call does, judged by its arguments (SQL, command, code, path, URL) whatever the tool's name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import lru_cache

from ..core import late_pattern
from .program_names import PROGRAMS, SUBCOMMANDS
from .shell import Command
from .shell.secret_flow import is_secret_file
from .shell.servers import REAL, TESTS, purpose_of
from .sql import is_bare_sql
from .wordlist import as_text, name_set

MAX_VALUES = 64
"""Text values among the arguments that are checked."""

MAX_ITEMS = 1_000
"""Keys and items checked per level."""

MAX_NESTING = 3
MAX_TEXT = 65_536
MAX_PATH = 4_096

SQL = name_set("sql statement statements ddl sql_query sql_text stmt dml cypher")
QUERY = name_set("query q text expression")
COMMAND = name_set("command cmd bash shell shell_command bash_command command_line commandline run exec argv script")
CODE = name_set("code python source python_code program javascript js")
PATH = name_set(
    "path paths file_path filepath filename file file_name target_file absolute_path directory dir folder uri target "
    "dir_path relative_path src source source_path destination dest location from to old_path new_path"
)
URL = name_set("url uri endpoint address href link webhook callback")
PROSE = name_set(
    """message messages prompt description thought thoughts title body comment note notes summary content text reason
    question answer instructions task goal plan subject name label pattern regex search old_string new_string"""
)
"""Arguments that are prose about something."""

TALKING = late_pattern(
    r"(?:^|_)(?:think|thought|finish|submit|done|complete|todo|plan|message|ask|answer|respond|final|reason|note|memory|recall"
    r"|handoff|transfer_to_human|summari[sz]e|comment|reply|post|send|task|agent|skill)"
)
SENDS = late_pattern(
    r"(?:^|_)(?:send|post|notify|mail|email|upload|share|publish|message|comment|reply|attach|forward)"
)
SPENDS = late_pattern(
    r"(?:^|_)(?:transfer|payout|pay|payment|refund|withdraw|purchase|buy|charge|checkout|wire)(?:_|\Z)"
)
AMOUNT = name_set("amount price total quantity value sum")
SCALES = late_pattern(r"(?:^|_)(?:scale|resize|autoscale)(?:_|\Z)")
COUNTS = ("replicas", "count", "instances", "desired", "desired_count", "size", "min_size", "dynos", "nodes")
"""Arguments for the number of running instances; zero shuts the service down."""
SEARCHING = late_pattern(r"search|find|lookup|grep|web|docs|retriev|recall|semantic|issue")
ACTING = late_pattern(r"delete|remove|unlink|rmdir|trash|destroy|purge|wipe|erase|drop|clear")
MOVING = late_pattern(r"move|rename")
WRITING = late_pattern(r"write|create|save|append|touch|mkdir|put|upload|set|update|edit")
RUNNING = late_pattern(r"run|exec|eval|shell|terminal|command|spawn|launch")


@lru_cache(512)
def signs_of(name: str) -> frozenset[str]:
    """The signs in a tool's name; cached, since a run has few tools."""
    return frozenset(sign for sign, pattern in SIGNS if pattern.search(name))


DESTROYS = late_pattern(
    r"(?:^|_)(?:delete|remove|destroy|drop|purge|wipe|erase|terminate|flush|truncate|deprovision)(?:_|all|db|\Z)"
)
SIGNS = (
    ("sends", SENDS), ("spends", SPENDS), ("scales", SCALES), ("talks", TALKING), ("searches", SEARCHING),
    ("runs", RUNNING), ("destroys", DESTROYS),
)  # fmt: skip


def read_arguments(
    name: str, arguments: dict[str, object], cwd: str | None
) -> tuple[list[Command], list[str], list[str]]:
    """The commands equivalent to the arguments; texts that are shell scripts; texts that are code."""
    commands: list[Command] = []
    scripts: list[str] = []
    code: list[str] = []
    said = signs_of(name)
    if "sends" in said:
        commands += sent_secret(name, arguments, cwd)
    if "destroys" in said and is_vital(name, arguments):
        commands.append(Command(program="destroys", args=(name,), cwd=cwd))
    if "spends" in said and not AMOUNT.isdisjoint(map(str.lower, arguments)):
        commands.append(Command(program="spends", args=(name,), cwd=cwd))
    if "scales" in said and any(arguments.get(key) in (0, "0") for key in COUNTS):
        commands.append(Command(program="destroys", args=(name,), cwd=cwd))
    if "talks" in said:
        return commands, scripts, code
    if "force" in name and "push" in name:
        commands.append(Command(program="git", args=("push", "--force"), cwd=cwd))
    paths: list[str] = []
    for one in operations(arguments):
        # Several calls in one: each names its action and target.
        more = read_arguments(f"{name}_{verb_of(one)}", one, cwd)
        commands, scripts, code = commands + more[0], scripts + more[1], code + more[2]
    for key, value in texts(arguments):
        if key in SQL or (key in QUERY and "searches" not in said and is_bare_sql(value)):
            commands.append(Command(program="sql", code=value, cwd=cwd))
        elif key == "commands" or (key in COMMAND and (key != "script" or looks_like_command(value))):
            scripts.append(value)
        elif key in CODE and "runs" in said:
            code.append(value)
        elif key in URL and value.startswith(("http://", "https://")):
            commands.append(request(value, arguments, cwd))
        elif key in PATH and "\n" not in value and "://" not in value:
            paths.append(value.removeprefix("file://")[:MAX_PATH])
        elif key not in PROSE and "searches" not in said:
            if is_bare_sql(value):
                commands.append(Command(program="sql", code=value, cwd=cwd))
            elif "runs" in said and looks_like_command(value):
                scripts.append(value)
    if paths:
        commands += on_paths(name, paths, cwd)
    elif not commands and not scripts and (verb := verb_of(arguments)):
        values = [value for key, value in texts(arguments) if key not in VERB]
        commands.append(Command(program="call", args=(verb, *values[:2]), cwd=cwd))
    return commands, scripts, code


def sent_secret(name: str, arguments: dict[str, object], cwd: str | None) -> tuple[Command, ...]:
    """A `send-secret` command if an argument names a file with a secret, and not to save something in it."""
    for key, value in texts(arguments):
        if (
            len(value) < MAX_PATH
            and key not in URL
            and not SAVED.search(key)
            and is_secret_file(value.removeprefix("@"))
        ):
            return (Command(program="send-secret", args=("a-secret", name), cwd=cwd),)
    return ()


SAVED = late_pattern(r"out|save|dest|download")


def is_vital(name: str, arguments: dict[str, object]) -> bool:
    """Whether a tool that destroys something does so to what a service consists of, and not to one for tests."""
    named = [value for key, value in texts(arguments) if key in NAMING or key.endswith(("_id", "_name", "id"))]
    real = any(REAL.search(value) for value in named)
    if any(purpose_of(value) == TESTS for value in named) and not real:
        return False
    kinds = [value.lower() for key, value in texts(arguments) if key in KIND]
    things = {word.rstrip("s") for each in (name, *kinds) for word in each.split("_")}
    return real or not things.isdisjoint(VITAL) or VITAL_PAIRS.search(name) is not None


KIND = name_set("kind type resource resource_type resourcetype object")
NAMING = name_set(
    "name namespace environment env project cluster database branch instance stack app service ref target"
)
VITAL = name_set(
    """database db schema table keyspace collection index bucket cluster namespace instance vm server
    droplet volume disk snapshot backup project repository repo zone domain stack deployment statefulset app
    application service queue topic stream function secret vault environment workspace organization org tenant release
    pvc persistentvolumeclaim warehouse dataset"""
)
"""Arguments that name the kind of thing and the thing; what a service consists of."""
VITAL_PAIRS = late_pattern(r"flush_?(?:all|db)|resource_group|node_?pool|hosted_zone|container_registry")


def operations(arguments: dict[str, object]) -> list[dict[str, object]]:
    """The destructive calls in a list of calls (`operations: [{op: delete, path: x}]`)."""
    lists = [value for value in arguments.values() if isinstance(value, list)]
    return [one for each in lists for one in each[:MAX_VALUES] if isinstance(one, dict) and verb_of(one)]


VERB = name_set("action operation op verb act mode command_type method")


def verb_of(arguments: dict[str, object]) -> str:
    """The action that an argument requests (`action: delete`), in snake case, if it is destructive; otherwise empty."""
    if VERB.isdisjoint(arguments):
        return ""
    for key in sorted(VERB.intersection(arguments)):
        value = arguments[key]
        if (
            isinstance(value, str)
            and len(value) <= MAX_VERB
            and ACTING.search(value.lower())
            and "url" not in arguments
        ):
            return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-\s]+", "_", value).lower()
    return ""


MAX_VERB = 40


def on_paths(name: str, paths: list[str], cwd: str | None) -> list[Command]:
    """The commands equivalent to a tool of this name on these paths."""
    if ACTING.search(name):
        return [Command(program="rm", args=("-r", path), cwd=cwd) for path in paths]
    if MOVING.search(name) and len(paths) > 1:
        return [Command(program="mv", args=tuple(paths), cwd=cwd)]
    program = "tee" if WRITING.search(name) else "cat"
    return [Command(program=program, args=(path,), cwd=cwd) for path in paths]


def request(url: str, arguments: dict[str, object], cwd: str | None) -> Command:
    """A request as a command that rules can match."""
    method = arguments.get("method") or arguments.get("verb")
    body = arguments.get("body") or arguments.get("data") or arguments.get("payload")
    verb = as_text(method).upper()[:16] if isinstance(method, str) and method else "GET"
    data = ("-d", as_text(body[:MAX_TEXT])) if isinstance(body, str) else ()
    return Command(program="curl", args=("-X", verb, *data, url), cwd=cwd)


def looks_like_command(text: str) -> bool:
    """Whether a text begins with a known program and at least one more word."""
    words = text.split(None, 2)
    if len(words) < 2:
        return False
    first = words[0].rpartition("/")[2]
    return first == "sudo" or first in PROGRAMS or first in SUBCOMMANDS


def texts(arguments: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Every text among the arguments with its key, up to a limit."""
    count = 0
    waiting: list[tuple[str, object, int]] = [("", arguments, 0)]
    while waiting and count < MAX_VALUES:
        key, value, depth = waiting.pop()
        if isinstance(value, str):
            if value:
                count += 1
                yield key, as_text(value[:MAX_TEXT])
        elif depth < MAX_NESTING and isinstance(value, dict):
            items = list(value.items())[:MAX_ITEMS]
            waiting += [(str(name).lower(), item, depth + 1) for name, item in reversed(items)]
        elif key in COMMAND and isinstance(value, list) and all(isinstance(word, str) for word in value[:MAX_ITEMS]):
            count += 1
            yield key, as_text(shlex.join(value[:MAX_ITEMS])[:MAX_TEXT])
        elif depth < MAX_NESTING and isinstance(value, list):
            waiting += [(key, item, depth + 1) for item in reversed(value[:MAX_ITEMS])]

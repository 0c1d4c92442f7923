"""Chosen servers: what a command chooses for later ones: a file of variables, a container engine, a forwarded port."""

from __future__ import annotations

from collections.abc import Sequence

from ...core import late_pattern
from ..wordlist import name_set
from .model import Command, KnownFile
from .scope import CONTEXT, PORTS, ShellScope
from .servers import ENV_FILE, REAL, purpose_of
from .settings import ENGINES, FRAMEWORKS, LOCAL_ENGINE, SOURCED

MAX_WORDS = 32
MAX_BEFORE = 6
"""Words of a command, and commands before one, that are checked."""

MAX_PORTS = 32


def note_sourced(name: str, scope: ShellScope) -> None:
    """Note a file of variables whose text is unknown; one that says `prod` is not replaced by another."""
    if REAL.search(name) or (ENV_FILE.search(name) and REAL.search(scope.variables.get(SOURCED, "")) is None):
        scope.variables[SOURCED] = name


def note_printed(words: Sequence[str], commands: list[Command], scope: ShellScope) -> None:
    """Note variables that another command prints: `export $(cat prod.env)`, `eval "$(docker-machine env prod)"`."""
    if not any("$(" in word for word in words[:MAX_WORDS]):
        return
    for command in commands[-MAX_BEFORE:]:
        if command.program == "docker-machine" and "env" in command.args:
            scope.variables["DOCKER_HOST"] = "$(docker-machine)"
        for arg in command.args[:MAX_WORDS]:
            if ENV_FILE.search(arg):
                note_sourced(arg, scope)


def note_engine(command: Command, scope: ShellScope) -> None:
    """`docker context use NAME`: the engine of all later commands, also of later steps."""
    words = [arg for arg in command.args[:MAX_WORDS] if arg[:1] != "-"]
    if words[:2] != ["context", "use"] and words[:3] != ["system", "connection", "default"]:
        return
    name = words[-1]
    scope.variables.pop("DOCKER_CONTEXT", None)
    if not LOCAL_ENGINE.match(name):
        scope.variables["DOCKER_CONTEXT"] = name
    scope.note(CONTEXT, KnownFile(f"/{name}"))


def is_other_engine(command: Command, own: tuple[str, ...]) -> bool:
    """Whether containers are on another machine, or their names or files say that people rely on them."""
    if any(name in ENGINE_VARIABLES and value[:5] != "unix:" for name, value in command.assignments):
        return True
    return any(
        REAL.search(word) for at, word in enumerate(own[:MAX_WORDS]) if not at or own[at - 1] not in ABOUT_THE_INSIDE
    )


ENGINE_VARIABLES = name_set("DOCKER_HOST DOCKER_CONTEXT CONTAINER_HOST")
ABOUT_THE_INSIDE = name_set("-w --workdir -u --user -v --volume")
"""Options whose value names something in a container."""


def note_tunnel(command: Command, scope: ShellScope) -> None:
    """Note the local ports that a command forwards to another machine, unless that is one for tests."""
    args = command.args[:MAX_WORDS]
    words = TUNNELS[command.program]
    if words.isdisjoint(args) if words is not None else not any(map(BY_OPTIONS.search, args)):
        return
    if not any(map(REAL.search, args)) and any(purpose_of(arg) for arg in args if not LISTENS.search(arg)):
        return
    if command.program == "socat" and any(map(TO_HERE.search, args)):
        return
    for port in [found[1] for arg in args if (found := LISTENS.search(arg)) is not None]:
        if len(scope.files.ports) < MAX_PORTS:
            scope.files.ports |= {port}
            scope.note(f"{PORTS}{port}", KnownFile(f"/{command.program}"))


TUNNELS = {
    **dict.fromkeys(("kubectl", "oc", "k"), frozenset(("port-forward",))),
    **dict.fromkeys(("fly", "flyctl", "tsh"), frozenset(("proxy",))),
    **dict.fromkeys(("pscale", "boundary", "railway"), frozenset(("connect",))),
    "aws": frozenset(("start-session",)),
    "cloudflared": frozenset(("access",)),
    "chisel": frozenset(("client",)),
    **dict.fromkeys(name_set("ssh autossh gcloud socat cloud-sql-proxy cloud_sql_proxy alloydb-auth-proxy"), None),
}
"""Programs that can make a port of this machine one of another, and the word with which they do; None: by options."""

BY_OPTIONS = late_pattern(r"(?i:listen:)|\A-\w*L|\A(?:start-iap-tunnel|LocalForward)|\A--?(?:port|p|instances)\b|=tcp:")
"""The same in the words of the others."""

LISTENS = late_pattern(
    r"(?i)(?:\A(?:-\w*L)?(?:(?:localhost|\*|[\d.]+\.\d+|\[[\da-f:]*\])?:)?|listen:|\A-{1,2}[\w-]*port=|localPortNumber\W{1,8}"
    r"|LocalForward\W{1,2}|\A-{1,2}[\w-]+=(?:localhost|[\d.]+\.\d+):|=tcp:)(\d{2,5})(?=[:,\"\s]|\Z)"
)
"""The port that a tunnel listens on."""
TO_HERE = late_pattern(r"(?i)\Atcp4?:(?:localhost|127\.[\d.]+):")


def is_forwarded(command: Command, scope: ShellScope) -> bool:
    """Whether a client uses a port of this machine that leads to another one."""
    ports = scope.files.ports
    if not ENGINES.isdisjoint(command.via):
        return False
    values = (*command.args[:MAX_WORDS], *(value for _, value in command.assignments))
    named = {port for value in values for port in PORT.findall(value)}
    return not ports.isdisjoint(named or USUAL_PORTS.get(command.program, frozenset()))


PORT = late_pattern(r"(?:\A|\A-[pP]|port=|:)(\d{4,5})(?=[/?,]|\Z)")
USUAL_PORTS = {
    **dict.fromkeys(name_set("psql pgcli dropdb dropuser pg_restore"), frozenset(("5432",))),
    **dict.fromkeys(name_set("mysql mariadb mycli mysqladmin"), frozenset(("3306",))),
    **dict.fromkeys(name_set("mongosh mongo mongorestore"), frozenset(("27017",))),
    **dict.fromkeys(name_set("redis-cli valkey-cli keydb-cli"), frozenset(("6379",))),
    **dict.fromkeys(FRAMEWORKS, name_set("5432 3306 27017 6379 1433")),
    "sqlcmd": frozenset(("1433",)),
    "clickhouse-client": frozenset(("9000",)),
    "cqlsh": frozenset(("9042",)),
    "rabbitmqadmin": frozenset(("15672",)),
}
"""The ports that programs use if none is named."""

CHOICES_OF = {
    **{program: {f"{PORTS}{port}": "/" for port in ports} for program, ports in USUAL_PORTS.items()},
    **{program: {CONTEXT: CONTEXT} for program in ENGINES - {"git"}},
}
"""The choices of earlier steps that a program depends on, whatever its words are."""

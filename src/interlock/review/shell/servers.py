"""Servers: whether a command's target is on this machine, and is a database, queue or store for tests.

One definition for clients of databases, migrations, brokers, stores and backups. A target is for tests if every host
that the command names is this machine (its own address, a socket or a file), a name that it gives (a database, an
environment, settings, a topic) says that it is disposable, and no name says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote

import re2

from ...core import late_pattern
from ..paths import zones
from ..sql import kinds_of
from ..wordlist import name_set
from .model import Command
from .settings import CLIENTS, FRAMEWORKS, OF_CLIENTS, SOURCED, is_setting
from .sinks import LOCAL

HERE, DEVELOPMENT, TESTS = "here", "development", "tests"
"""On this machine, as the command itself says; the same, for development; the same, for tests."""

MAX_WORDS = 64
MAX_WORD = 1_024
"""Words of a command that are checked, and characters of one."""


def server_of(command: Command, workspace: str | None) -> str:
    """The kind of server that a command works on: `tests`, `development`, `here`; empty if it may be elsewhere."""
    if not ELSEWHERE.isdisjoint(command.via) or len(command.args) > MAX_WORDS:
        return ""
    if any(OTHER_CONFIG.match(arg) for arg in command.args):
        return ""
    if command.program not in FRAMEWORKS and any(OTHER_PROFILE.match(arg) for arg in command.args):
        return ""
    named = Named(command.cwd, workspace)
    if command.program in FRAMEWORKS and command.cwd is not None and not named.is_ours(f"{command.cwd}/x"):
        return ""
    for key, value in command.assignments:
        if key == SOURCED:
            if ENV_FILE.search(value) and not named.is_ours(value):
                return ""
            if REAL.search(value) or purpose_of(value.rpartition("/")[2]):
                named.settings.append(value if REAL.search(value) else value.rpartition("/")[2])
        elif (is_setting(key) and value[:4] != "http") or key in OF_CLIENTS:
            named.take(key, value)
    for key, value in pairs(command):
        if command.program not in STORES or ENDPOINT.search(key):
            named.take(key, value)
    named.databases += stated(command)
    if not all(is_here(host) for host in named.hosts):
        return ""
    if command.program in EMULATING:
        return HERE
    if not named.hosts and command.program not in HERE_BY_DEFAULT:
        return ""
    if command.code and kinds_of(command.code) == {"drop_test"} and not any(map(REAL.search, stated(command))):
        return TESTS
    return named.purpose or (HERE if named.hosts else "")


def code_is_for_tests(code: str) -> bool:
    """Whether a piece of code connects only to this machine, and there only to test databases."""
    named = Named(None, None)
    for literal in CONNECTS.findall(code):
        if not literal:
            return False  # the argument is unknown
        named.take("url" if "://" in literal else "dbname", literal)
    for key, value in KEYWORDS.findall(code):
        named.take(key, value)
    return all(is_here(host) for host in named.hosts) and named.purpose == TESTS


class Named:
    """The hosts, the databases and similar, and the settings that a command names."""

    def __init__(self, cwd: str | None, workspace: str | None) -> None:
        self._cwd, self._workspace = cwd, workspace
        self.hosts: list[str] = []
        self.databases: list[str] = []
        self.settings: list[str] = []

    @property
    def purpose(self) -> str:
        """The common purpose of all named databases, or of the settings if there are none; empty if there is none."""
        said = {purpose_of(name) for name in self.databases or self.settings}
        if any(REAL.search(name) for name in (*self.databases, *self.settings)):
            return ""
        return TESTS if said == {TESTS} else DEVELOPMENT if said and said <= {TESTS, DEVELOPMENT} else ""

    def take(self, key: str, value: str) -> None:
        """Classify one value by its key, or by its form."""
        if len(value) > MAX_WORD:
            self.hosts.append("")  # unknown
            return
        address = ADDRESS.match(value.removeprefix("jdbc:"))
        if "=" in value and address is None:
            # A connection string: `Server=localhost;Database=app_dev`, `host=localhost dbname=app_dev`.
            for part in BLANKS.sub("=", value).replace(";", " ").split():
                name, equals, inner = part.partition("=")
                if equals and "=" not in inner:
                    self.take(name, inner.removeprefix("tcp:"))
        elif REPOSITORY_KEY.search(key):
            near = zones(value, self._cwd, self._workspace) if ":" not in value else frozenset()
            ours = not OURS.isdisjoint(near) and "relative" not in near
            self.hosts.append("localhost" if ours else "")
        elif FILE.match(value) is not None:
            if HOST_KEY.search(key):
                self.hosts.append(value)
            if value[:1] != "/" or not HOST_KEY.search(key):
                self._name(key, value)
        elif address is not None and address[1] not in BUCKETS:
            self.hosts += [address[2]] if address[2] else []
            for part in unquote(value.partition("?")[2]).split("&"):
                if part.lower().startswith(("host=", "hostaddr=", "dbname=", "service=")):
                    self.take(*part.lower().split("=", 1))
            if address[3] and address[1][:4] != "http":
                self.databases.append(address[3])
        elif HOST_KEY.search(key):
            self.hosts.append(value)
        elif key:
            self._name(key, value)

    def _name(self, key: str, value: str) -> None:
        if SETTING_KEY.search(key):
            self.settings.append(value.rpartition("/")[2])
        elif NAME_KEY.search(key) or HOST_KEY.search(key):
            for each in value.split(","):
                _, slash, name = each.rpartition("/")
                if slash and not self.is_ours(each):
                    self.hosts.append("")  # `db.example.com/app_test`, or someone else's file
                self.databases.append("" if WILD.search(name) else name)

    def is_ours(self, path: str) -> bool:
        """Whether something with a slash is a file in the workspace, or a temporary one; else it may name a host."""
        file = SCHEME.sub("", path)
        if file[:1] not in "/.~" and file == path and "." not in path.rpartition("/")[2]:
            return False
        near = zones(file, self._cwd, self._workspace)
        return not OURS.isdisjoint(near) or ("relative" in near and file[:2] != "..")


def pairs(command: Command) -> Iterator[tuple[str, str]]:
    """The values in a command's words, each with its key: `-h X`, `--env=X`, `RAILS_ENV=X`, a URL, an operand."""
    program, before = command.program, ""
    flags, operands = FLAGS.get(program, frozenset()), 0
    for arg in command.args[:MAX_WORDS]:
        option, before = before, arg
        if arg == command.code:
            continue
        name, equals, value = arg.partition("=")
        if arg[:1] == "-":
            if arg[:2] in SHORT and len(arg) > 2 and program in ATTACHED:
                yield SHORT[arg[:2]], arg[2:]
            elif program in ATTACHED and (behind := BEHIND_FLAGS.match(arg)) is not None and behind[2]:
                yield SHORT[f"-{behind[1]}"], behind[2]
            elif equals:
                yield SHORT.get(name, name), value
        elif program in ATTACHED and (behind := BEHIND_FLAGS.match(option)) is not None and not behind[2]:
            yield SHORT[f"-{behind[1]}"], arg
        elif takes_next(option, program) and option not in flags:
            yield SHORT_OF.get((program, option)) or SHORT.get(option, option if option[:2] == "--" else ""), arg
        elif "://" in name or (equals and name.isidentifier()):
            yield "", arg
        else:
            operands += 1
            if program in NAMED_FIRST and operands == 1:
                yield NAMED_FIRST[program], arg
            elif program in NAMED_LATER and operands > NAMED_LATER[program][0]:
                yield NAMED_LATER[program][1], arg


def takes_next(option: str, program: str) -> bool:
    """Whether the word after an option may be its value: it has none yet."""
    return option[:1] == "-" and "=" not in option and not (program in ATTACHED and option[1:2] != "-" and option[2:])


def stated(command: Command) -> list[str]:
    """The databases that the statements themselves name, whatever the client is connected to."""
    if not command.code:
        return []
    found: list[str] = []
    # Once with comments and once without: a comment may be part of a string, and a name may be behind one.
    codes = (command.code, without_comments(command.code)) if "/*" in command.code else (command.code,)
    for code in codes:
        if LEAVES.search(code):
            return [""]  # unknown
        if NAMES_DATABASE.search(code):
            found += OTHER_DATABASE.findall(code)
        if command.program in MYSQL:
            found += DROPPED_SCHEMA.findall(code)
        if command.program in QUALIFYING:
            found += QUALIFIED.findall(code)
    return found


def without_comments(code: str) -> str:
    """Statements with a space in place of each `/* comment */`."""
    first, *rest = code.split("/*")
    return " ".join([first, *(part.partition("*/")[2] for part in rest)])


@lru_cache(1024)
def purpose_of(name: str) -> str:
    """The purpose that a name indicates: tests if it begins or ends with such a word, development, or neither."""
    for form in (name, ENDING.sub("", name)):
        if any(each.start() == 0 or each.end() == len(form) for each in OF_TESTS.finditer(form)):
            return TESTS
    return DEVELOPMENT if OF_DEVELOPMENT.search(name) else ""


@lru_cache(1024)
def is_here(host: str) -> bool:
    """Whether a host is this machine, or an address is a socket or a file."""
    if host[:1] == "/":
        return SOCKETS.match(host) is not None and REAL.search(host) is None
    return FILE.match(host) is not None or all(LOCAL.match(one) for one in host.split(","))


_BEGIN, _END = r"(?:^|[^A-Za-z]|(?<=[a-z])(?=[A-Z]))", r"(?:$|[^a-z])"
OF_TESTS = late_pattern(
    rf"{_BEGIN}(?i:test(?:s|ing|db|suite|data)?|unittests?|pytest|tmp|temp|scratch|ci|e2e){_END}|:memory:"
)
ENDING = late_pattern(r"(?:\.[a-z]{2,8}[0-9]?)?\Z|[_-]?[0-9]{1,6}(?:\.[a-z]{2,8}[0-9]?)?\Z")
OF_DEVELOPMENT = late_pattern(rf"{_BEGIN}(?i:dev|devel|develop|development|local|sandbox){_END}")
REAL = late_pattern(rf"{_BEGIN}(?i:prd|prod[a-z]*|live|staging|main|master|mainnet|backups?){_END}")
"""Names of disposable targets, of those for development, and of those that people rely on."""

ENV_FILE = late_pattern(r"\.env(?:\.|\Z)|(?:^|/)env\.")
"""A file of variables."""

CONNECTS = late_pattern(
    r"\b(?:connect|create_engine|create_async_engine|MongoClient|Elasticsearch|Redis|from_url|createConnection|createClient"
    r"|createPool|Client|Pool|Sequelize|PrismaClient)\((?:\s{0,4}[\"']([^\"'\n]{1,200})[\"']\s{0,4}[,)])?"
)
KEYWORDS = late_pattern(r"\b(host|hostaddr|hostname|dbname|database)\s{0,4}=\s{0,4}[\"']([^\"'\n]{1,200})[\"']")
"""Calls by which code connects, with the literal argument, and keyword arguments that name a host or a database."""

_OTHER_DATABASE = (
    r"(?i)(?:\bdrop\s{1,8}(?:database|keyspace|user|role|tablespace)\s{1,8}(?:if\s{1,8}exists\s{1,8})?"
    r"|(?:^|[;\n])\s{0,8}(?:use|\\c|\\connect)\s{1,8}|getSiblingDB\(\s{0,4})[\"'`\[]?([\w.$-]{1,80})"
)
OTHER_DATABASE = late_pattern(_OTHER_DATABASE)
NAMES_DATABASE = late_pattern(_OTHER_DATABASE, engine=re2.compile)
"""The same: this one only finds whether there is any, in less time."""
QUALIFIED = late_pattern(r"(?i)[`\"\[]?\b([a-z_]\w{0,79})[`\"\]]?\s{0,4}\.\s{0,4}[`\"\[]?\w")
"""Database names in statements: dropped, selected, or before a table's name."""

OTHER_CONFIG = late_pattern(
    r"-{1,2}(?:defaults-(?:extra-)?file|defaults-group-suffix|defaultsfile|login-path|init-command|config-?files?"
    r"|command-config|repository-file|nsTo|create)(?:=|\Z)"
)
OTHER_PROFILE = late_pattern(r"-{1,2}(?:profile|context)(?:=|\Z)")
"""Options by which a file, a profile or a statement decides the target. Frameworks call other things a context."""

ADDRESS = late_pattern(r"([a-z][a-z0-9+.-]{1,30})://(?:[^/@\s]*@)?([^/?#\s]*)/?([^?#\s]*)")
FILE = late_pattern(r"(?:jdbc:)?(?:sqlite3?|file|duckdb|unix|h2:file|h2:mem)(?:\+\w{1,16})?:|\.{0,2}/(?!/)|:memory:\Z")
SOCKETS = late_pattern(r"/(?:private/)?(?:tmp|run|var/run|var/lib/(?:mysql|postgresql))(?:/|\Z)")
BLANKS = late_pattern(r"\s{0,8}=\s{0,8}")
BUCKETS = frozenset(("s3", "gs", "az"))
"""URLs, those that are a file or a socket, and those without a host."""

HOST_KEY = late_pattern(
    r"(?i)(?:^|[_-])(?:host|hostaddr|hostname|hosts|servers?|bootstrap-servers?|brokers?|broker-list|endpoints?|endpoint[_-]url|addr"
    r"|address|ur[il]|urls|dburl|dsn|nodes?|source|datasource|service|socket)\Z|\A--ho|\Apg(?:host|service)|\A-{0,2}connection(?:-string)?\Z"
)
NAME_KEY = late_pattern(
    r"(?i)(?:^|[_-])(?:database|dbname|db|name|topics?|queue|index|keyspace|vhost|catalog|stream|collection)\Z|\Apgdatabase"
)
REPOSITORY_KEY = late_pattern(r"(?i)(?:^|[_-])repo(?:sitory)?\Z")
SETTING_KEY = late_pattern(
    r"(?i)(?:^|[_-])(?:env|environment|settings|settings_module|profiles?_active|schema|context|config|stage)\Z"
)
"""What the value of an option, a variable or a part of a connection string names."""

OURS = frozenset(("inside", "temp"))
ELSEWHERE = name_set(
    """ssh mosh autossh kubectl oc gcloud heroku fly flyctl railway nomad aws az salt pdsh clush pssh other-engine
    tunnel sudo su doas doppler op chamber dotenv lxc multipass vagrant tsh ansible"""
)
EMULATING = name_set("awslocal samlocal")
"""Zones of the run's own files; wrappers that run a command elsewhere; programs of a locally emulated service."""

HERE_BY_DEFAULT = (CLIENTS | FRAMEWORKS) - name_set("aws restic borg")
"""Programs that work on this machine unless told otherwise."""

DROPPED_SCHEMA = late_pattern(r"(?i)\bdrop\s+schema\s+(?:if\s+exists\s+)?[`\"]?(\w{1,80})")
SCHEME = late_pattern(r"\A(?:jdbc:)?[a-z0-9+]{2,16}:(?://)?(?:mem:)?")
LEAVES = late_pattern(
    r"(?i)\\(?:c|connect|u|r|i|ir|include)\b|^\s*:use\b|\bconnect\s|\bconnect\(|\bnew\s+Mongo\b|\bget(?:Sister)?DB\(|\battach\b|\.open\b|\bdblink"
    r"|\bon\s+cluster\b|\bdrop\s+(?:owned|server)\b|\bfrom\s+program\b",
    engine=re2.compile,
)
STORES = name_set("aws gsutil mc rclone s3cmd s5cmd azcopy velero")
ENDPOINT = late_pattern(r"(?:^|--)(?:endpoint-url|endpoint|host)\Z")
WILD = late_pattern(r"[|*$()\[]")
MYSQL = name_set("mysql mariadb mysqladmin")
QUALIFYING = MYSQL | name_set("clickhouse clickhouse-client cqlsh sqlcmd")
ATTACHED = MYSQL | name_set("psql pgcli dropdb dropuser pg_restore")
BEHIND_FLAGS = late_pattern(r"-[XqAt1wWeaEnsSxlbz0if]+([hd])(.*)\Z")
"""Clients whose short options may have an attached value, and a host or database after other letters."""

NAMED_FIRST = {
    **dict.fromkeys(name_set("psql pgcli mysql mariadb mycli mongosh mongo usql dropdb"), "dbname"),
    **dict.fromkeys(name_set("sqlite3 sqlite duckdb litecli"), "dbname"),
    **dict.fromkeys(name_set("snmpset cqlsh"), "host"),
}
NAMED_LATER = {
    **dict.fromkeys(name_set("mysqladmin rabbitmqctl"), (1, "dbname")),
    **dict.fromkeys(name_set("nats rpk kafkactl"), (2, "topic")),
    "borg": (1, "repo"),
}
"""What the first operand is, or the operands after this many words of a subcommand."""

SHORT = {"-h": "host", "-H": "host", "-d": "dbname", "-D": "dbname", "-L": "url"}
SHORT_OF = {
    ("nats", "-s"): "server", ("rabbitmqctl", "-n"): "node", ("redis-cli", "-u"): "url", ("kcat", "-b"): "brokers",
    ("restic", "-r"): "repo", ("mysql", "-S"): "socket", ("mariadb", "-S"): "socket",
    ("console", "-e"): "env", ("bin/console", "-e"): "env", ("alembic", "-x"): "x",
}  # fmt: skip
"""What short options name."""

FLAGS = {
    "psql": name_set("-X -q -A -t -1 -w -W -e -a -E -n -s -S -x --quiet --no-psqlrc --echo-all"),
    "dropdb": name_set("-f --force -i -e --if-exists"),
    **dict.fromkeys(MYSQL, name_set("-p -f --force -N -B -s -t -v -w")),
    **dict.fromkeys(("mongosh", "mongo"), name_set("--quiet --norc")),
    **dict.fromkeys(("sqlite3", "sqlite"), name_set("-batch -json -csv -line -column -header -noheader -bail -echo")),
    "borg": name_set("-v -p -s --force --list --stats --progress"),
}  # fmt: skip
"""Options without a value, so that the next word is an operand."""

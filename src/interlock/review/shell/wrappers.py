"""Wrappers: programs that run the command given in their arguments, and how to find it there."""

from __future__ import annotations

from msgspec import Struct


class Wrapper(Struct, frozen=True):
    """How a wrapper's own words end.

    `valued` are the options that take the next word, `skip` the number of its own operands before the command,
    `record` whether the wrapper is itself an action, `after` the word that has to stand before the command.
    """

    valued: frozenset[str] = frozenset()
    skip: int = 0
    record: bool = False
    after: str | None = None

    def inner(self, args: tuple[str, ...]) -> list[str]:
        """The words of the command inside, or none."""
        skip, at, count = self.skip, 0, len(args)
        if self.after is not None:
            return list(args[args.index(self.after) + 1 :]) if self.after in args else []
        while at < count:
            word = args[at]
            if word == "--":
                return list(args[at + 1 + skip :])
            if len(word) > 1 and word[0] in "-+":
                at += 2 if word in self.valued else 1
            elif is_assignment(word):
                at += 1
            elif skip:
                skip -= 1
                at += 1
            else:
                return list(args[at:])
        return []


def name_set(text: str) -> frozenset[str]:
    """The names in a text."""
    return frozenset(text.split())


def is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _wrapper(valued: str = "", skip: int = 0, record: bool = False) -> Wrapper:
    return Wrapper(frozenset(valued.split()), skip, record)


PREFIXES: dict[str, Wrapper] = {
    "sudo": _wrapper("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --role --type", record=True),
    "doas": _wrapper("-u -C", record=True),
    "pkexec": _wrapper("--user", record=True),
    "gosu": _wrapper(skip=1), "su-exec": _wrapper(skip=1),
    "env": _wrapper("-u --unset -C --chdir"),
    "nice": _wrapper("-n --adjustment"), "nohup": _wrapper(), "setsid": _wrapper(), "time": _wrapper("-o -f --output --format"),
    "timeout": _wrapper("-s --signal -k --kill-after", skip=1), "gtimeout": _wrapper("-s -k", skip=1),
    "stdbuf": _wrapper("-i -o -e --input --output --error"), "unbuffer": _wrapper(),
    "ionice": _wrapper("-c -n --class --classdata"), "chrt": _wrapper("-T -P -D", skip=1), "taskset": _wrapper("-c", skip=1),
    "numactl": _wrapper("-N -m -C"), "cpulimit": _wrapper("-l -e -p"), "prlimit": _wrapper(),
    "command": _wrapper(), "builtin": _wrapper(), "exec": _wrapper("-a"), "coproc": _wrapper(), "!": _wrapper(),
    "busybox": _wrapper(), "toybox": _wrapper(),
    "strace": _wrapper("-e -o -p -s -u -E -P -I -O -S -a -b"), "ltrace": _wrapper("-e -o -p -s -u"), "valgrind": _wrapper(),
    "chroot": _wrapper("--userspec --groups", skip=1), "unshare": _wrapper("-S -G -w -R"), "nsenter": _wrapper("-t -S -G", record=True),
    "systemd-run": _wrapper("-u --unit -p --property -M --uid --gid"), "systemd-inhibit": _wrapper(), "caffeinate": _wrapper("-t -w"),
    "fakeroot": _wrapper(), "proot": _wrapper("-r -b -w"), "firejail": _wrapper(), "bwrap": _wrapper("--chdir --setenv --uid --gid"),
    "setarch": _wrapper(skip=1), "linux32": _wrapper(), "arch": _wrapper(), "dbus-run-session": _wrapper(), "xvfb-run": _wrapper("-n -s"),
    "torsocks": _wrapper(), "proxychains": _wrapper("-f"), "proxychains4": _wrapper("-f"),
    "npx": _wrapper("-p --package"), "bunx": _wrapper(), "uvx": _wrapper("--from --with"), "pipx-run": _wrapper(),
    "dotenv": _wrapper("-f -e"), "direnv-exec": _wrapper(skip=1), "retry": _wrapper("-t -d"), "sem": _wrapper("-j"),
    "flock": _wrapper("-w -E --timeout", skip=1), "sshpass": _wrapper("-p -f -e"), "nocorrect": _wrapper(), "noglob": _wrapper(),
}  # fmt: skip
"""Wrappers whose command follows their own words."""

SUBCOMMAND_PREFIXES: dict[tuple[str, str], Wrapper] = {
    ("poetry", "run"): _wrapper(), ("pipenv", "run"): _wrapper(), ("uv", "run"): _wrapper("--with --python -p --project"),
    ("hatch", "run"): _wrapper(), ("pdm", "run"): _wrapper(), ("rye", "run"): _wrapper(), ("pixi", "exec"): _wrapper(),
    ("bundle", "exec"): _wrapper(), ("pnpm", "exec"): _wrapper(), ("pnpm", "dlx"): _wrapper(), ("yarn", "dlx"): _wrapper(),
    ("yarn", "exec"): _wrapper(), ("npm", "exec"): _wrapper(), ("mise", "exec"): Wrapper(after="--"), ("direnv", "exec"): _wrapper(skip=1),
    ("op", "run"): Wrapper(after="--"), ("doppler", "run"): Wrapper(after="--"), ("infisical", "run"): Wrapper(after="--"),
    ("aws-vault", "exec"): Wrapper(after="--"), ("chamber", "exec"): Wrapper(after="--"), ("vault", "exec"): Wrapper(after="--"),
    ("conda", "run"): _wrapper("-n --name -p --prefix"), ("micromamba", "run"): _wrapper("-n -p"), ("rustup", "run"): _wrapper(skip=1),
    ("docker", "exec"): _wrapper("-e --env -u --user -w --workdir --env-file --detach-keys", 1, True),
    ("docker", "run"): _wrapper(
        "-e --env -u --user -w --workdir -v --volume -p --publish --name --network --net --mount --env-file --entrypoint"
        " -h --hostname -l --label -m --memory --cpus --cap-add --cap-drop --device --restart --platform --pid --ipc"
        " --security-opt --tmpfs --add-host --dns --gpus --ulimit --log-driver --log-opt --link --volumes-from --shm-size",
        1, True,
    ),
    ("kubectl", "exec"): Wrapper(record=True, after="--"), ("oc", "exec"): Wrapper(record=True, after="--"),
    ("oc", "rsh"): _wrapper("-n -c", 1, True), ("kubectl", "run"): Wrapper(record=True, after="--"),
    ("lxc", "exec"): Wrapper(record=True, after="--"), ("incus", "exec"): Wrapper(record=True, after="--"),
    ("machinectl", "shell"): _wrapper(skip=1, record=True), ("fly", "ssh"): Wrapper(record=True, after="-C"),
    ("heroku", "run"): _wrapper("-a --app", 0, True), ("ip", "netns"): Wrapper(skip=2),
}  # fmt: skip
"""Wrappers by program and subcommand."""

COMPOSE_EXEC = _wrapper("-e --env -u --user -w --workdir --index", 1, True)

SSH = _wrapper("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w", 1, True)
XARGS = _wrapper("-I -i -n -P -L -d -a -E -s --max-args --max-procs --delimiter --arg-file --replace --max-lines")
PARALLEL = _wrapper("-j --jobs -I -S --colsep -d --delimiter --joblog --timeout --tmpdir --workdir --results")

SHELLS = frozenset("sh bash zsh dash ksh ksh93 mksh ash fish rbash csh tcsh pwsh powershell".split())

INTERPRETERS: dict[str, tuple[str, ...]] = {
    "python": ("-c",), "pypy": ("-c",), "ipython": ("-c",), "perl": ("-e", "-E"), "ruby": ("-e",), "php": ("-r",),
    "node": ("-e", "--eval", "-p", "--print"), "nodejs": ("-e", "--eval", "-p"), "deno": ("eval",), "bun": ("-e", "--eval"),
    "lua": ("-e",), "luajit": ("-e",), "Rscript": ("-e",), "osascript": ("-e",), "tclsh": (), "groovy": ("-e",), "elixir": ("-e",),
    "awk": (), "gawk": (), "mawk": (), "jshell": (), "irb": (), "rails": ("runner",),
}  # fmt: skip
"""Interpreters, and the options that take code."""

CODE_OPTIONS: dict[str, tuple[str, ...]] = {
    "psql": ("-c", "--command"), "mysql": ("-e", "--execute"), "mariadb": ("-e", "--execute"), "sqlcmd": ("-Q", "-q"),
    "cockroach": ("-e", "--execute"), "clickhouse-client": ("-q", "--query"), "clickhouse": ("-q", "--query"), "duckdb": ("-c",),
    "mongosh": ("--eval",), "mongo": ("--eval",), "cqlsh": ("-e", "--execute"), "snowsql": ("-q", "--query"), "snow": ("-q", "--query"),
    "influx": ("-execute", "--execute"), "isql": (), "sqlplus": (), "usql": ("-c",), "pgcli": ("-c",), "mycli": ("-e", "--execute"),
    "litecli": ("-e",), "trino": ("--execute",), "presto": ("--execute",), "hive": ("-e",), "beeline": ("-e",), "impala-shell": ("-q",),
    "spark-sql": ("-e",), "vsql": ("-c",), "db2": (), "cypher-shell": (), "turso": (), "wrangler": ("--command",), "pscale": (),
    "bq": (), "spanner-cli": ("-e", "--execute"), "sqlite3": (), "sqlite": (), "redis-cli": ("--eval",), "nsupdate": (), "rqlite": (),
}  # fmt: skip
"""Database clients and the like, and the options that take statements; all of them read statements from a pipe too."""

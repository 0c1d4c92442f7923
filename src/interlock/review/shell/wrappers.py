"""Wrappers: programs that run the command given in their arguments, and how to find it."""

from __future__ import annotations

from msgspec import Struct

from ..wordlist import name_set


class Wrapper(Struct, frozen=True):
    """Where a wrapper's own words end.

    `valued` are the options that take the next word, `skip` the number of its own operands before the command, `record`
    whether the wrapper is itself an action, `after` the word that must precede the command.
    """

    valued: frozenset[str] = frozenset()
    skip: int = 0
    record: bool = False
    after: str | None = None

    def inner(self, args: tuple[str, ...]) -> list[str]:
        """The words of the wrapped command; empty if there is none."""
        skip, at, count = self.skip, 0, len(args)
        if self.after is not None:
            return list(args[args.index(self.after) + 1 :]) if self.after in args else []
        while at < count:
            word = args[at]
            if word == "--":
                return list(args[at + 1 + skip :])
            if word[:1] in ("-", "+"):
                at += 2 if word in self.valued else 1
            elif is_assignment(word):
                at += 1
            elif skip:
                skip -= 1
                at += 1
            else:
                return list(args[at:])
        return []


def is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


VALUED = {
    "sudo": "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --role --type",
    "doas": "-u -C",
    "pkexec": "--user",
    "env": "-u --unset -C --chdir -S --split-string",
    "nice": "-n --adjustment",
    "time": "-o -f --output --format",
    "timeout": "-s --signal -k --kill-after",
    "gtimeout": "-s --signal -k --kill-after",
    "stdbuf": "-i -o -e --input --output --error",
    "ionice": "-c -n --class --classdata",
    "chrt": "-T -P -D",
    "taskset": "-c",
    "numactl": "-N -m -C",
    "cpulimit": "-l -e -p",
    "exec": "-a",
    "strace": "-e -o -p -s -u -E -P -I -O -S -a -b",
    "ltrace": "-e -o -p -s -u",
    "chroot": "--userspec --groups",
    "unshare": "-S -G -w -R",
    "nsenter": "-t -S -G",
    "systemd-run": "-u --unit -p --property -M --uid --gid",
    "caffeinate": "-t -w",
    "proot": "-r -b -w",
    "bwrap": "--chdir --setenv --uid --gid",
    "xvfb-run": "-n -s",
    "proxychains": "-f",
    "proxychains4": "-f",
    "npx": "-p --package",
    "env-cmd": "-f -e",
    "watchexec": "-e --exts -w --watch -i --ignore -d --debounce -s --signal",
    "uvx": "--from --with",
    "dotenv": "-f -e",
    "retry": "-t -d",
    "sem": "-j",
    "flock": "-w -E --timeout",
    "sshpass": "-p -f -e",
}
"""Options of a wrapper that take the next word."""

SKIPS = {
    "gosu": 1,
    "su-exec": 1,
    "timeout": 1,
    "gtimeout": 1,
    "chrt": 1,
    "taskset": 1,
    "chroot": 1,
    "setarch": 1,
    "flock": 1,
}
"""A wrapper's own operands before the command."""

RECORDED = name_set("sudo doas pkexec nsenter systemd-run")
"""Wrappers that are themselves an action."""

BARE = name_set(
    """nohup setsid unbuffer prlimit command builtin coproc ! busybox toybox valgrind systemd-inhibit fakeroot firejail
    linux32 arch dbus-run-session torsocks bunx pnpx nocorrect noglob gosu su-exec setarch shx cross-env
    cross-env-shell entr"""
)
"""Wrappers without relevant options."""

PREFIXES: dict[str, Wrapper] = {
    name: Wrapper(name_set(VALUED.get(name, "")), SKIPS.get(name, 0), name in RECORDED) for name in (*VALUED, *BARE)
}
"""Wrappers whose command follows their own words."""

DOCKER_RUN = """-e --env -u --user -w --workdir -v --volume -p --publish --name --network --net --mount --env-file
    --entrypoint -h --hostname -l --label -m --memory --cpus --cap-add --cap-drop --device --restart --platform --pid
    --ipc --security-opt --tmpfs --add-host --dns --gpus --ulimit --log-driver --log-opt --link --volumes-from
    --shm-size"""
EXEC = name_set("-e --env -u --user -w --workdir --env-file --detach-keys --index")

SUBCOMMAND_PREFIXES: dict[tuple[str, str], Wrapper] = {
    **{(program, "run"): Wrapper() for program in ("poetry", "pipenv", "hatch", "pdm", "rye")},
    **{(program, "exec"): Wrapper() for program in ("bundle", "pixi")},
    **{(program, "run"): Wrapper(after="--") for program in ("op", "doppler", "infisical")},
    **{(program, "exec"): Wrapper(after="--") for program in ("mise", "aws-vault", "chamber")},
    **{(program, "exec"): Wrapper(record=True, after="--") for program in ("kubectl", "oc", "lxc", "incus")},
    ("uv", "run"): Wrapper(name_set("--with --python -p --project")),
    ("conda", "run"): Wrapper(name_set("-n --name -p --prefix")),
    ("micromamba", "run"): Wrapper(name_set("-n --name -p --prefix")),
    ("rustup", "run"): Wrapper(skip=1),
    ("direnv", "exec"): Wrapper(skip=1),
    ("docker", "exec"): Wrapper(EXEC, 1, True),
    ("docker", "run"): Wrapper(name_set(DOCKER_RUN), 1, True),
    ("kubectl", "run"): Wrapper(record=True, after="--"),
    ("oc", "rsh"): Wrapper(name_set("-n -c"), 1, True),
    ("machinectl", "shell"): Wrapper(skip=1, record=True),
    ("fly", "ssh"): Wrapper(record=True, after="-C"),
    ("heroku", "run"): Wrapper(name_set("-a --app"), 0, True),
    ("ip", "netns"): Wrapper(skip=2),
}
"""Wrappers by program and subcommand."""


def split_string(args: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
    """The text of `env -S TEXT`, and the words after it, which are used unchanged."""
    at = 0
    while at < len(args):
        arg = args[at]
        at += 1
        option, equals, value = arg.partition("=")
        letters, marked, rest = arg[1:].partition("S")
        if option == "--split-string":
            return (value, args[at:]) if equals else ("".join(args[at : at + 1]), args[at + 1 :])
        if arg[:1] == "-" and marked and not letters.strip("iv0"):
            return (rest, args[at:]) if rest else ("".join(args[at : at + 1]), args[at + 1 :])
        if arg in ("-u", "--unset", "-C", "--chdir"):
            at += 1
        elif arg[:1] != "-" and not is_assignment(arg):
            return None
    return None


COMPOSE_EXEC = Wrapper(EXEC, 1, True)

SSH = Wrapper(name_set("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w"), 1, True)
XARGS = Wrapper(name_set("-I -J -n -P -L -d -a -E -s --max-args --max-procs --delimiter --arg-file --max-chars"))
PARALLEL = Wrapper(name_set("-j --jobs -I -S --colsep -d --delimiter --joblog --timeout --tmpdir --workdir --results"))

"""Sinks: commands that send data elsewhere, secret or not; sources: text that a script gets from elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...core import late_pattern
from ..effect_words import FAMILIAR, STRANGE
from ..wordlist import name_set
from .model import Command, KnownFile, PipeContent
from .names import INTERPRETERS, SHELLS
from .scope import ShellScope
from .secret_flow import EVERYTHING, MAX_PATH, SECRET, WHOLE, secret_in, secret_of, secret_word

if TYPE_CHECKING:
    from .reader import ScriptReader


SEND_SECRET = "send-secret"
"""The program name of a command that stands for a secret being sent; rules match this name."""

STREAMS = name_set(
    """curl wget http https xh curlie nc ncat netcat socat telnet ssh ftp lftp sftp mail mailx mutt sendmail swaks msmtp
    s-nail rclone openssl websocat dig nslookup host ping aws gsutil s3cmd mc gh glab pastebinit termbin hastebin nmap
    logger slackcat notify-send az gcloud kubectl ntfy tftp ncftpput busybox croc wormhole magic-wormhole transfer"""
)
"""Programs that can send their input or arguments."""

COPIES = name_set(
    "scp rsync sftp rclone ncftpput aws gsutil s3cmd mc gcloud az croc wormhole magic-wormhole ftp lftp tftp"
)
"""Programs that copy files elsewhere."""

SENDING = STREAMS | COPIES | {"tee"}

FILED = name_set("gh glab mail mailx mutt s-nail swaks pastebinit transfer curl http xh https")
"""Programs that send files named by an operand or an option's value."""

LOCAL = late_pattern(
    r"(?:\w+://)?(?:[^/@\s]*@)?(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal)(?:[:/].*)?\Z"
    r"|(?:https?://)?:\d+\S*\Z", re.DOTALL
)  # fmt: skip
PUT = late_pattern(r"(?:^|[;\n])\s{0,8}m?put\s{1,8}(\S{1,200})")
NETWORK = ("/dev/tcp/", "/dev/udp/")
AT_FILE = late_pattern(r"(?:[^=@<]*=)?[@<]([^;]+)")
FIELD_FILE = late_pattern(r"[\w-]{1,64}@([^\s:;@]+)\Z")
REMOTE = late_pattern(
    r"[\w.-]+@[\w.-]+:|[\w.-]{2,}:(?![\\/]{2}|\\)|(?:s3|gs|b2|ftp|sftp|rsync|https?|az)://|[\w-]+:[\w/.-]*\Z"
)
FAR = re.compile(
    r"(?:--?[\w-]+=)?(?:\w{2,10}://[\w.-]+|[\w.-]+@[\w.-]+\.[a-z]{2,}|(?:[\w-]+\.)+(?:com|net|org|io|example|dev|sh|xyz|ru|cn|me|co|app)"
    r"(?:[:/]|\Z)|\d{1,3}(?:\.\d{1,3}){3}(?:[:/]|\Z))"
)
"""A word that names another machine."""

HEADER = frozenset(
    ("-H", "--header", "-u", "--user", "-b", "--cookie", "-K", "--config", "-E", "--cert", "--key", "--netrc-file")
)
"""Options with which a request authenticates; a secret belongs there ..."""
NAMED_HEADER = ("-H", "--header")
PROVES = re.compile(
    r"[^:\s]*(?:auth|key|token|secret|password|cookie|signature|session)[^:\s]*\s*:|[^:]*\Z", re.IGNORECASE
)
"""... in a header, if its name says so."""

SPELLED = name_set("dig nslookup host ping")
"""Programs that send their argument as a host name."""

SECRET_NAME = late_pattern(r"\$\{?\w*(?:TOKEN|KEY|SECRET|PASS)\w*")
COMMANDED = name_set("ssh kubectl openssl aws gcloud az")
"""Programs whose arguments are commands or options of their own."""

KEEPING = name_set("secret secrets secretsmanager --with-token --password-stdin")
"""Words with which a secret is passed to a secret store, or used to authenticate."""

QUESTIONS = name_set("get describe list ls logs version config top --help --version")


def find_leak(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> None:
    """Record that a command sends a secret elsewhere, if it does."""
    program = command.program
    if program == "tee" and (mark := secret_of(flow.sources)) and any(arg.startswith(NETWORK) for arg in command.args):
        reader.add(Command(program=SEND_SECRET, args=(mark, program), via=scope.via, cwd=scope.cwd))
    if program not in STREAMS and program not in COPIES:
        if program != "tee" and any(FAR.match(arg) for arg in command.args) and not is_local(command):
            # Whatever the program is called: it names another machine and has a secret.
            names = [arg.rpartition("@")[2].rpartition("=")[2] for arg in command.args if len(arg) < MAX_PATH]
            mark = secret_of(flow.sources) or next(
                (mark for name in names if name and (mark := secret_in(scope.place(name), scope.file(name)))), ""
            )
            if mark:
                reader.add(Command(program=SEND_SECRET, args=(mark, program), via=scope.via, cwd=scope.cwd))
        return
    mark = fed_secret(command, flow) or given_secret(command, scope)
    if program in COPIES and not mark and not WHOLE.isdisjoint(command.args[:-1]) and REMOTE.match(command.args[-1]):
        mark = EVERYTHING
    if mark == EVERYTHING and not any(FAR.match(arg) for arg in command.args):
        # To a private machine, by an alias.
        return
    if not mark and flow.text and (put := PUT.search(flow.text)) is not None and program in COPIES:
        mark = secret_in(scope.place(put[1]), scope.file(put[1]))
    if mark and not is_local(command):
        reader.add(Command(program=SEND_SECRET, args=(mark, program), via=scope.via, cwd=scope.cwd, span=command.span))


def find_sent_away(reader: ScriptReader, command: Command, scope: ShellScope, out: PipeContent) -> None:
    """Record that a command's output is a secret and is redirected to the network."""
    mark = secret_of(out.sources)
    if mark and any(redirect.target.startswith(NETWORK) for redirect in command.redirects):
        reader.add(Command(program=SEND_SECRET, args=(mark, ">"), via=scope.via, cwd=scope.cwd, span=command.span))


def fed_secret(command: Command, flow: PipeContent) -> str:
    """The mark of a secret that comes through the pipe."""
    mark = secret_of(flow.sources) if command.program in STREAMS else ""
    if mark and not KEEPING.isdisjoint(command.args[:3]):
        return ""
    if not mark or command.args[:1] == () or command.args[0] not in QUESTIONS:
        return mark
    return ""


def given_secret(command: Command, scope: ShellScope) -> str:
    """The mark of a secret among a command's arguments: a value, or a file that it sends."""
    program, before = command.program, ""
    copies = program in COPIES and any(
        REMOTE.match(arg) or (program == "mc" and "/" in arg.lstrip("./~")) for arg in command.args[-1:]
    )
    uploads = program in COPIES and "upload" in command.args[:4]
    for arg in command.args:
        option, before = before, arg
        if (option in HEADER and (option not in NAMED_HEADER or PROVES.match(arg))) or arg in HEADER:
            continue
        if program not in COMMANDED and (mark := secret_word(arg)):
            return mark
        if program in SPELLED and SECRET_NAME.search(arg):
            return SECRET
        if len(arg) > MAX_PATH:
            continue
        name = (
            arg if uploads and option in ("--file", "--source", "-f", "-s") else sent_file(program, option, arg, copies)
        )
        if name and (mark := secret_in(scope.place(name), scope.file(name))):
            return mark
    return ""


UPLOADS = frozenset(("-T", "--upload-file", "--post-file", "--body-file", "-a", "--attach", "--attachment"))
BODIES = frozenset(
    ("-d", "--data", "--data-binary", "--data-ascii", "--data-urlencode", "--data-raw", "--json", "-F", "--form")
)


def sent_file(program: str, option: str, arg: str, copies: bool) -> str:
    """The file that an argument makes a command send."""
    if copies:
        return arg if arg[:1] != "-" and not REMOTE.match(arg) else ""
    if program not in FILED and program != "wget":
        return ""
    if option in UPLOADS:
        return arg
    name, equals, value = arg.partition("=")
    if equals and name in UPLOADS:
        return value
    if option in BODIES or (equals and name in BODIES):
        found = AT_FILE.match(value if equals and name in BODIES else arg)
        return found[1] if found is not None else ""
    if arg[:2] in ("-F", "-d", "-T") and len(arg) > 2:
        found = AT_FILE.match(arg[2:])
        return found[1] if found is not None else arg[2:] if arg[1] == "T" else ""
    if program in ("gh", "glab", "pastebinit", "transfer") and arg[:1] != "-":
        return arg
    if program in ("http", "xh", "https") and (found := AT_FILE.match(arg) or FIELD_FILE.match(arg)) is not None:
        return found[1]
    return ""


def is_local(command: Command) -> bool:
    """Whether the command sends only to this machine."""
    if command.program in SPELLED:
        return False
    hosts = [arg for arg in command.args if "://" in arg or LOCAL.match(arg)]
    return bool(hosts) and all(LOCAL.match(host) for host in hosts)


BUILDS = frozenset((*INTERPRETERS, *SHELLS)) | name_set(
    """make gmake cmake ninja meson bazel just task rake npm yarn pnpm bun npx pip pipx uv poetry cargo go gem bundle
    composer mvn gradle ant sbt mix dotnet tox nox pytest docker-compose ansible-playbook terraform tofu vagrant makepkg
    dpkg-buildpackage rpmbuild nix source ."""
)
"""Programs that run the contents of a project."""

AT_HOST = re.compile(r"(?:[\w.-]+@)?([\w.-]+\.\w+):")
VALUED = frozenset(("-b", "--branch", "--depth", "-o", "--origin", "-j", "--jobs", "--reference", "--template", "-c"))


def note_clone(args: tuple[str, ...], scope: ShellScope) -> None:
    """Record where `git clone` puts a repository from an address that is not a usual source of code."""
    if "clone" not in args[:6]:
        return
    rest = args[args.index("clone") + 1 :]
    operands = [arg for at, arg in enumerate(rest) if arg[:1] != "-" and (at == 0 or rest[at - 1] not in VALUED)]
    if not operands:
        return
    host = STRANGE.search(operands[0]) or AT_HOST.match(operands[0])
    if host is not None and not FAMILIAR.match(host[1]):
        name = operands[1] if len(operands) > 1 else operands[0].rstrip("/").removesuffix(".git").rpartition("/")[2]
        scope.files.cloned[scope.place(name)] = host[1]
        scope.note(name, KnownFile(cloned=host[1]))


def find_clone_run(reader: ScriptReader, words: list[str], program: str, scope: ShellScope) -> None:
    """Record that a script runs what it, or an earlier step, has cloned from an unknown source."""
    if program not in BUILDS and "/" not in words[0]:
        return
    here = scope.place(".")
    named = [scope.place(word.partition("=")[2] or word) for word in words if word[:1] != "-" or "=" in word]
    for folder, host in scope.files.cloned.items():
        if any(f"{place}/".startswith(f"{folder}/") for place in (here, *named)):
            reader.add(Command(program="cloned", args=(folder, host), via=scope.via, cwd=scope.cwd))
            return


def follow_image(reader: ScriptReader, command: Command, scope: ShellScope) -> None:
    """Follow a secret that is built into an image (`--build-arg`) to where the image is pushed."""
    args = command.args
    given = [
        arg.partition("=")[2] if arg.startswith("--build-arg=") else args[at + 1]
        for at, arg in enumerate(args)
        if arg.startswith("--build-arg=") or (arg == "--build-arg" and at + 1 < len(args))
    ]
    if "push" in args[:3]:
        operands = [arg for arg in args[args.index("push") + 1 :] if arg[:1] != "-"]
        for name in operands[-1:]:
            mark = scope.files.get(_image(name), _image(name)).secret
            if mark and not LOCAL.match(name):
                reader.add(Command(program=SEND_SECRET, args=(mark, command.program), via=scope.via, cwd=scope.cwd))
    elif args[:1] == ("tag",) and len(args) > 2:
        scope.files.put(_image(args[2]), scope.files.get(_image(args[1]), _image(args[1])))
    mark = next((mark for value in given if (mark := secret_word(value))), "")
    if not mark:
        return
    for at, arg in enumerate(args):
        name = args[at + 1] if arg in ("-t", "--tag") and at + 1 < len(args) else ""
        name = arg.partition("=")[2] if arg.startswith("--tag=") else name
        if name:
            scope.files.put(_image(name), KnownFile(secret=mark))
            if "--push" in args and not LOCAL.match(name):
                reader.add(Command(program=SEND_SECRET, args=(mark, command.program), via=scope.via, cwd=scope.cwd))


def _image(name: str) -> str:
    """The pseudo-path of an image."""
    return f"/image:{name.removesuffix(':latest').replace('/', ':')}"

"""Sources: program text and images that a script takes from, or sends to, another machine as a whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..effect_words import FAMILIAR, STRANGE
from ..wordlist import name_set
from .languages import INTERPRETERS, SHELLS
from .model import Command, KnownFile
from .scope import ShellScope
from .secret_flow import secret_word
from .sinks import LOCAL, SEND_SECRET

if TYPE_CHECKING:
    from .reader import ScriptReader

BUILDS = frozenset((*INTERPRETERS, *SHELLS)) | name_set(
    """make gmake cmake ninja meson bazel just task rake npm yarn pnpm bun npx pip pipx uv poetry cargo go gem bundle
    composer mvn gradle ant sbt mix dotnet tox nox pytest docker-compose ansible-playbook terraform tofu vagrant makepkg
    dpkg-buildpackage rpmbuild nix source ."""
)
"""Programs that run what is in a project."""

AT_HOST = re.compile(r"(?:[\w.-]+@)?([\w.-]+\.\w+):")
VALUED = frozenset(("-b", "--branch", "--depth", "-o", "--origin", "-j", "--jobs", "--reference", "--template", "-c"))


def note_clone(args: tuple[str, ...], scope: ShellScope) -> None:
    """Remember where `git clone` puts what comes from an address that program text does not usually come from."""
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
    """Note that a script runs what it, or an earlier step, has cloned from an unknown source."""
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
    """The place that stands for an image."""
    return f"/image:{name.removesuffix(':latest').replace('/', ':')}"

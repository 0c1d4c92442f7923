"""Projects: tools that run a project's own files, where an earlier step has written those."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from ...core import from_json, late_pattern
from .interpreters import run_code
from .model import NOTHING, Command, PipeContent
from .names import INTERPRETERS, SHELLS
from .scope import ShellScope, below
from .sinks import SEND_SECRET

if TYPE_CHECKING:
    from .reader import ScriptReader

MAX_FILES = 16
"""Project files that one command is assumed to run."""

MAX_LINES = 256
"""Lines of a makefile, a crontab or similar that are checked."""

MAX_PUSHED = 4
"""Folders that one script pushes from."""

MAX_TARGETS = 64
"""Makefile targets that are followed."""


def run_script(reader: ScriptReader, scope: ShellScope, words: list[str], program: str) -> bool:
    """`npm run NAME`: the script in package.json, with its pre and post scripts; false if there is none."""
    text = scope.recall("package.json")
    name = words[1] if words[0] in ("run", "run-script", "rum", "urn") and len(words) > 1 else words[0]
    if words[0] in ("install", "i", "ci", "add"):
        names: tuple[str, ...] = (*INSTALLING, "prepare")
    elif words[0] in ("publish", "pack"):
        # Scripts that run at install time for others, besides those that run now.
        names = (*INSTALLING, "prepublishOnly", "prepack", "prepare", "postpack")
    else:
        name = {"t": "test", "tst": "test"}.get(name, name)
        names = (f"pre{name}", name, f"post{name}")
    if text is None:
        return False
    try:
        scripts = from_json(text.encode(), _Package).scripts
    except msgspec.DecodeError:
        # After an edit only a part of the file is known: its lines are still names and scripts.
        scripts = {name: unescaped(script) for name, script in SCRIPT_LINE.findall(text)}
    found = [script for each in names if (script := scripts.get(each))]
    with reader.quoting(scope.evidence("package.json")):
        for script in found:
            reader.nested(script, below(scope, program), NOTHING)
    return bool(found)


def unescaped(literal: str) -> str:
    """The decoded JSON string literal; unchanged if it is not valid."""
    try:
        return from_json(f'"{literal}"'.encode(), str)
    except msgspec.DecodeError:
        return literal


INSTALLING = ("preinstall", "install", "postinstall")


class _Package(msgspec.Struct):
    scripts: dict[str, str] = {}


SCRIPT_LINE = late_pattern(r'"([\w:.-]{1,64})"\s{0,4}:\s{0,4}"((?:[^"\\\n]|\\.){1,2000})"')


def run_tests(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`pytest`: conftest.py and the test files, if earlier steps have written them."""
    reader.add(command)
    named = [arg.partition("::")[0].rstrip("/") for arg in command.args if arg[:1] != "-"]
    roots = [scope.place(name) for name in named] or [scope.place(".")]
    count = 0
    for place, file in scope.below("."):
        name = place.rpartition("/")[2]
        if "test" not in name:
            continue
        wanted = name == "conftest.py" or (TEST_FILE.match(name) and any(place.startswith(root) for root in roots))
        if wanted and file.text is not None and count < MAX_FILES:
            count += 1
            with reader.quoting(f"{name}, written in step {file.step}" if file.step >= 0 else ""):
                run_code(reader, file.text, "python", scope)
    return NOTHING


TEST_FILE = late_pattern(r"test_.*\.py\Z|.*_test\.py\Z")

HOOKS = {
    "commit": ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
    "push": ("pre-push",),
    "merge": ("pre-merge-commit", "post-merge"),
    "pull": ("post-merge",),
    "checkout": ("post-checkout",),
    "switch": ("post-checkout",),
    "rebase": ("pre-rebase", "post-rewrite"),
    "am": ("applypatch-msg", "pre-applypatch", "post-applypatch"),
}
HOOK_FOLDERS = (".git/hooks", ".husky", ".githooks")


def run_hooks(reader: ScriptReader, subcommand: str, scope: ShellScope) -> None:
    """Run the hooks of a git command."""
    for name in HOOKS.get(subcommand, ()):
        for folder in HOOK_FOLDERS:
            path = f"{folder}/{name}"
            text = scope.recall(path)
            if text is not None:
                with reader.quoting(scope.evidence(path)):
                    reader.execute(["bash", path], below(scope, "git"), NOTHING)


def run_recipes(reader: ScriptReader, text: str, wanted: list[str], scope: ShellScope) -> None:
    """Run the recipes of the wanted targets and their prerequisites; of the first target if none is named."""
    recipes, needs = read_makefile(text)
    waiting = [target for target in wanted if target in recipes] or list(recipes)[: None if wanted else 1]
    done: set[str] = set()
    while waiting and len(done) < MAX_TARGETS:
        target = waiting.pop(0)
        if target in done:
            continue
        done.add(target)
        waiting += [need for need in needs.get(target, ()) if need in recipes]
        for code in recipes[target]:
            reader.nested(code, below(scope, "make"), NOTHING)


def read_makefile(text: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The recipes and the prerequisites of every target."""
    recipes: dict[str, list[str]] = {}
    needs: dict[str, list[str]] = {}
    values: dict[str, str] = {}
    current: list[str] = []
    lines = text.replace("\\\n", " ").split("\n")[:MAX_LINES]
    # A recipe is expanded when it runs, so a variable may be defined below it.
    for line in lines:
        if line[:1] != "\t" and (value := VALUE.match(line)) is not None:
            values[value[1]] = plain_recipe(value[2], values)
    for line in lines:
        if line.startswith("\t"):
            for target in current:
                recipes[target].append(plain_recipe(line, values))
        elif VALUE.match(line) is None and (rule := RULE.match(line)) is not None:
            current = [name for name in rule[1].split() if not name.startswith(".")]
            after, semicolon, recipe = rule[2].partition(";")
            for target in current:
                recipes.setdefault(target, [])
                needs.setdefault(target, []).extend(after.split())
                if semicolon:
                    recipes[target].append(plain_recipe(recipe, values))
    return recipes, needs


def plain_recipe(line: str, values: dict[str, str]) -> str:
    """A line of a recipe as the shell gets it."""
    line = VARIABLE.sub(lambda found: values.get(found[1], found[0]), line) if "$" in line else line
    return line.strip().lstrip("@-+").replace("$$", "$")


VALUE = late_pattern(r"(?:export\s+)?([A-Za-z_]\w{0,63})\s{0,8}(?:[:?+]?:?=)\s{0,8}(.*)\Z")
RULE = late_pattern(r"([^\t#=:][^#=:]*)::?(?!=)([^=]*)\Z")
VARIABLE = late_pattern(r"\$[({]([A-Za-z_]\w{0,63})[)}]")


def run_crontab(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`crontab FILE`, `... | crontab -`: the commands in its lines."""
    reader.add(command)
    names = [arg for at, arg in enumerate(command.args) if arg[:1] != "-" and command.args[at - 1 : at] != ("-u",)]
    text = scope.recall(names[0]) if names else flow.text
    if text is not None:
        with reader.quoting(scope.evidence(names[0]) if names else ""):
            run_schedule(reader, text, scope, flow)
    return NOTHING


def run_schedule(reader: ScriptReader, text: str, scope: ShellScope, flow: PipeContent) -> None:
    """The commands of a crontab."""
    for line in text.split("\n")[:MAX_LINES]:
        found = SCHEDULE.match(line)
        if found is not None:
            reader.nested(found[1], below(scope, "cron"), NOTHING)


SCHEDULE = late_pattern(r"\s*(?:@\w+|(?:[\d*/,A-Za-z-]+\s+){5})\s*(?:root\s+)?(\S.*)\Z")


def run_on_known(reader: ScriptReader, words: list[str], root: str, scope: ShellScope) -> None:
    """`find -exec sh {} \\;`: run the command on every file below the root that an earlier step has written."""
    count = 0
    for place, file in scope.below(root):
        if file.text is not None and count < MAX_FILES:
            count += 1
            reader.execute([word.replace("{}", place) for word in words], scope, PipeContent())


def run_shared(reader: ScriptReader, scope: ShellScope) -> None:
    """Record pushed files that would send a secret or run code from the network on other people's machines.

    Their editors, containers and package managers run these files, so this run's sandbox does not matter.
    """
    here, count = scope.place("."), 0
    if here in reader.pushed or len(reader.pushed) >= MAX_PUSHED:
        return
    reader.pushed = (*reader.pushed, here)
    for place, file in scope.below("."):
        if file.text is None or SHARED.search(place) is None or count >= MAX_FILES:
            continue
        count += 1
        inner, aside = type(reader)(level=1), ShellScope("~")
        name = place.rpartition("/")[2]
        if name.endswith(".json"):
            for literal in islice(JSON_TEXT.finditer(file.text), MAX_LINES):
                if " " in literal[1]:
                    inner.nested(unescaped(literal[1]), aside.copy(), NOTHING)
        elif name.endswith(".py"):
            run_code(inner, file.text, "python", aside)
        else:
            for line in file.text.replace("\\\n", " ").split("\n")[:MAX_LINES]:
                if plain := RECIPE.sub("", line):
                    inner.nested(plain.replace("$$", "$"), aside.copy(), NOTHING)
        with reader.quoting(f"{name}, written in step {file.step}" if file.step >= 0 else ""):
            for found in inner.commands:
                if found.program == SEND_SECRET or (found.program in RUNNING and is_fed_from_afar(found)):
                    reader.add(msgspec.structs.replace(found, span=None, via=("git",), code=None))


SHARED = late_pattern(
    r"(?:^|/)(?:\.vscode/(?:tasks|launch)\.json|(?:\.devcontainer/(?:[\w-]+/)?|\.)devcontainer\.json|package\.json|composer\.json"
    r"|(?:GNU)?[Mm]akefile|\.?[Jj]ustfile|Taskfile\.ya?ml|Rakefile|Procfile|Vagrantfile|setup\.py|conftest\.py|noxfile\.py|\.envrc"
    r"|\.(?:husky|githooks)/[\w-]+|\.pre-commit-config\.yaml|\.gitpod\.yml|lefthook\.ya?ml|binding\.gyp)\Z"
)
"""Files that run for whoever clones the repository: on opening a folder, installing a package, building a target."""

JSON_TEXT = late_pattern(r'"((?:[^"\\\n]|\\.){1,2000})"')
RECIPE = late_pattern(r"^\s*[@-]*\s*(?:-\s+)?(?:[\w-]+:\s*(?![/=])[|>]?)?\s*")
RUNNING = frozenset((*SHELLS, *INTERPRETERS, "source", ".", "eval"))
FETCHERS = frozenset(("curl", "wget", "http", "https", "fetch", "nc", "ncat", "aria2c"))


def is_fed_from_afar(command: Command) -> bool:
    """Whether a program runs the response of a request: `curl X | sh`, `bash <(curl X)`, `sh -c "$(curl X)"`."""
    return not FETCHERS.isdisjoint(command.fed_by) or any(
        arg[:2] in ("<(", "$(") and not FETCHERS.isdisjoint(arg[2:-1].split()) for arg in command.args
    )


def run_images(reader: ScriptReader, command: Command, scope: ShellScope) -> None:
    """`docker build`: a Dockerfile's commands stay in the container, except for what they send."""
    args = command.args
    name = next((args[at + 1] for at, arg in enumerate(args[:-1]) if arg in ("-f", "--file")), "Dockerfile")
    text = scope.recall(name)
    if text is None:
        return
    inner = type(reader)(level=1)
    for line in text.replace("\\\n", " ").split("\n")[:MAX_LINES]:
        word, _, rest = line.strip().partition(" ")
        if word.upper() in ("RUN", "CMD", "ENTRYPOINT"):
            inner.nested(rest, ShellScope("~"), NOTHING)
    with reader.quoting(scope.evidence(name)):
        for found in inner.commands:
            if found.program in ("send-secret", "nc", "ncat", "socat") or "/dev/tcp/" in " ".join(
                redirect.target for redirect in found.redirects
            ):
                reader.add(found)

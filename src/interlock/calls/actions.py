"""Actions: what the table's row of a program says about one command line, its redirects and its output."""

from __future__ import annotations

from .findings import UNKNOWN_FOLDER
from .lines import below
from .model import Extent, How, Verb, Wait, Write, Zone
from .rows import Action, Line, Row
from .scope import ELSEWHERE, MAX_FLOW, MAX_WORDS, SILENCE, Flow, Scope
from .syntax import Redirect, unescape_ansi
from .table import english
from .words import WordReader
from .zones import LOOPBACK, is_address, resolve, zone_of

FETCHING = ("curl", "wget")
ASKING = frozenset(("curl", "wget", "http", "https", "xh", "nc", "ncat"))
STATES = ("health", "ready", "livez", "/live", "status", "/ping", "/up")
"""Parts of addresses that tell how a server is."""
ALL_OBJECTS = frozenset(("--all", "-A", "--recursive", "--force", "--all-namespaces"))
COPIES = frozenset(("cp", "mv", "install", "ln", "rsync", "scp", "gcp", "gmv"))
UPLOADS = frozenset(("-T", "--upload-file", "--post-file", "--body-file"))
DESTROYING = frozenset(("delete", "destroy", "drop", "purge", "wipe", "terminate", "erase"))
"""Subcommands that say even of an unknown program what it does."""
ASKS = ((), (("--version", ""),), (("--help", ""),))
"""Options that only ask a program what it is; `--version` with operands is an option of something else."""
SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "exec"))
SILENT = frozenset(("true", ":", "mkdir", "touch", "rm", "sleep", "export"))
WORKS_IN = ("-C", "--work-tree", "--git-dir", "--cwd")
"""Options that name the folder in which a program works."""
PATH_PRINTERS = {
    "dirname": lambda path, cwd: path.rstrip("/").rpartition("/")[0] or ".",
    "basename": lambda path, cwd: path.rstrip("/").rpartition("/")[2],
    "readlink": resolve,
    "realpath": resolve,
}
"""Programs that print a path made of their operand."""
FILTERS = frozenset(("sort", "uniq", "head", "tail", "grep", "sed", "awk", "tr", "cut"))
"""Programs that pass on what comes through the pipe, where they have no operands of their own."""


class ActionReader(WordReader):
    """Notes the actions of a row for one command line."""

    def actions(self, row: Row, name: str, first: str, line: Line, operands: tuple[str, ...], scope: Scope) -> None:
        """Note what a program does to its operands and options."""
        findings = self.findings
        if not row.known:
            if "/" in first:
                findings.touch("execute", first, scope.cwd, name, elsewhere=scope.elsewhere)
            elif (operands and line.options[:1] != ASKS[-1]) or line.options[:1] not in ASKS:
                deletes = next((word for word in operands[:2] if word in DESTROYING), "")
                findings.add("execute", f"{name} {deletes}".strip(), scope.elsewhere or "host", "one", name)
            return
        dry = bool(line.options) and _is_dry(row, line, operands)
        server = next((value for option in row.server for value in line.values(option)), "") if row.server else ""
        if scope.elsewhere == "service":
            server = scope.environment.get(ELSEWHERE, "")
        if name in HTTP:
            server = next(filter(None, map(host_of, operands)), "")
        if row.service and not row.does:
            verb, target = english(name, operands, line.options)
            every = any(option in ALL_OBJECTS for option, _ in line.options)
            findings.add("fetch" if dry else verb, target, "service", "many" if every else "one", name, server)
            if verb == "fetch":
                findings.waits.append(Wait("polls"))
        if row.skip and not any(option in row.unless for option, _ in line.options):
            operands = operands[row.skip :]
        many = any(line.has(option) for option in row.many)
        for action in (*row.does, *row.also):
            self._act(action, name, line, operands, many, dry, scope, server)
        if name in ASKING and any(word in operand for operand in operands for word in STATES):
            findings.waits.append(Wait("polls"))
        if name in FETCHING:
            places = [
                value for option in ("-o", "--output", "-O", "--output-document") for value in line.values(option)
            ]
            if not places and (name == "wget" or line.has("-O") or line.has("-LO")):
                places = [operand.rpartition("/")[2] for operand in operands]
            findings.fetched.update(resolve(place, scope.cwd) for place in places if place != "-")

    def _act(
        self, action: Action, name: str, line: Line, operands: tuple[str, ...], many: bool, dry: bool, scope: Scope,
        server: str,
    ) -> None:  # fmt: skip
        verb: Verb = "read" if dry and action.verb != "fetch" else action.verb
        if not action.role:
            zone: Zone = scope.elsewhere or action.zone or "host"
            if zone == "workspace":
                zone = self._where(line, scope)
            thing = f"{action.name} {' '.join(operands[:4])}" if action.name[-1:] == ":" else action.name or name
            self.findings.add(verb, thing, zone, action.extent or "one", name, server)
            return
        wide = many or action.extent == "many"
        extent: Extent = "many" if wide else "one"
        for value in _values(action, name, line, operands)[:MAX_WORDS]:
            if value == "-":
                continue
            if verb == "fetch" and "$(" in value:
                verb = "send"
            if action.zone or verb in ("fetch", "send") or (verb == "delete" and name in HTTP):
                local = any(place in value for place in LOOPBACK)
                self.findings.add(verb, value, action.zone or ("host" if local else "service"), extent, name, server)
            else:
                self.findings.touch(verb, value, scope.cwd, name, many=wide, elsewhere=scope.elsewhere)
                if action.extent == "all" and value.startswith("/dev/"):
                    self.findings.add(verb, value, "system", "all", name)

    def _where(self, line: Line, scope: Scope) -> Zone:
        """The zone of the folder that a program works in."""
        folder = next((value for option in WORKS_IN for value in line.values(option)), "") or scope.cwd
        if not folder or folder == UNKNOWN_FOLDER:
            return "workspace"
        return zone_of(resolve(folder, scope.cwd), self.findings.workspace)

    # Output

    def output(
        self, row: Row, name: str, words: tuple[str, ...], operands: tuple[str, ...], scope: Scope, flow: Flow
    ) -> Flow:
        """What a program prints, where its words say it."""
        if name == "echo":
            return self._echo(words)
        if name == "printf" and operands and operands[0] != "-v":
            return self._says(_printed(operands))
        if name == "tee" and flow.text is not None and not scope.elsewhere:
            for operand in operands:
                how: How = "append" if "-a" in words or "--append" in words else "whole"
                self.findings.write(Write(resolve(operand, scope.cwd), flow.text, how), name)
        if name == "tee" or (name == "cat" and operands in ((), ("-",))):
            return Flow(flow.text, flow.producers or (name,), flow.items)
        if name == "cat" and len(operands) == 1:
            text = "" if operands[0] == "/dev/null" else self.findings.text_of(resolve(operands[0], scope.cwd))
            if text is not None:
                return _known(text)
        if name == "truncate" and not scope.elsewhere and words[1:3] in (("-s", "0"), ("-s0",)):
            for operand in operands:
                self.findings.write(Write(resolve(operand, scope.cwd), ""), name)
        if name in ("cp", "dd") and len(operands) > 1 and operands[0] in ("/dev/null", "if=/dev/null"):
            self.findings.write(Write(resolve(operands[1].removeprefix("of="), scope.cwd), ""), name)
        if name in PATH_PRINTERS and operands and "$" not in operands[-1]:
            return Flow(f"{PATH_PRINTERS[name](operands[-1], scope.cwd)}\n", (name,))
        if name == "mktemp":
            return Flow(f"/tmp/{operands[-1].rpartition('/')[2] if operands else 'tmp.X'}\n", (name,))
        if name == "pwd":
            return Flow(f"{scope.cwd}\n" if scope.cwd[:1] not in ("", "$") else None, (name,))
        if name in SILENT:
            return SILENCE
        if row.lists == "operands":
            return Flow(None, (*flow.producers, name), operands if name == "find" else below(operands[row.skip :]))
        if row.lists == "rest":
            return Flow(None, (name,), below(operands[1:]))
        if row.lists == "folder":
            return Flow(None, (name,), below(()))
        passes = name in FILTERS and not operands[row.skip :]
        return Flow(None, (*flow.producers, name), flow.items if passes else ())

    def _echo(self, words: tuple[str, ...]) -> Flow:
        text, options = words[1:], ""
        while text and text[0] in ("-n", "-e", "-ne", "-en", "-E"):
            options += text[0]
            text = text[1:]
        line = " ".join(text)
        return self._says(f"{unescape_ansi(line) if 'e' in options else line}{'' if 'n' in options else chr(10)}")

    def _says(self, text: str) -> Flow:
        self.findings.says.append(text)
        return _known(text)

    # Redirects

    def redirects(self, redirects: list[Redirect], scope: Scope, flow: Flow) -> tuple[list[tuple[str, str]], Flow]:
        """The files that a command writes, each with its operator, and what it reads instead of the pipe."""
        writes: list[tuple[str, str]] = []
        for descriptor, operator, target in redirects:
            if operator in ("<<", "<<-"):
                flow = Flow("".join(self.expand_whole(target, scope)), ("heredoc",))
                continue
            if operator == "<<<":
                text = "".join(self.expand_whole(target, scope)) + "\n"
                flow = Flow(None if "$(" in text else text, ("here-string",))
                continue
            places = self.expand(target, scope)
            place = places[0] if places else ""
            if operator in ("<", "<>"):
                known = self.findings.text_of(resolve(place, scope.cwd))
                flow = Flow(known, (place,), () if known is not None else flow.items)
                self.findings.touch("read", place, scope.cwd, "<", elsewhere=scope.elsewhere)
            elif operator in (">&", "<&") and (place.isdigit() or place == "-"):
                continue
            elif ">" in operator and not place.startswith("$(process"):
                stdout = descriptor in ("", "1") or operator[0] == "&"
                writes.append((operator if stdout else f"{operator}2", place))
        return writes, flow

    def put(self, writes: list[tuple[str, str]], out: Flow, scope: Scope) -> Flow:
        """Put a command's output into the files that it is redirected to."""
        for operator, place in writes:
            if place.startswith(("/dev/tcp/", "/dev/udp/")):
                local = any(name in place for name in LOOPBACK)
                self.findings.add("send", place, "host" if local else "service", "one", ">")
                if not local and not SHELLS.isdisjoint(out.producers):
                    self.findings.add("execute", "shell for another machine", "service", "one", ">")
                continue
            appends, stdout = ">>" in operator, operator[-1] != "2"
            target = resolve(place, scope.cwd)
            if stdout and out.text is not None and not scope.elsewhere and place[:5] != "/dev/":
                self.findings.write(Write(target, out.text, "append" if appends else "whole"), ">")
                continue
            verb: Verb = "append" if appends else "write"
            self.findings.touch(verb, place, scope.cwd, ">", elsewhere=scope.elsewhere)
            if any(each in FETCHING for each in out.producers):
                self.findings.fetched.add(target)
        return Flow(None, out.producers) if any(operator[-1] != "2" for operator, _ in writes) else out


def host_of(word: str) -> str:
    """The host of an address, with or without its scheme."""
    host = word.partition("://")[2] or word
    return host.partition("/")[0].rpartition("@")[2].partition(":")[0]


def _is_dry(row: Row, line: Line, operands: tuple[str, ...]) -> bool:
    """Whether an option says that nothing happens; `--version` with operands is an option of something else."""
    return any(
        option in row.dry or f"{option}={value}" in row.dry
        for option, value in line.options
        if option != "--version" or not operands
    )


HTTP = ("curl", "wget", "http", "https", "xh")


def _values(action: Action, name: str, line: Line, operands: tuple[str, ...]) -> list[str]:
    """The words of a command line that an action is about."""
    role = action.role
    if role.endswith("="):
        return [word[len(role) :] for word in operands if word.startswith(role)]
    if role[:1] == "-":
        values = line.values(role)
        if action.verb == "send" and role not in UPLOADS:
            values = [value for value in values if value[:1] == "@" or "=@" in value]
        return [value.rpartition("@")[2] for value in values] if action.verb == "send" else values
    if role == "last":
        if name in COPIES and (line.has("-t") or line.has("--target-directory")):
            return []
        values = list(operands[-1:]) if len(operands) > 1 else []
        if (
            values
            and action.verb != "delete"
            and not is_address(values[0])
            and (values[0][-1:] == "/" or values[0] in (".", ".."))
        ):
            # Into a folder: the files get their names there.
            # From `src/`, rsync copies what is in it.
            sources = operands[:-1] if name == "rsync" else [word.rstrip("/") for word in operands[:-1]]
            return [f"{values[0].rstrip('/')}/{word.rpartition('/')[2]}" for word in sources]
        return values
    if role == "init":
        return list(operands[:-1] if len(operands) > 1 else operands)
    if role == "files":
        return [word for word in operands if "/" in word or "." in word]
    return list({"operands": operands, "first": operands[:1], "rest": operands[1:]}[role])


def _printed(operands: tuple[str, ...]) -> str:
    """What `printf` prints, for plain formats."""
    text = unescape_ansi(operands[0]).replace("%%", "%")
    for value in operands[1:]:
        form = next((form for form in ("%s", "%b", "%q", "%d") if form in text), "")
        if form:
            text = text.replace(form, value, 1)
    return text


def _known(text: str) -> Flow:
    return Flow(None if "$(" in text else text[:MAX_FLOW], ("echo",))

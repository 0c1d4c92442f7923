"""ScriptReader: reads a script the way a shell would, and records every command that would run."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice

import tree_sitter_bash
from msgspec.structs import replace
from tree_sitter import Language, Parser

from ...calls import read_script as read_call_script
from ..program_names import PROGRAMS, SUBCOMMANDS
from ..wordlist import name_set
from .bounds import (
    HEREDOC,
    MAX_BROKEN,
    MAX_CALLS,
    MAX_CHARACTERS,
    MAX_CODE,
    MAX_COMMANDS,
    MAX_DEPTH,
    MAX_HEREDOCS,
    MAX_WRAPPERS,
    code_of,
    cut,
    is_short,
    statements,
)
from .build_files import TOOLS, run_given
from .carriers import DECLARING, LOADED, MENTIONING, run_assignments, run_carried, run_unknown
from .chosen_servers import CHOICES_OF, TUNNELS, is_forwarded, note_printed, note_tunnel
from .flows import fed, flow_of, keep
from .model import NOTHING, Command, KnownFile, PipeContent, Redirect, Script, through_pipe
from .names import INTERPRETERS, SHELLS, program_name
from .scope import UNKNOWN, Files, ShellScope
from .scripts import run_written
from .settings import CLIENTS, ENGINES, FRAMEWORKS, is_configured, settings_for, settings_in
from .simple import RESERVED, SimpleCommand, SimpleScript, read_simple, to_ascii
from .sinks import SENDING, find_clone_run, find_leak, find_sent_away
from .transfers import follow_links, is_fetched, with_file
from .unwrap import HANDLERS, unwrap
from .walk import SyntaxWalk
from .word_scan import rough_commands
from .wrappers import PREFIXES

_LANGUAGE = Language(tree_sitter_bash.language())
_parsers = threading.local()

PLAIN = re.compile(r"[\w./:=@%+,-]+(?: [\w./:=@%+,-]+)*\Z", re.ASCII)
"""Words without quotes, expansions or operators: the shell only splits them."""

BARE_IFS = re.compile(r"\$IFS(?!\w)")
BACK_QUOTED = re.compile(r"(\$\{[^}`\n]{0,80})`([^`\n]{0,400})`")
"""A command inside an expansion, which the parser treats as a word."""

BOTH_WAYS = re.compile(r"\d{0,4}<>(?=\s{0,4}[/~.$\w])")
"""`5<>FILE` opens a file for reading and writing; the parser does not support it."""

BRACE_COMMAND = re.compile(r"(^|[;&|(\n]\s{0,8})\{([^\s{};,]+(?:,[^\s{};,]*)+)\}")
"""`{rm,-rf,/}` as a command; the parser does not support it."""

HARMLESS = name_set(
    """ls less more head tail bat nl wc diff cmp stat file sort uniq cut tr column chmod chown touch mkdir cp mv rm ln
    tar zip unzip gzip ruff black isort mypy pyright flake8 pylint eslint prettier shellcheck hadolint yamllint tsc
    code vim vi nano emacs open xdg-open md5sum sha256sum basename dirname realpath readlink dos2unix pytest dd
    rsync scp cd sudo doas nice nohup time timeout"""
)
"""Programs that show, check, move or format a file without running it, or run a command that is parsed separately."""

WRAPPING = frozenset((*HANDLERS, *PREFIXES, *TOOLS))
"""Programs that may run something else."""

UNCARRIED = frozenset((*MENTIONING, *SHELLS, *INTERPRETERS))
"""Programs whose arguments are not commands, or are parsed as such elsewhere."""

KNOWN = frozenset((*PROGRAMS, *SUBCOMMANDS, *HANDLERS, *PREFIXES, *TOOLS, *SENDING))
"""Programs whose arguments are not commands, or have already been parsed as such."""

CONFIGURED = CLIENTS | FRAMEWORKS | ENGINES
"""Programs that find their database through variables."""


def read_script(text: str, cwd: str | None = None, known: Mapping[str, KnownFile] | None = None) -> Script:
    """Every command that the script would run, in order, without wrappers; `known` are files of earlier steps."""
    reader, files = ScriptReader(), Files(known)
    reader.read(text, ShellScope(cwd, files), NOTHING)
    if len(text) > MAX_CHARACTERS:
        reader.read_plainly(text, ShellScope(cwd, files))
    elif not reader.complete:
        reader.read_roughly(text, ShellScope(cwd, files))
    return reader.script(files)


MAX_RESTS = 8
"""Unparsed scripts inside a script that are read."""
MAX_STATEMENTS = 700
"""Statements of a long script that are parsed one by one, at twenty characters or more each; and a third as many calls
of its own functions."""


def read_code(code: str, language: str, cwd: str | None = None, known: Mapping[str, KnownFile] | None = None) -> Script:
    """Every command equivalent to a piece of code, after the interpreter itself."""
    reader, files = ScriptReader(level=1), Files(known)
    reader.execute([language], ShellScope(cwd, files), PipeContent(code))
    return reader.script(files)


class ScriptReader(SyntaxWalk):
    """Parses one script. `level` counts the enclosing scripts; `pushed` are the folders that it pushes."""

    pushed: tuple[str, ...] = ()

    _characters = 2 * MAX_CHARACTERS
    _searched = 6 * MAX_CHARACTERS
    _broken_left = MAX_BROKEN
    _calls: tuple[str, ...] = ()
    _calls_left = MAX_STATEMENTS // 3
    _pieces_left = MAX_RESTS

    def script(self, files: Files) -> Script:
        """The script as read: its commands, and the files it reads and creates."""
        return Script(tuple(self.commands), self.complete, tuple(files.asked.items()), tuple(files.made.items()))

    @contextmanager
    def quoting(self, evidence: str) -> Iterator[None]:
        """Within this block, attribute commands to the file they were read from (`evidence`)."""
        before, self.evidence = self.evidence, self.evidence or evidence
        yield
        self.evidence = before

    def may_search(self, text: str) -> bool:
        """Whether one more text may be searched for commands: a script may name the same files many times."""
        self._searched -= len(text)
        self.complete = self.complete and self._searched >= 0
        return self._searched >= 0

    def read(self, text: str, scope: ShellScope, flow: PipeContent) -> PipeContent:
        """Read a script, or a script inside one; return its output if that is known."""
        self._characters -= len(text)
        if self._depth >= MAX_DEPTH or self._characters < 0:
            self.complete = False
            if self._depth < MAX_DEPTH:
                self._read_rest(text, scope)
            return NOTHING
        if PLAIN.match(text) is not None and (words := text.split())[0] not in RESERVED and "=" not in words[0]:
            return self.execute(words, scope, flow, span=None if self._level else (0, len(text)))
        text = to_ascii(text)
        if "$IFS" in text:
            # The parser drops an expansion followed by letters or a slash.
            text = BARE_IFS.sub("${IFS}", text)
        if "${" in text and "`" in text:
            text = BACK_QUOTED.sub(r"\1$(\2)", text)
        if "<>" in text:
            text = BOTH_WAYS.sub(lambda found: ">".rjust(len(found[0])), text)
        if "{" in text and BRACE_COMMAND.search(text) is not None:
            text = BRACE_COMMAND.sub(lambda found: found[1] + found[2].replace(",", " "), text)
        simple = read_simple(text) if self._nodes > MAX_CODE and self._depth < MAX_DEPTH - 4 else None
        if simple is not None:
            return self._simple(simple, scope, flow)
        if is_short(text):
            return self._parse(text, scope, flow)
        found = list(islice((each for each in statements(cut(text)) if says_something(each)), MAX_STATEMENTS + 1))
        if len(text) > MAX_CHARACTERS or len(found) > MAX_STATEMENTS:
            self.complete = False
            self._read_rest(text, scope)
        self._level += 1
        outs = []
        for count, each in enumerate(found[:MAX_STATEMENTS]):
            outs.append(self._statement(each, scope, flow))
            if self._nodes < 0:
                self._read_rest("\n".join(found[count:]), scope)
                break
        self._level -= 1
        return self.together(outs)

    def read_roughly(self, text: str, scope: ShellScope) -> None:
        """Read an incompletely parsed script word by word as well, so that plain commands in it are still found."""
        rough = ScriptReader(level=1)
        flow = NOTHING
        for words, piped in rough_commands(HEREDOC.sub(" ", text) if text.count("<<") <= MAX_HEREDOCS else text, scope):
            if words:
                flow = rough.execute(words, scope, flow if piped else NOTHING)
        self._add_new(rough.commands)

    def read_plainly(self, text: str, scope: ShellScope) -> None:
        """Judge a script that is not parsed in full by its reading: each program by itself, and what code deletes."""
        reading = read_call_script(text, scope.cwd or "")
        plain = ScriptReader(level=1)
        acts = {
            effect.by
            for effect in reading.effects
            if effect.verb not in ("read", "write", "append") or effect.zone != "workspace"
        }
        acting = (program for program in reading.programs if program.executes or program.name in acts)
        for words, cwd in dict.fromkeys((program.words, program.cwd) for program in acting):
            inner = scope.copy()
            inner.cwd = cwd or scope.cwd
            plain.execute(list(words), inner, NOTHING)
        for effect in reading.effects:
            if effect.verb == "delete" and effect.file:
                args = (effect.target,) if effect.extent == "one" else ("-rf", effect.target)
                plain.add(Command(program="rm", args=args, via=scope.via, cwd=scope.cwd))
            elif effect.verb == "delete" and effect.zone == "service":
                code = (
                    f"DELETE FROM {effect.target[8:]}" if effect.target[:8] == "rows of " else f"DROP {effect.target}"
                )
                plain.add(Command(program=effect.by, code=code, via=scope.via, cwd=scope.cwd))
        if reading.concealed and len(text) > MAX_CHARACTERS:
            plain.add(Command(program="unread", via=scope.via, cwd=scope.cwd))
        self._add_new(plain.commands)

    def _add_new(self, commands: Iterable[Command]) -> None:
        seen = {(command.program, command.args, command.code) for command in self.commands}
        for command in commands:
            if (key := (command.program, command.args, command.code)) not in seen:
                seen.add(key)
                self.add(command)

    def _read_rest(self, text: str, scope: ShellScope) -> None:
        """Read the unparsed part of a script inside the script: only here is its text known."""
        if self._level and self._pieces_left:
            self._pieces_left -= 1
            self.read_plainly(text, scope)

    def _statement(self, text: str, scope: ShellScope, flow: PipeContent) -> PipeContent:
        """Parse one statement of a long script, if it is short itself."""
        if is_short(text):
            return self._parse(text, scope, flow)
        self.complete = False
        return NOTHING

    def _parse(self, text: str, scope: ShellScope, flow: PipeContent) -> PipeContent:
        if self._broken_left <= 0:
            self.complete = False
            return NOTHING
        root = parser().parse(with_first_lines(text).encode("ascii")).root_node
        if root.has_error:
            self.complete = False
            self._broken_left -= len(code_of(text))
        if root.descendant_count > self._nodes:
            self.complete = False
            return NOTHING
        return self.together([self.run(child, scope, flow) for child in root.named_children])

    def _simple(self, simple: SimpleScript, scope: ShellScope, flow: PipeContent) -> PipeContent:
        """Run the commands of a simple script, as `run` does with the parser's nodes."""
        listed, either, redirects, piped = simple
        if redirects:
            return self._pipeline([], piped, scope, self._redirect(simple, scope, flow, heard=bool(piped)))
        if len(listed) == 1:
            return self._pipeline(listed, piped, scope, flow)
        self._nodes -= 1
        self._depth += 1
        outs = [self._pipeline([each], [], scope, flow) for each in listed[:-1]]
        outs.append(self._pipeline(listed[-1:], piped, scope, flow))
        self._depth -= 1
        return self.together(outs, either=either)

    def _redirect(self, simple: SimpleScript, scope: ShellScope, flow: PipeContent, *, heard: bool) -> PipeContent:
        """Run commands with redirected output: one, or all together."""
        listed, either, redirects, _ = simple
        self._nodes -= 1
        self._depth += 1 + heard
        self._listeners += heard
        if len(listed) == 1:
            out = self._run_simple(listed[0], scope, flow, redirects)
        else:
            self._listeners += 1
            out = through_pipe(self._simple((listed, either, (), []), scope, fed(redirects, scope, flow)))
            self._listeners -= 1
            self.add(Command(program=":", redirects=redirects, via=scope.via, cwd=scope.cwd))
            keep(redirects, scope, out)
        self._listeners -= heard
        self._depth -= 1 + heard
        return through_pipe(out) if heard else out

    def _pipeline(
        self, first: list[SimpleCommand], piped: list[SimpleCommand], scope: ShellScope, flow: PipeContent
    ) -> PipeContent:
        """Run one command, and those that its output is piped through."""
        heard = bool(piped)
        self._depth += heard
        self._nodes -= heard
        self._listeners += heard
        for each in (*first, *piped):
            self._nodes -= 1
            if len(self.commands) >= MAX_COMMANDS:
                self.complete = False
                flow = NOTHING
                continue
            flow = self._run_simple(each, scope, flow)
            if heard:
                flow = through_pipe(flow)
        self._listeners -= heard
        self._depth -= heard
        return flow

    def _run_simple(
        self, command: SimpleCommand, scope: ShellScope, flow: PipeContent, redirects: tuple[Redirect, ...] = ()
    ) -> PipeContent:
        words, span, assigned = command
        return self.execute(
            words, scope, flow, redirects=redirects, span=None if self._level else span,
            assignments=tuple([(name, self._afford(value)) for name, value in assigned]) if assigned else (),
        )  # fmt: skip

    def execute(
        self, words: list[str], scope: ShellScope, flow: PipeContent, *, redirects: tuple[Redirect, ...] = (),
        assignments: tuple[tuple[str, str], ...] = (), filtered: bool = False, span: tuple[int, int] | None = None,
    ) -> PipeContent:  # fmt: skip
        """Run one command whose words are known: an alias, a function, a wrapper, or a program."""
        if assignments and (given := settings_in(assignments, scope)):
            # Set for this command and its children, but not for the next command.
            with scope.having(given):
                return self.execute(
                    words, scope, flow, redirects=redirects, assignments=assignments, filtered=filtered, span=span
                )
        self._nodes -= len(words) // 8
        if redirects:
            flow = fed(redirects, scope, flow)
        if scope.links:
            words = follow_links(words, scope)
        program = program_name(words[0])
        own = (
            scope.file(words[0])
            if "/" in words[0] or program[-3:] == ".py" or scope.files.known or scope.files.made
            else UNKNOWN
        )
        if own.program and own.program != program:
            with self.quoting(scope.evidence(words[0])):
                return self.execute(
                    [own.program, *words[1:]], scope, flow, redirects=redirects, assignments=assignments,
                    filtered=filtered, span=span,
                )  # fmt: skip
        if assignments and (path := first_in_path(program, assignments, scope)):
            with self.quoting(scope.evidence(path)):
                command = Command(program=path, args=tuple(words[1:]), via=scope.via, cwd=scope.cwd, span=span)
                return run_written(self, command, [path, *words[1:]], scope, scope.recall(path) or "")
        if assignments:
            run_assignments(self, assignments, scope)
            super()._assigned([each for each in assignments if each[0] in LOADED], scope)
        elif program in DECLARING:
            run_assignments(self, (arg.partition("=")[::2] for arg in words[1:]), scope)
            note_printed(words, self.commands, scope)
        if own.fetched and "/" in words[0] and (fetcher := is_fetched(words[0], scope)) is not None:
            # A program fetched in an earlier step could have been inspected.
            name = "fetched" if own.step >= 0 else "sh"
            self.add(Command(program=name, args=tuple(words), via=scope.via, cwd=scope.cwd, fed_by=(fetcher,)))
        if program in scope.aliases and self._depth < MAX_DEPTH:
            text = scope.aliases.pop(program)
            return self.nested(f"{text} {' '.join(words[1:])}", scope, flow)
        if program in scope.functions:
            return self._call(program, words, scope, flow)
        command = Command(
            program=program, args=tuple(words[1:]), via=scope.via, redirects=redirects, assignments=assignments,
            stdin=flow.text, fed_by=flow.sources, cwd=scope.cwd, filtered=filtered, span=span,
        )  # fmt: skip
        if program in CONFIGURED and is_configured(words, program):
            if program in CHOICES_OF:
                scope.files.asked.update(CHOICES_OF[program])
            if scope.variables or scope.files.known:
                command = replace(command, assignments=settings_for(program, scope))
                if program == "aws" and any("file://" in arg for arg in words):
                    command = replace(command, args=tuple(with_file(arg, scope) for arg in command.args))
            if scope.files.ports and program not in ENGINES and is_forwarded(command, scope):
                command = replace(command, via=(*command.via, "tunnel"))
        if program in TUNNELS:
            note_tunnel(command, scope)
        if own.text is not None and ("/" in words[0] or program[-3:] == ".py"):
            with self.quoting(scope.evidence(words[0])):
                return run_written(self, command, words, scope, own.text)
        if scope.files.cloned:
            find_clone_run(self, words, program, scope)
        if program in SENDING or (program not in KNOWN and command.args):
            find_leak(self, command, scope, flow)
        if len(scope.via) < MAX_WRAPPERS and self._nodes > 0:
            if program not in UNCARRIED:
                run_carried(self, command, scope)
                if command.args and program not in KNOWN:
                    run_unknown(self, command, scope, flow)
                if (scope.files.known or scope.files.made) and program not in HARMLESS:
                    run_given(self, command, scope)
            if program in WRAPPING and (out := unwrap(self, command, scope, flow)) is not None:
                return out
        elif len(words) > 1:
            # Too many wrappers to follow: still check the innermost words.
            self.complete = False
            command = innermost(command)
        self.add(command)
        out = flow_of(command, scope, flow, heard=bool(redirects) or self._listeners > 0)
        if redirects:
            find_sent_away(self, command, scope, out)
        return out

    def _assigned(self, assignments: list[tuple[str, str]], scope: ShellScope) -> None:
        super()._assigned(assignments, scope)
        run_assignments(self, assignments, scope)

    def _call(self, name: str, words: list[str], scope: ShellScope, flow: PipeContent) -> PipeContent:
        """Call one of the script's own functions; recursion is followed a few times."""
        if self._calls.count(name) >= MAX_CALLS:
            return NOTHING
        self._calls_left -= 1
        if self._calls_left < 0:
            self.complete = False
            return NOTHING
        inner = scope.copy()
        inner.params = tuple(words)
        before, self._calls = self._calls, (*self._calls, name)
        try:
            return self.run(scope.functions[name], inner, flow)
        finally:
            # What a function sets, its caller has.
            self._calls, scope.variables, scope.cwd = before, inner.variables, inner.cwd

    def nested(self, text: str, scope: ShellScope, flow: PipeContent) -> PipeContent:
        """Read a script inside the script."""
        self._depth += 1
        self._level += 1
        try:
            return self.read(text, scope, flow)
        finally:
            self._depth -= 1
            self._level -= 1


def says_something(statement: str) -> bool:
    """Whether a statement is more than blanks and one comment."""
    plain = statement.strip()
    return bool(plain) and (plain[0] != "#" or "\n" in plain)


def is_delimiter(line: str, start: str) -> bool:
    """Whether a line ends a heredoc that the other line starts."""
    words = (part.lstrip("-").split(None, 1) for part in start.split("<<")[1:])
    return any(word[0].strip("'\"") == line.strip() for word in words if word)


def with_first_lines(text: str) -> str:
    """The script with a space before a backslash that begins a heredoc: the parser takes such a line for arguments."""
    if "<<" not in text or "\n\\" not in text:
        return text
    lines, before = text.split("\n"), ""
    for number, line in enumerate(lines):
        if line[:1] == "\\" and "<<" in before and not is_delimiter(line, before):
            lines[number] = f" {line}"
        before = line or before
    return "\n".join(lines)


def first_in_path(program: str, assignments: tuple[tuple[str, str], ...], scope: ShellScope) -> str:
    """The written file that a program's name refers to if the script puts a folder first in `PATH`."""
    for name, value in assignments:
        if name == "PATH" and "/" not in program:
            for folder in value.replace("$PWD", ".").split(":")[:8]:
                if folder and scope.recall(f"{folder}/{program}") is not None:
                    return f"{folder}/{program}"
    return ""


def innermost(command: Command) -> Command:
    """The command after a long chain of wrappers, as far as their names tell."""
    words = [command.program, *command.args]
    at = next((i for i, word in enumerate(words) if word not in PREFIXES and word[:1] != "-"), 0)
    return Command(program=program_name(words[at]), args=tuple(words[at + 1 :]), via=command.via, cwd=command.cwd)


def parser() -> Parser:
    """This thread's parser: parsers cannot be shared."""
    found: Parser | None = getattr(_parsers, "bash", None)
    if found is None:
        found = _parsers.bash = Parser(_LANGUAGE)
    return found

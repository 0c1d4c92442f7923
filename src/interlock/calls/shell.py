"""Shell: goes through a script, with the values that it shows, and notes what its programs do."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Items
from functools import lru_cache

from msgspec.structs import replace

from ..core import late_pattern
from .actions import ActionReader
from .findings import UNKNOWN_FOLDER, Findings
from .lines import (
    after_dashes,
    assignment,
    first_word,
    first_word_of,
    found_by,
    is_assignment,
    is_test,
    seconds,
    targets,
    words_of,
    wrapped_words,
)
from .model import Check, Program, Wait
from .python import read_code
from .rows import Line, Row
from .scope import ELSEWHERE, EMPTY, MAX_FLOW, MAX_TEXT, MAX_WORDS, SILENCE, SOURCED, Flow, Scope
from .syntax import UNREADABLE, Command, Function, Group, Loop, Node, Pipeline, Sequence, parse
from .table import UNKNOWN, choose, row_for, split_line, word_set
from .zones import resolve

BUILTIN = Row()
SYSTEM_PROGRAMS = ("/bin/", "/usr/", "/sbin/")
MIN_STEPS, MAX_STEPS = 4_000, 40_000
"""Commands read per call: some, and one for every four characters; loops count once, functions as often as called."""
SHORT = 8_000
"""Characters of a script that is parsed once for several readers."""
MAX_LEVEL = 12
"""Scripts inside scripts, functions inside functions, wrappers inside wrappers."""
MAX_INTO = 8
MAX_FOLDER = 4_096
MAX_PLACE = 8
MAX_CHECK = 200
"""Characters kept of a check's command."""
ASSIGNERS = frozenset(("export", "local", "declare", "readonly", "typeset"))
HOOKS = frozenset((
    "PROMPT_COMMAND", "BASH_ENV", "ENV", "LD_PRELOAD", "PYTHONSTARTUP", "GIT_SSH_COMMAND", "GIT_PAGER", "GIT_EDITOR",
    "PAGER", "EDITOR", "GIT_EXTERNAL_DIFF",
))  # fmt: skip
"""Variables whose value is run by other programs."""
FETCHERS = ("curl", "wget", "http", "fetch", "aria2c")
DECODERS = frozenset(
    ["base64", "xxd", "openssl", "rev", "tr", "gunzip", "zcat", "gzip", "base32", "uudecode", "od", "hex"]
)
SHOWERS = frozenset(("cat", "<", "head", "tail", "sed", "grep", "zcat", "envsubst"))
"""Programs that show files: what they print is the text of one."""
PREPARING = word_set(
    """ssh-agent direnv conda mamba micromamba brew pyenv rbenv nodenv goenv jenv fnm nvm starship zoxide dircolors
    minikube opam luarocks mise asdf keychain gpg-agent register-python-argcomplete hatch poetry docker-machine atuin
    fzf kubectl helm gh npm pip uv rustup resize tput stty locale ssh-add"""
)
"""Programs that print settings for the shell: `eval "$(ssh-agent -s)"`."""
SETTINGS_THAT_RUN = late_pattern(
    r"(?i)(core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy)|pager\.\w+|sequence\.editor|gpg\.(?:\w+\.)?program"
    r"|diff\.external|diff\.[^=]*\.(?:command|textconv)|filter\.[^=]*\.(?:clean|smudge|process)|merge\.[^=]*\.driver"
    r"|(?:difftool|mergetool)\.[^=]*\.cmd|credential\.(?:[^=]*\.)?helper|alias\.[^=]*(?==\s*!)|remote\.[^=]*\.(?:uploadpack|receivepack))=\s*!?(.*)"
)
"""Settings of git whose value is run."""
PLAIN_TOOLS = word_set(
    """delta code store cache osxkeychain manager manager-core libsecret gpg2 git-lfs .githooks .husky .hooks hooks
    diff-so-fancy difft"""
)
"""Values of such settings that everybody uses."""
WAITING = ("--wait", "--watch")
TIMED = frozenset(("sleep", "usleep", "timeout", "gtimeout"))
NO_CODE = frozenset(("sql", "awk", "mongo"))
"""Languages whose programs have operands of their own, besides the code."""


class ShellReader(ActionReader):
    """Reads one call's scripts into its findings."""

    def __init__(self, findings: Findings, characters: int = 0) -> None:
        self.findings = findings
        self.level = 0
        self._steps = min(MIN_STEPS + characters // 4, MAX_STEPS)
        self._characters = 2 * MAX_TEXT

    def read(self, text: str, scope: Scope, flow: Flow = EMPTY, decides: bool = False) -> Flow:
        """Read a script; returns what it prints, as far as that is known."""
        self._characters -= len(text)
        if self._characters < 0 or self.level > MAX_LEVEL:
            self.findings.conceal("it is too long or nested too deeply")
            return EMPTY
        script = _parsed(text) if len(text) < SHORT else parse(text)
        if script.error in UNREADABLE:
            self.findings.conceal(f"it is not read to its end: {script.error}")
        elif script.error and not self.findings.unread:
            self.findings.unread = script.error
        self.level += 1
        out = self.sequence(script.body, scope, flow, decides)
        self.level -= 1
        return out

    # Statements

    def sequence(self, body: Sequence, scope: Scope, flow: Flow, decides: bool) -> Flow:
        outs = [
            self.pipeline(pipeline, scope, flow, decided)
            for (pipeline, _), decided in zip(body.items, _deciding(body, scope, decides), strict=True)
        ]
        if len(outs) < 2:
            return outs[0] if outs else EMPTY
        texts = [out.text for out in outs if out.text is not None]
        known = texts and all(out.text is not None or not out.producers for out in outs)
        producers = tuple(dict.fromkeys(name for out in outs for name in out.producers))
        items = tuple(item for out in outs for item in out.items)[:MAX_WORDS]
        return Flow("".join(texts)[:MAX_FLOW] if known else None, producers, items)

    def pipeline(self, pipeline: Pipeline, scope: Scope, flow: Flow, decides: bool) -> Flow:
        stages = pipeline.stages
        decides = decides and not pipeline.negated
        if len(stages) == 1:
            return self.node(stages[0], scope, flow, decides, ())
        names = tuple(first_word(stage) for stage in stages)
        for at, stage in enumerate(stages):
            decided = decides and (scope.pipefail or at == len(stages) - 1)
            flow = self.node(stage, scope.copy(), flow, decided, names[at + 1 : at + 1 + MAX_INTO])
        return flow

    def node(self, node: Node, scope: Scope, flow: Flow, decides: bool, into: tuple[str, ...]) -> Flow:
        if not self._step():
            return EMPTY
        if isinstance(node, Command):
            return self.command(node, scope, flow, decides, into)
        if isinstance(node, Function):
            scope.functions[node.name] = node.body
            return EMPTY
        redirects, flow = self.redirects(node.redirects, scope, flow)
        if isinstance(node, Group):
            out = self.sequence(node.body, scope.copy() if node.subshell else scope, flow, decides)
        elif isinstance(node, Loop):
            out = self.loop(node, scope, flow)
        else:
            for word in node.words:
                self.expand(word, scope)
            outs = [self.sequence(part, scope, flow, False) for part in (*node.conditions, *node.bodies)]
            out = outs[-1] if outs else EMPTY
        return self.put(redirects, out, scope)

    def loop(self, node: Loop, scope: Scope, flow: Flow) -> Flow:
        """A loop's body, once, with all values of its variable."""
        if node.values is not None:
            values = tuple(text for word in node.values for text in self.expand(word, scope))
            if node.variable:
                scope.set(node.variable, values or (f"${node.variable}",))
        elif node.condition is not None:
            self.sequence(node.condition, scope, flow, False)
            if flow.items and first_word_of(node.condition) == "read":
                for name in words_of(node.condition)[-1:]:
                    scope.set(name, flow.items)
        out = self.sequence(node.body, scope, EMPTY, False)
        return Flow(None, out.producers, out.items)

    def _step(self) -> bool:
        self._steps -= 1
        if self._steps < 0 or self.level > MAX_LEVEL:
            self.findings.conceal("it does too much at once")
            return False
        return True

    # Commands

    def command(self, node: Command, scope: Scope, flow: Flow, decides: bool, into: tuple[str, ...]) -> Flow:
        words = [text for word in node.words for text in self.expand(word, scope)]
        self._steps -= len(words) // 4
        redirects, flow = self.redirects(node.redirects, scope, flow)
        assigned = [self.assign(each, scope, keep=not words or words[0] in ASSIGNERS) for each in node.assignments]
        if assigned and words[:1] == ["export"]:
            scope.environment.update(assigned)
        elif assigned and words:
            scope = scope.copy() if words[0] not in scope.functions else scope
            scope.environment.update(assigned)
        for name, value in assigned:
            if name in HOOKS and value and words[:1] != ["unset"]:
                self.findings.add("execute", value, "host", "one", name)
                self._nested(value, scope, name)
        if not words:
            return self.put(redirects, SILENCE, scope)
        place = (node.start, node.end) if self.level == 1 else (0, 0)
        out = self.run(tuple(words), scope, flow, decides, into, place)
        return self.put(redirects, out, scope)

    def run(
        self, words: tuple[str, ...], scope: Scope, flow: Flow, decides: bool = False, into: tuple[str, ...] = (),
        place: tuple[int, int] = (0, 0),
    ) -> Flow:  # fmt: skip
        """Read one command whose words are known."""
        first = words[0]
        if not first or not self._step():
            return EMPTY
        if (first[0] == "$" and first != "$") or "$(" in first or "`" in first:
            self.findings.conceal(f"the name of a program is computed: {first[:40]}")
            return EMPTY
        if first in scope.functions:
            return self._call(words, scope, flow, decides)
        name, row = _known_as(first)
        line = split_line(row, words[1:])
        base = row
        row, operands = choose(row, name, line)
        command = _with_verb(name, base, line.operands)
        if name == "find":
            operands = found_by(words)
        waits = "sleeps" if any(map(line.has, WAITING)) else row.waits
        if waits:
            self.findings.waits.append(Wait(waits, seconds(operands[:1]) if name in TIMED else 0.0))
        if row.runs:
            inner = self._wrapped(row, name, line, operands, words, scope, flow, decides, into)
            if inner is not None:
                return inner
        if not (row.module and line.has(row.module)):
            program = Program((name, *words[1:]), scope.via, scope.cwd, decides, into, (), *place)
            self.findings.programs.append(_described(program, row, command, line, operands, scope))
        done = self._builtin(name, words, scope, flow)
        if done is not None:
            return done
        if row.code:
            out = self._code(row, name, line, operands, words, scope, flow, decides, into)
            if out is not None:
                return out
        if name == "git":
            self._settings(line, scope)
        self.actions(row, name, first, line, operands, scope)
        if not row.known and "/" in first:
            self._run_file(resolve(first, scope.cwd), "sh", scope, (first, *operands), decides)
            if is_test(first):
                self._check("tests", "script", words, operands, scope, decides, into)
        if row.check and not any(line.has(option) for option in row.dry):
            self._check(row.check, command, words, operands, scope, decides, into)
        return self.output(row, name, words, operands, scope, flow)

    def _settings(self, line: Line, scope: Scope) -> None:
        """The programs that git is told to run by its settings and options."""
        given = [value for option, value in line.options if option == "-c"]
        if line.operands[:1] == ("config",) and len(line.operands) > 2:
            given.append(f"{line.operands[-2]}={line.operands[-1]}")
        given += [f"remote.x.uploadpack={value}" for name in ("--upload-pack", "--receive-pack", "--exec")
                  for value in line.values(name)]  # fmt: skip
        for setting in given:
            found = SETTINGS_THAT_RUN.match(setting)
            program = found[2].strip().split(" ", 1)[0] if found is not None else ""
            if found is not None and program not in ("", "git-upload-pack", "git-receive-pack", *PLAIN_TOOLS):
                if not _known_as(program)[1].known:
                    self.findings.add(
                        "execute", f"program named by {found[1]}", scope.elsewhere or "host", "one", "git"
                    )
                self._nested(found[2], scope.copy(), "git")

    def _check(
        self, kind: str, runner: str, words: tuple[str, ...], operands: tuple[str, ...], scope: Scope, decides: bool,
        into: tuple[str, ...],
    ) -> None:  # fmt: skip
        text = " ".join(words)[:MAX_CHECK]
        self.findings.checks.append(Check(kind, runner, targets(operands), decides, text, into, scope.cwd))  # type: ignore[arg-type]

    def _call(self, words: tuple[str, ...], scope: Scope, flow: Flow, decides: bool) -> Flow:
        """Read a function's body with these arguments."""
        if self.level >= MAX_LEVEL:
            self.findings.conceal("a function starts itself without end")
            return EMPTY
        before = {name: scope.variables.get(name) for name in "123456789@*"}
        _set_arguments(scope, words)
        self.level += 1
        out = self.node(scope.functions[words[0]], scope, flow, decides, ())
        self.level -= 1
        for name, value in before.items():
            scope.variables.pop(name, None)
            if value is not None:
                scope.variables[name] = value
        return out

    # Programs that run others

    def _wrapped(
        self, row: Row, name: str, line: Line, operands: tuple[str, ...], words: tuple[str, ...], scope: Scope,
        flow: Flow, decides: bool, into: tuple[str, ...],
    ) -> Flow | None:  # fmt: skip
        """Read what a wrapper runs; None if it runs nothing."""
        how, *rest = row.runs.split()
        inside = scope.copy()
        inside.via = (*scope.via, name)
        if row.elsewhere:
            inside.elsewhere, inside.cwd = row.elsewhere, ""
            inside.environment[ELSEWHERE] = " ".join(words[:MAX_PLACE])
        skip = int(rest[1]) if rest[:1] == ["after"] else 0
        self.level += 1
        try:
            if how in ("rest", "after"):
                own = len(line.operands) - len(operands)
                inner = after_dashes(words) if how == "after" else wrapped_words(row, words, own + skip)
                if not inner:
                    return None
                before = words[1 : len(words) - len(inner)]
                inside.environment.update(assignment(word) for word in before if is_assignment(word))
                if row.items:
                    inner, flow = self._with_items(inner, line, flow), EMPTY
                for action in row.also:
                    self.findings.add(action.verb, action.name or inner[0], action.zone or "host", "one", name)
                return self.run(tuple(inner), inside, flow, decides, into)
            if how == "joined":
                text = " ".join(operands[skip:])
                if not text:
                    return None
                for action in row.also:
                    self.findings.add(action.verb, action.name or operands[0], action.zone or "host", "one", name)
                text = text.removesuffix(" Enter").removesuffix(" C-m")
                if "$" in text and name == "eval":
                    if text.startswith("$(") and text[2:].rstrip(")") in PREPARING:
                        return EMPTY
                    self.findings.conceal("eval of computed text")
                return self._nested(text, inside, name, flow, decides)
            if how == "value":
                values = [value for option in rest for value in line.values(option)]
                if not values:
                    return None
                if row.lists:
                    return self.run((*words[words.index(values[0]) :], *(operands[1:] or (".",))), inside, EMPTY)
                return self._nested(values[0], inside, name, flow, decides)
            self._each(rest, words, inside)
            return None
        finally:
            self.level -= 1

    def _each(self, options: list[str], words: tuple[str, ...], scope: Scope) -> None:
        """Read what `find` runs for everything that it lists, below each of its folders."""
        listed = found_by(words)
        at = 1
        while at < len(words):
            if words[at] in options:
                end = next((i for i in range(at + 1, len(words)) if words[i] in (";", "+")), len(words))
                inner: list[str] = []
                for word in words[at + 1 : end]:
                    inner += listed if word == "{}" else [word.replace("{}", listed[0])]
                if inner:
                    self.run(tuple(inner[:MAX_WORDS]), scope, EMPTY)
                at = end
            at += 1

    def _with_items(self, inner: tuple[str, ...], line: Line, flow: Flow) -> tuple[str, ...]:
        """A command of `xargs` with the words that come through the pipe."""
        items = flow.text.split()[:MAX_WORDS] if flow.text is not None else list(flow.items) or ["$(stdin)"]
        marks = line.values("-I") or (["{}"] if any("{}" in word for word in inner) else [])
        if not marks:
            return (*inner, *items)
        words: list[str] = []
        for word in inner:
            words += [word.replace(marks[0], item) for item in items] if marks[0] in word else [word]
        return tuple(words[:MAX_WORDS])

    def _nested(self, text: str, scope: Scope, by: str, flow: Flow = EMPTY, decides: bool = False) -> Flow:
        if text[:2] == "$(" and text[2:].rstrip(")") in SHOWERS:
            self.findings.add("execute", "a file's text", "workspace", "one", by)
            return EMPTY
        if text.startswith(("$(", "`")) and " " not in text:
            if (source := text[2:].rstrip(")")) in FETCHERS:
                self._runs_output(by, source)
            else:
                self.findings.conceal(f"{by} runs computed text")
            return EMPTY
        return self.read(text, scope, flow, decides)

    def _builtin(self, name: str, words: tuple[str, ...], scope: Scope, flow: Flow) -> Flow | None:
        """Programs that change what the shell knows; None for all others."""
        if name in ("cd", "pushd"):
            scope.cwd = _folder_after(words, scope.cwd)
        elif name == "set":
            for word in words[1:]:
                scope.fail_fast = scope.fail_fast or _is_fail_fast(word)
                scope.pipefail = scope.pipefail or word == "pipefail"
        elif name in ("read", "mapfile", "readarray"):
            for word in words[1:]:
                if word.isidentifier():
                    scope.set(word, flow.items or (f"${word}",))
        elif name == "trap" and len(words) > 2:
            self._nested(words[1], scope.copy(), name)
        elif name == "alias":
            for word in words[1:]:
                alias, equals, text = word.partition("=")
                if equals and (body := parse(text).body).items:
                    scope.functions[alias] = Group(body, False, [])
        else:
            return None
        return EMPTY

    # Code

    def _code(
        self, row: Row, name: str, line: Line, operands: tuple[str, ...], words: tuple[str, ...], scope: Scope,
        flow: Flow, decides: bool, into: tuple[str, ...],
    ) -> Flow | None:  # fmt: skip
        """Read the code that an interpreter gets; None if the row's actions say more about it."""
        language = row.code
        if row.coded == ("rest",):
            code = "\n".join(operands[1:] if language == "sql" else operands)
        elif language == "awk":
            code = operands[0] if operands and not line.has("-f") else ""
        else:
            code = "\n".join(value for option in row.coded for value in line.values(option))
        if language == "sql":
            files = [resolve(value, scope.cwd) for name_ in ("-f", "--file") for value in line.values(name_)]
            code = "\n".join(filter(None, (code, *(self.findings.text_of(path) for path in files))))
        if row.module and (module := line.values(row.module)):
            at = words.index(row.module) if row.module in words else 0
            return self.run((module[0], *words[at + 2 :]), scope, flow, decides, into)
        if not code and language != "awk" and (language == "sql" or operands[:1] in ((), ("-",)) or "-s" in words):
            code = self._fed(name, flow, language == "sql")
        if code:
            out = self._run_code(language, code, name, operands, scope, flow, decides)
            return None if language in NO_CODE or (row.does and language != "sh") else out
        if language in NO_CODE or not operands:
            return None
        script = operands[0]
        if name in ("source", "."):
            scope.environment[SOURCED] = f"{scope.environment.get(SOURCED, '')} {script}"
        self.findings.touch("execute", script, scope.cwd, name, elsewhere=scope.elsewhere)
        base = script.rpartition("/")[2]
        rest = words[words.index(script) :] if script in words else operands
        if row_for(base).known:
            self.run((base, *rest[1:]), scope, flow, decides, into)
        elif is_test(script):
            self._check("tests", name, words, (script,), scope, decides, into)
        self._run_file(resolve(script, scope.cwd), language, scope, rest, decides)
        return Flow(None, (name,))

    def _fed(self, name: str, flow: Flow, plain: bool) -> str:
        """The code that an interpreter gets through a pipe; `plain`: statements for a database hide nothing."""
        if flow.text is not None:
            return flow.text
        if flow.producers:
            fetched = next((each for each in flow.producers if each in FETCHERS), "")
            decoded = next((each for each in flow.producers if each in DECODERS), "")
            if not (fetched or decoded) and (SHOWERS.issuperset(flow.producers) or "/" in flow.producers[0] or plain):
                self.findings.add("execute", "a file's text", "workspace", "one", name)
                return ""
            self._runs_output(name, fetched or decoded or flow.producers[0])
        return ""

    def _runs_output(self, name: str, source: str) -> None:
        """A program runs what another one printed; if that was fetched, from the address that was fetched last."""
        fetched = source in FETCHERS
        what = "fetched" if fetched else "decoded" if source in DECODERS else "printed"
        self.findings.conceal(f"{name} runs what a program {what}: {source}")
        address = next((effect.target for effect in reversed(self.findings.effects) if effect.verb == "fetch"), "")
        self.findings.add("execute", f"output of {source}", "service" if fetched else "unknown", "one", name, address)

    def _run_code(
        self, language: str, code: str, name: str, operands: Items[str], scope: Scope, flow: Flow, decides: bool
    ) -> Flow:
        if language == "sh":
            inside = scope.copy()
            inside.via = (*scope.via, name)
            _set_arguments(inside, operands)
            return self._nested(code, inside, name, flow, decides)
        if language == "patch":
            self.findings.patch(code, scope.cwd, name)
        else:
            read_code(language, code, scope.cwd, self.findings, self.run_command(scope), name, scope.elsewhere)
        return Flow(None, (name,))

    def run_command(self, scope: Scope) -> Callable[[str | tuple[str, ...]], None]:
        """How code in another language runs a command: a text for a shell, or words."""

        def run(command: str | tuple[str, ...]) -> None:
            self.level += 1
            inside = scope.copy()
            if isinstance(command, str):
                self.read(command, inside)
            elif command:
                self.run(command, inside, EMPTY)
            self.level -= 1

        return run

    def _run_file(self, target: str, language: str, scope: Scope, words: tuple[str, ...], decides: bool) -> None:
        """Read a file that the call runs, if its text is known."""
        if target in self.findings.fetched:
            self._runs_output("it", FETCHERS[0])
        if scope.elsewhere or self.level > MAX_LEVEL or (text := self.findings.text_of(target)) is None:
            return
        self.level += 1
        self._steps = min(self._steps + len(text) // 4, MAX_STEPS)
        # A script that runs itself is read once.
        self.findings.hold(target, None)
        if language == "sh" and "python" in text[:64].split("\n", 1)[0]:
            language = "python"
        inside = scope.copy()
        if language == "sh":
            self._run_code(language, text, "script", words, inside, EMPTY, decides)
        else:
            inside.via = (*scope.via, "script")
            read_code(language, text, scope.cwd, self.findings, self.run_command(inside), words[0], scope.elsewhere)
        self.findings.hold(target, text)
        self.level -= 1


_parsed = lru_cache(64)(parse)


def _described(
    program: Program, row: Row, command: str, line: Line, operands: tuple[str, ...], scope: Scope
) -> Program:
    """The program with what its row and its words say about it."""
    files = operands[row.skip :] if row.skip and not any(map(line.has, row.unless)) else operands
    interprets = bool(row.code) and row.code not in NO_CODE
    deploys = "deploy" in program.name or any(map(_is_deploy, line.operands[:3]))
    return replace(
        program,
        environment=tuple(scope.environment.items()),
        executes=interprets or not row.known or _executes(row),
        command=command,
        targets=targets(files),
        script=files[0] if interprets and files and not _gives_code(row, line) else "",
        act=row.act or ("deploy" if deploys else ""),
    )


def _gives_code(row: Row, line: Line) -> bool:
    return any(map(line.has, (*row.coded, row.module)))


def _executes(row: Row) -> bool:
    return any(action.verb == "execute" for action in row.does)


def _with_verb(name: str, row: Row, operands: tuple[str, ...]) -> str:
    """A program with its subcommand, and what that is about: `git commit`, `kubectl get pods`, `npm run build`."""
    if not row.has_verb or not operands or not _is_verb(operands[0]):
        return name
    about = operands[1:2] if operands[0] in ABOUT and len(operands) > 1 and _is_verb(operands[1]) else ()
    return " ".join((name, operands[0], *about))


def _is_deploy(word: str) -> bool:
    return word == "deploy" or word.startswith("deploy:")


def _is_verb(word: str) -> bool:
    return word[:1].isalpha() and "/" not in word and "." not in word


ABOUT = frozenset(("run", "run-script", "compose", "get", "describe", "rollout", "pr", "issue", "stash", "lfs"))
"""Subcommands that say what they do only with the next word."""


def _deciding(body: Sequence, scope: Scope, decides: bool) -> list[bool]:
    """For each statement, whether the sequence succeeds only if it does: all that follows runs only after it."""
    items = body.items
    deciding, reaches = [False] * len(items), decides
    fails_fast = [scope.fail_fast] * len(items)
    if decides and len(items) > 1:
        fast = scope.fail_fast
        for at, (pipeline, _) in enumerate(items):
            fails_fast[at] = fast
            node = pipeline.stages[0]
            if isinstance(node, Command) and node.words[:1] == ["set"]:
                fast = fast or any(isinstance(word, str) and _is_fail_fast(word) for word in node.words)
    for at in range(len(items) - 1, -1, -1):
        operator = items[at][1]
        if at < len(items) - 1:
            reaches = (reaches and operator == "&&") or (decides and operator == ";" and fails_fast[at])
        deciding[at] = reaches and operator != "&" and (at == 0 or items[at - 1][1] != "||")
    return deciding


def _is_fail_fast(word: str) -> bool:
    return word == "errexit" or (word[:1] == "-" and word[:2] != "--" and "e" in word)


def _known_as(first: str) -> tuple[str, Row]:
    """A program's name and its row: `python3.12` is Python; `bin/test` is the project's own, not the shell's `test`."""
    name = (first.rpartition("/")[2].lstrip("\\") or first).removesuffix(".exe")
    row = row_for(name)
    if not row.known and (plain := name.rstrip("0123456789.")) != name and row_for(plain).code:
        name, row = plain, row_for(plain)
    if "/" in first and row == BUILTIN and not first.startswith(SYSTEM_PROGRAMS):
        row = UNKNOWN
    return name, row


def _folder_after(words: tuple[str, ...], cwd: str) -> str:
    """The working directory after a `cd`."""
    target = next((word for word in words[1:] if word[:1] != "-"), "~" if len(words) == 1 else "-")
    relative = target[:1] not in ("/", "~")
    if target[:1] == "$" or target == "-" or (relative and cwd == UNKNOWN_FOLDER):
        return UNKNOWN_FOLDER
    folder = resolve(target, cwd) if cwd or not relative else target
    return folder if len(folder) < MAX_FOLDER else UNKNOWN_FOLDER


def _set_arguments(scope: Scope, words: Items[str]) -> None:
    for at, word in enumerate(words[:10]):
        scope.variables[str(at)] = (word,)
    scope.variables["@"] = scope.variables["*"] = tuple(words[1:])

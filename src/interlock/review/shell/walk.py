"""SyntaxWalk: walks a script's syntax tree in the order in which a shell would run it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from msgspec.structs import replace
from tree_sitter import Node

from ...core import late_pattern
from .bounds import MAX_COMMANDS, MAX_DEPTH, MAX_MORE, MAX_NODES
from .flows import MAX_ELEMENTS, fed, keep
from .model import NOTHING, Command, PipeContent, Redirect, one_after_another, through_pipe
from .scope import ShellScope
from .secret_flow import secret_of
from .servers import REAL
from .simple import from_ascii
from .words import (
    SUBSCRIPT,
    breeds,
    expand,
    flatten,
    goes_on,
    is_fork_bomb,
    quoted,
    run_inner,
    source,
    source_bytes,
    without_back_quotes,
)

MAX_VALUES = 262_144
"""Characters of all variable values in a script; beyond that each value is truncated."""

MAX_CUT_VALUE = 64

MAX_LOOP_VALUES = 64
"""Values of a `for` and lines of a `while read` that are followed."""


PRINTING = frozenset(("echo", "printf", "cat", "true", ":", "test", "[", "ls", "pwd", "date", "sleep", "grep", "wc"))
"""Programs that only print or test something, unless their output is redirected."""

DESTROYING = frozenset(
    ("rm", "dd", "mkfs", "shred", "unlink", "truncate", "sudo", "eval", "kubectl", "aws", "psql", "mysql")
)
"""Programs that may destroy what nothing brings back: a script is not allowed if one of them remains unread."""


class SyntaxWalk(ABC):
    """Splits a tree into commands whose words are known, and passes each to `execute`."""

    complete = True
    evidence = ""
    _nodes = MAX_NODES
    _depth = 0
    _listeners = 0
    _value_characters = MAX_VALUES

    def __init__(self, level: int = 0) -> None:
        self.commands: list[Command] = []
        self._level = level

    @abstractmethod
    def execute(
        self, words: list[str], scope: ShellScope, flow: PipeContent, *, redirects: tuple[Redirect, ...] = (),
        assignments: tuple[tuple[str, str], ...] = (), filtered: bool = False, span: tuple[int, int] | None = None,
    ) -> PipeContent:  # fmt: skip
        """Run one command."""

    @abstractmethod
    def nested(self, text: str, scope: ShellScope, flow: PipeContent) -> PipeContent:
        """Read a script inside the script."""

    def add(self, command: Command) -> None:
        """Record a command."""
        kept = len(self.commands)
        if kept >= MAX_COMMANDS:
            self.complete = False
            if kept > MAX_COMMANDS + MAX_MORE or (command.program in PRINTING and not command.redirects):
                return
            if kept == MAX_COMMANDS + MAX_MORE:
                if command.program not in DESTROYING:
                    return
                command = Command(program="unread", cwd=command.cwd)
        self.commands.append(replace(command, evidence=self.evidence) if self.evidence else command)

    def run(self, node: Node, scope: ShellScope, flow: PipeContent) -> PipeContent:
        """Run one statement; return what continues through the pipe."""
        self._nodes -= 1
        if self._nodes < 0 or self._depth >= MAX_DEPTH:
            self.complete = False
            return NOTHING
        kind = node.type
        if kind == "command":
            return self._command(node, scope, flow, ())
        self._depth += 1
        try:
            return self._compound(kind, node, scope, flow)
        finally:
            self._depth -= 1

    def _command(
        self, node: Node, scope: ShellScope, flow: PipeContent, redirects: tuple[Redirect, ...], *more: str
    ) -> PipeContent:
        words: list[str] = []
        assignments: list[tuple[str, str]] = []
        before = node if node.end_point[0] > node.start_point[0] else None
        for child in node.named_children:
            kind, count = child.type, len(words)
            if kind == "word":
                text = source(child)
                words += expand(child, scope, self._substitute) if "\\" in text or "{" in text else (text,)
            elif kind == "string" or kind == "raw_string" or kind == "concatenation":
                words += expand(child, scope, self._substitute)
            elif kind == "command_name":
                words += expand(child.children[0], scope, self._substitute)
            elif kind == "variable_assignment":
                assignments.append(self._assignment(child, scope))
            elif kind == "file_redirect":
                target, *rest = self._targets(child, scope)
                redirects += (target,)
                words += [redirect.target for redirect in rest]
            elif kind == "herestring_redirect":
                flow = PipeContent(quoted(child.named_children[-1], scope, self._substitute))
            elif kind != "comment":
                words += expand(child, scope, self._substitute)
            if before is not None:
                if 0 < count < len(words) and goes_on(before, child):
                    words[count - 1] += words.pop(count)
                before = child
        words += more
        if not words:
            scope.variables.update(assignments)
            self._assigned(assignments, scope)
            return NOTHING
        span = None if self._level else (node.start_byte, node.end_byte)
        return self.execute(words, scope, flow, redirects=redirects, assignments=tuple(assignments), span=span)

    def _compound(self, kind: str, node: Node, scope: ShellScope, flow: PipeContent) -> PipeContent:
        if kind == "list":
            outs = [self.run(child, scope, flow) for child in flatten(node)]
            return self.together(outs, either=self._listeners > 0 and b"||" in source_bytes(node))
        if kind == "pipeline":
            self._listeners += 1
            for child in node.named_children:
                flow = through_pipe(self.run(child, scope, flow))
            self._listeners -= 1
            return flow
        if kind == "redirected_statement":
            return self._redirected(node, scope, flow)
        if kind == "variable_assignment":
            name, value = self._assignment(node, scope)
            scope.variables[name] = value
            self._assigned([(name, value)], scope)
            return NOTHING
        if kind == "subshell" or kind == "command_substitution" or kind == "process_substitution":
            return self._each(node, scope.copy(), flow)
        if kind == "function_definition":
            name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if name_node is not None and body is not None:
                name = source(name_node)
                scope.functions[name] = body
                if is_fork_bomb(name, source(body)):
                    self.add(Command(program="fork-bomb", args=(name,), via=scope.via))
            return NOTHING
        if kind == "for_statement":
            return self._for(node, scope, flow)
        if kind == "while_statement":
            condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
            if condition is not None and body is not None and breeds(source(condition), source(body)):
                self.add(Command(program="fork-bomb", args=("while",), via=scope.via))
            return self._each(node, scope, flow) if flow.text is None else self._while(node, scope, flow.text)
        if kind == "declaration_command" or kind == "unset_command":
            return self._declaration(node, scope, flow)
        if kind == "ERROR":
            return self._broken(node, scope, flow)
        if kind == "raw_string" and SUBSCRIPT.match(source(node)[1:]) is not None:
            return self.nested(f': "{source(node)[1:-1]}"', scope, NOTHING)
        return self._each(node, scope, flow)

    def _each(self, node: Node, scope: ShellScope, flow: PipeContent) -> PipeContent:
        children = node.named_children
        if len(children) == 1:
            return self.run(children[0], scope, flow)
        return self.together([self.run(child, scope, flow) for child in children])

    def together(self, outs: list[PipeContent], *, either: bool = False) -> PipeContent:
        """The output of consecutive statements, or of either with `||`, if the output is used."""
        if not self._listeners:
            return outs[-1] if outs else NOTHING
        return one_after_another(outs, either=either)

    def _redirected(self, node: Node, scope: ShellScope, flow: PipeContent) -> PipeContent:
        """A statement with redirections; the parser nests the words after a heredoc below the heredoc."""
        redirects: tuple[Redirect, ...] = ()
        more: list[str] = []
        after: list[Node] = []
        body = node.child_by_field_name("body")
        for child in node.named_children:
            if child.type == "heredoc_redirect":
                for part in child.named_children:
                    if part.type == "heredoc_body":
                        flow = PipeContent(self._heredoc(child, part, scope))
                    elif part.type == "file_redirect":
                        target, *rest = self._targets(part, scope)
                        redirects += (target,)
                        more += [redirect.target for redirect in rest]
                    elif part.type not in ("heredoc_start", "heredoc_end", "file_descriptor"):
                        after.append(part)
            elif child.type == "file_redirect":
                target, *rest = self._targets(child, scope)
                redirects += (target,)
                more += [redirect.target for redirect in rest]
            elif child.type == "herestring_redirect":
                flow = PipeContent(quoted(child.named_children[-1], scope, self._substitute))
        if body is None:
            out = NOTHING
            self.add(Command(program=":", redirects=redirects, via=scope.via, cwd=scope.cwd, stdin=flow.text))
        elif body.type == "command":
            out = self._command(body, scope, flow, redirects, *more)
        else:
            self._listeners += 1
            out = through_pipe(self.run(body, scope, fed(redirects, scope, flow)))
            self._listeners -= 1
            self.add(Command(program=":", redirects=redirects, via=scope.via, cwd=scope.cwd))
            keep(redirects, scope, out)
        for part in after:
            out = self.run(part, scope, out)
        return out

    def _targets(self, node: Node, scope: ShellScope) -> list[Redirect]:
        """The target of a redirection, then words that the parser treated as further targets."""
        op = next((source(child) for child in node.children if not child.is_named), ">")
        found = [
            Redirect(op, word)
            for child in node.named_children
            if child.type != "file_descriptor"
            for word in expand(child, scope, self._substitute) or [""]
        ]
        return found or [Redirect(op, "")]

    def _heredoc(self, redirect: Node, body: Node, scope: ShellScope) -> str:
        start = next((source(child) for child in redirect.named_children if child.type == "heredoc_start"), "")
        text = source(body)
        if start[:1] in ("'", '"', "\\") or ("$" not in text and "`" not in text):
            return text
        if "`" in text and (modern := without_back_quotes(text)) != text:
            # The parser treats back quotes in a heredoc as text; it supports the other spelling.
            return self.nested(f"cat <<{start}\n{modern}{start}", scope, NOTHING).text or text
        begin, parts, at = body.start_byte, [], 0
        raw = source_bytes(body).decode("ascii")
        for child in body.named_children:
            if child.type != "heredoc_content":
                parts.append(from_ascii(raw[at : child.start_byte - begin]))
                parts.append(quoted(child, scope, self._substitute))
                at = child.end_byte - begin
        return "".join(parts) + from_ascii(raw[at:])

    def _assignment(self, node: Node, scope: ShellScope) -> tuple[str, str]:
        first = node.children[0]
        if first.type == "subscript":
            run_inner(first, scope, self._substitute)
        name = source(first)
        value = node.child_by_field_name("value")
        if value is None:
            return name, ""
        more = node.children[1].type == "+="
        if value.type == "array":
            words = tuple(word for child in value.named_children for word in expand(child, scope, self._substitute))
            scope.arrays[name] = ((*scope.arrays.get(name, ()), *words) if more else words)[:MAX_ELEMENTS]
            return name, " ".join(scope.arrays[name])
        text = quoted(value, scope, self._substitute)
        return name, self._afford((scope.value(name) or "") + text if more else text)

    def _afford(self, value: str) -> str:
        """A variable's value, truncated if all values together are too long, as with one that doubles itself."""
        self._value_characters -= len(value)
        if self._value_characters >= 0:
            return value
        self.complete = False
        return value[:MAX_CUT_VALUE]

    def _assigned(self, assignments: list[tuple[str, str]], scope: ShellScope) -> None:
        """Record variables set for the shell itself, which rules match as the program `=`; some values are commands."""
        for name, value in assignments:
            self.add(Command(program="=", args=(f"{name}={value}",), via=scope.via, cwd=scope.cwd))

    def _declaration(self, node: Node, scope: ShellScope, flow: PipeContent) -> PipeContent:
        """`export`, `local`, `declare`, `unset`: sets variables, and is itself a command."""
        words = [source(node.children[0])]
        for child in node.named_children:
            if child.type == "variable_assignment":
                name, value = self._assignment(child, scope)
                scope.variables[name] = value
                words.append(f"{name}={value}")
            else:
                words += [source(child)] if child.type == "variable_name" else expand(child, scope, self._substitute)
        return self.execute(words, scope, flow)

    def _for(self, node: Node, scope: ShellScope, flow: PipeContent) -> PipeContent:
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if variable is None or body is None:
            return self._each(node, scope, flow)
        name = source(variable)
        values = [
            word for child in node.children_by_field_name("value") for word in expand(child, scope, self._substitute)
        ]
        outs = []
        for value in values[:MAX_LOOP_VALUES] or [f"${name}"]:
            scope.variables[name] = value
            outs.append(self.run(body, scope, flow))
        return self.together(outs)

    def _while(self, node: Node, scope: ShellScope, text: str) -> PipeContent:
        """A loop with a known input text: `read` gets one line after the other."""
        condition = node.child_by_field_name("condition")
        if condition is None or b"read" not in source_bytes(condition):
            return self._each(node, scope, PipeContent(text))
        lines = [line for line in text.split("\n") if line.strip()][:MAX_LOOP_VALUES]
        return self.together([self._each(node, scope, PipeContent(line)) for line in lines or [text]])

    def _broken(self, node: Node, scope: ShellScope, flow: PipeContent) -> PipeContent:
        """A part that does not parse: its words may still be a command."""
        self.complete = False
        words: list[str] = []
        for child in node.named_children:
            if child.type in ("word", "string", "raw_string", "concatenation", "number", "command_name"):
                inner = child.children[0] if child.type == "command_name" else child
                words += expand(inner, scope, self._substitute)
            else:
                self.run(child, scope, flow)
        return self.execute(words, scope, flow) if words else NOTHING

    def _substitute(self, node: Node, scope: ShellScope) -> str:
        """The output of `$(...)` or `<(...)`: its text if known, otherwise the program that produces it."""
        count = len(self.commands)
        self._listeners += 1
        out = self.run(node, scope, NOTHING)
        self._listeners -= 1
        mark = "<(" if node.type == "process_substitution" else "$("
        if mark == "$(" and out.text is not None:
            return out.text.rstrip("\n")
        # Of the files that a search lists, only those of an unfiltered one are known.
        listed = [item for item in out.items if item.endswith("/*")] if out.text is None and mark == "<(" else []
        printed = "\n".join(listed) or out.text
        if printed:
            # The output is known, so treat it like a file that the script has written.
            name = f"/dev/fd/{63 - len(scope.files.made)}"
            scope.remember(name, printed)
            return name
        makers = out.sources or tuple(command.program for command in self.commands[count:][-1:])
        if len(self.commands) > count and picks_containers(self.commands[-1]):
            makers = ("chosen", *makers)
        # Only a secret matters; one word, so that word splitting leaves it whole.
        return f"{mark}{secret_of(makers) or ' '.join(makers)})"


def picks_containers(command: Command) -> bool:
    """Whether a command lists containers or images by name: `docker ps -q --filter name=x`."""
    return command.program in ENGINES and any(
        PICKED.match(arg)
        and not REAL.search(arg)
        and (at == 0 or command.args[at - 1] in ("-f", "--filter") or "filter" in arg)
        for at, arg in enumerate(command.args)
    )


ENGINES = frozenset(("docker", "podman", "nerdctl"))
PICKED = late_pattern(r"(?:--filter=|-f)?(?:name|label|ancestor|network|volume|reference)=[\^/]{0,2}\w[\w.-]+")

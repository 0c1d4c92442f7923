"""Shell syntax: a script as a tree of statements, in one pass over its text.

Every character is read once, so the time is proportional to the length, whatever the text is. As in bash, what comes
before a syntax error is read and what comes after it is not: `Script.error` says where.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

MAX_DEPTH = 48
"""Nesting of substitutions, groups, loops and functions."""


MAX_COMMANDS = 30_000
MAX_ARITHMETIC = 8_192
"""Characters between the parentheses of an arithmetic expression or a pattern."""


class Variable(NamedTuple):
    """`$name`, `${name}` or `${name OPERATOR operand}`."""

    name: str
    operator: str
    operand: Word
    quoted: bool


class Substitution(NamedTuple):
    """`$(...)`, or with `<(...)` and `>(...)` a file name that stands for it."""

    body: Sequence
    quoted: bool
    as_file: str = ""


class Arithmetic(NamedTuple):
    text: str


class Quoted(str):
    """Text with a quoted brace, which is no list of choices."""

    __slots__ = ()


Part: TypeAlias = str | Variable | Substitution | Arithmetic
Word: TypeAlias = str | tuple[Part, ...]
"""A word without expansions is a plain string, its quotes removed."""


class Redirect(NamedTuple):
    """`OPERATOR target`; a heredoc's target is its body."""

    descriptor: str
    operator: str
    target: Word


class Assignment(NamedTuple):
    name: str
    value: Word
    array: tuple[Word, ...] | None = None
    adds: bool = False


class Command(NamedTuple):
    """A simple command; `start` and `end` are its place in the text."""

    assignments: list[Assignment]
    words: list[Word]
    redirects: list[Redirect]
    start: int
    end: int


class Pipeline(NamedTuple):
    stages: list[Node]
    negated: bool


class Sequence(NamedTuple):
    """Statements, each with the operator after it: `;`, `&`, `&&` or `||`."""

    items: list[tuple[Pipeline, str]]


class Group(NamedTuple):
    """`{ ...; }` or `( ... )`."""

    body: Sequence
    subshell: bool
    redirects: list[Redirect]


class Branches(NamedTuple):
    """`if`, `case`, `[[ ]]`, `(( ))`: parts of which some run; `words` are evaluated first."""

    words: list[Word]
    conditions: list[Sequence]
    bodies: list[Sequence]
    redirects: list[Redirect]


class Loop(NamedTuple):
    variable: str
    values: list[Word] | None
    condition: Sequence | None
    body: Sequence
    redirects: list[Redirect]


class Function(NamedTuple):
    name: str
    body: Node


Node: TypeAlias = Command | Group | Branches | Loop | Function


class Script(NamedTuple):
    body: Sequence
    error: str


TOO_DEEP = "nested too deeply"
TOO_MUCH = "too many commands"
UNREADABLE = (TOO_DEEP, TOO_MUCH)
"""Errors of ours: bash would run what follows."""


class BrokenSyntax(Exception):
    """The text is not shell."""


BLANKS = frozenset((" ", "\t", "\r", "\\", "#"))
BLANK = re.compile(r"(?:[ \t\r]+|\\\n)*")
PLAIN = re.compile(r"[\w./:=@%+,^~\[\]?*-]+(?=[\s;&|)]|\Z)")
SINGLE = re.compile(r"'([^']*)'")
DOUBLE = re.compile(r'"([^"\\$`]*)"')
LITERAL = re.compile(r"[^\s'\"\\$`;&|<>()?*+@!]+")
IN_QUOTES = re.compile(r'[^"\\$`]+')
NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
LONG_NAME = re.compile(r"[!#]?(?:[A-Za-z_]\w*|\d+|[@*#?$!-])(?:\[[^\]\n]{0,200}\])?")
OPERATOR = re.compile(r":?[-=+?]|##?|%%?|/[/#%]?|\^\^?|,,?|:|@")
ASSIGN = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]\n]{0,200}\])?(\+?)=")
REDIRECT = re.compile(r"(\d*|\{\w+\})(<<<|<<-?|<>|>>|>\||<&|>&|&>>|&>|<(?!\()|>(?!\())")
FUNCTION = re.compile(r"([\w.:+@-]+)[ \t]*\([ \t]*\)\s*")
ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL)
ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
CONTROL = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
CLOSING = frozenset(("then", "else", "elif", "fi", "do", "done", "esac", "}"))
DECLARING = frozenset(("export", "declare", "local", "readonly", "typeset"))
CLOSED = re.compile(r"\}(?=[\s;&|)]|\Z)")


def parse(text: str) -> Script:
    """The statements of a script, up to the first line that is not shell."""
    parser = Parser(text)
    items: list[tuple[Pipeline, str]] = []
    error = ""
    try:
        parser.statements(items, frozenset(), 0)
        if parser.at < len(text):
            error = f"unexpected {text[parser.at : parser.at + 12]!r}"
    except BrokenSyntax as broken:
        error = str(broken)
    return Script(Sequence(items), error)


def unescape_ansi(text: str) -> str:
    """The escapes of `$'...'` and `printf`."""

    def one(found: re.Match[str]) -> str:
        for group, base in ((1, 16), (2, 16), (3, 16), (4, 8)):
            if found[group]:
                point = int(found[group], base)
                return chr(point) if point < 0x110000 and not 0xD800 <= point < 0xE000 else "\ufffd"
        return CONTROL.get(found[5], found[5])

    return ESCAPE.sub(one, text) if "\\" in text else text


class Parser:
    """A recursive descent over the text; `at` is the next character."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self._commands = text, 0, 0
        self._heredocs: list[tuple[list[Redirect], int, str, bool, bool]] = []

    # Statements

    def statements(self, items: list[tuple[Pipeline, str]], ends: frozenset[str], depth: int) -> None:
        """Statements up to a word in `ends`, a `)` or the end of the text."""
        if depth > MAX_DEPTH:
            raise BrokenSyntax(TOO_DEEP)
        text = self.text
        while True:
            self._newlines()
            if self.at >= len(text) or text[self.at] == ")" or text.startswith(";;", self.at) or self._comes(ends):
                return
            pipeline = self._pipeline(depth)
            self._blank()
            two = text[self.at : self.at + 2]
            if two in ("&&", "||"):
                operator, self.at = two, self.at + 2
                self._newlines()
            elif two == ";;":
                operator = ";"
            elif two[:1] in (";", "&"):
                operator, self.at = two[:1], self.at + 1
            elif two[:1] in ("\n", ")", "") or (pipeline.stages and not isinstance(pipeline.stages[-1], Command)):
                operator = ";"
            else:
                raise BrokenSyntax(f"unexpected {two!r}")
            items.append((pipeline, operator))

    def _body(self, ends: str, depth: int) -> Sequence:
        items: list[tuple[Pipeline, str]] = []
        self.statements(items, frozenset(ends.split()), depth + 1)
        return Sequence(items)

    def _pipeline(self, depth: int) -> Pipeline:
        text, negated = self.text, False
        stages: list[Node] = []
        while True:
            self._newlines() if stages else self._blank()
            while text.startswith("!", self.at) and text[self.at + 1 : self.at + 2] in (" ", "\t", "\n", "("):
                negated, self.at = not negated, self.at + 1
                self._blank()
            if text.startswith("time", self.at) and text[self.at + 4 : self.at + 5] in (" ", "\t"):
                self.at += 4
                self._blank()
                if text.startswith("-p ", self.at):
                    self.at += 3
                    self._blank()
            stages.append(self._stage(depth))
            self._blank()
            if not text.startswith("|", self.at) or text.startswith("||", self.at):
                return Pipeline(stages, negated)
            self.at += 2 if text.startswith("|&", self.at) else 1

    def _stage(self, depth: int) -> Node:
        text, start = self.text, self.at
        first = text[start : start + 1]
        if first == "(":
            if text.startswith("((", start) and (inner := self._balanced(start + 2, "))")) is not None:
                return Branches([(Arithmetic(inner),)], [], [], self._redirects(depth))
            self.at += 1
            body = self._body("", depth)
            self._expect(")")
            return Group(body, True, self._redirects(depth))
        if first == "{" and text[start + 1 : start + 2].isspace():
            self.at += 1
            body = self._body("}", depth)
            self._expect("}")
            return Group(body, False, self._redirects(depth))
        found = PLAIN.match(text, start)
        word = found[0] if found is not None else ""
        if word == "if":
            return self._if(depth)
        if word in ("while", "until"):
            self.at += len(word)
            condition = self._body("do", depth)
            return Loop("", None, condition, self._do(depth), self._redirects(depth))
        if word in ("for", "select"):
            return self._for(len(word), depth)
        if word == "case":
            return self._case(depth)
        if word == "[[":
            return self._test(depth)
        if word == "function":
            self.at += 8
            self._blank()
            name = self._plain_word(depth)
            self._blank()
            if text.startswith("(", self.at):
                self.at += 1
                self._blank()
                self._expect(")")
            self._newlines()
            return Function(name, self._stage(depth + 1))
        if word in CLOSING or CLOSED.match(text, start):
            raise BrokenSyntax(f"unexpected {word!r}")
        function = FUNCTION.match(text, start)
        if function is not None:
            self.at = function.end()
            if depth > MAX_DEPTH:
                raise BrokenSyntax(TOO_DEEP)
            return Function(function[1], self._stage(depth + 1))
        return self._command(depth)

    def _if(self, depth: int) -> Branches:
        conditions, bodies = [], []
        while self._take("if") or self._take("elif"):
            conditions.append(self._body("then", depth))
            self._expect("then")
            bodies.append(self._body("elif else fi", depth))
        if self._take("else"):
            bodies.append(self._body("fi", depth))
        self._expect("fi")
        return Branches([], conditions, bodies, self._redirects(depth))

    def _do(self, depth: int) -> Sequence:
        self._newlines()
        if self._take("{"):
            body = self._body("}", depth)
            self._expect("}")
            return body
        self._expect("do")
        body = self._body("done", depth)
        self._expect("done")
        return body

    def _for(self, skip: int, depth: int) -> Loop:
        text = self.text
        self.at += skip
        self._blank()
        if text.startswith("((", self.at):
            inner = self._balanced(self.at + 2, "))")
            if inner is None:
                raise BrokenSyntax("unexpected '(('")
            self._separator()
            return Loop("", [(Arithmetic(inner),)], None, self._do(depth), self._redirects(depth))
        name = self._plain_word(depth)
        self._newlines()
        values: list[Word] | None = None
        if self._take("in"):
            values = []
            while True:
                self._blank()
                if self.at >= len(text) or text[self.at] in ";\n":
                    break
                values.append(self._word(depth))
        self._separator()
        return Loop(name, values, None, self._do(depth), self._redirects(depth))

    def _case(self, depth: int) -> Branches:
        self.at += 4
        self._blank()
        words, bodies = [self._word(depth)], list[Sequence]()
        self._newlines()
        self._expect("in")
        while True:
            self._newlines()
            if self._take("esac"):
                return Branches(words, [], bodies, self._redirects(depth))
            self._take_text("(")
            while True:
                self._blank()
                self._word(depth)
                self._blank()
                if not self._take_text("|"):
                    break
            self._expect(")")
            bodies.append(self._body("esac", depth))
            self._newlines()
            for end in (";;&", ";;", ";&"):
                if self._take_text(end):
                    break

    def _test(self, depth: int) -> Branches:
        text, words = self.text, list[Word]()
        self.at += 2
        while True:
            self._newlines()
            if self.at >= len(text):
                raise BrokenSyntax("[[ without ]]")
            if text.startswith("]]", self.at):
                self.at += 2
                return Branches(words, [], [], self._redirects(depth))
            if text[self.at] in "&|()<>!;":
                self.at += 1
            else:
                words.append(self._word(depth))

    def _command(self, depth: int) -> Command:
        text, begin = self.text, self.at
        self._commands += 1
        if self._commands > MAX_COMMANDS:
            raise BrokenSyntax(TOO_MUCH)
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        declaring = False
        end = begin
        while True:
            end = self.at
            self._blank()
            at = self.at
            found = PLAIN.match(text, at)
            if found is not None:
                word = found[0]
                if "=" in word and (declaring or not words) and (assigned := ASSIGN.match(word)) is not None:
                    assignments.append(Assignment(assigned[1], word[assigned.end() :], None, bool(assigned[2])))
                else:
                    if not words:
                        declaring = word in DECLARING
                    words.append(word)
                self.at = found.end()
                continue
            if at >= len(text):
                break
            char = text[at]
            if char in "\n;|)" or (char == "&" and not text.startswith("&>", at)):
                break
            if char == "#":
                self._comment()
                break
            if char in "<>&0123456789{" and (operator := REDIRECT.match(text, at)) is not None:
                self._redirect(operator, redirects, depth)
                continue
            if (declaring or not words) and (assigned := ASSIGN.match(text, at)) is not None:
                self.at = assigned.end()
                array = self._array(depth) if text.startswith("(", self.at) else None
                value: Word = "" if array is not None or self._at_end() else self._word(depth)
                assignments.append(Assignment(assigned[1], value, array, bool(assigned[2])))
                continue
            if char == "(":
                raise BrokenSyntax("unexpected '('")
            words.append(self._word(depth))
        if not words and not assignments and not redirects:
            raise BrokenSyntax(f"unexpected {text[self.at : self.at + 2]!r}")
        return Command(assignments, words, redirects, begin, min(end, len(text)))

    def _array(self, depth: int) -> tuple[Word, ...]:
        self.at += 1
        values: list[Word] = []
        while True:
            self._newlines()
            if self._take_text(")"):
                return tuple(values)
            if self.at >= len(self.text) or self.text[self.at] in ";&|<>(":
                raise BrokenSyntax("array without end")
            values.append(self._word(depth))

    def _redirects(self, depth: int) -> list[Redirect]:
        redirects: list[Redirect] = []
        while True:
            self._blank()
            operator = REDIRECT.match(self.text, self.at)
            if operator is None:
                return redirects
            self._redirect(operator, redirects, depth)

    def _redirect(self, found: re.Match[str], redirects: list[Redirect], depth: int) -> None:
        descriptor, operator = found.groups()
        self.at = found.end()
        self._blank()
        start = self.at
        if self._at_end() and self.text[start : start + 2] not in ("<(", ">("):
            raise BrokenSyntax(f"{operator} without a file")
        target = self._word(depth)
        if operator in ("<<", "<<-"):
            raw = self.text[start : self.at]
            literal = any(mark in raw for mark in "'\"\\")
            self._heredocs.append(
                (redirects, len(redirects), target if isinstance(target, str) else raw, literal, operator == "<<-")
            )
        redirects.append(Redirect(descriptor, operator, target))

    def _read_heredocs(self) -> None:
        """The bodies of the heredocs that were announced on the line that just ended."""
        waiting, self._heredocs = self._heredocs, []
        for redirects, index, mark, literal, indented in waiting:
            tabs = "\t*" if indented else ""
            end = re.compile(rf"^{tabs}{re.escape(mark)}$", re.MULTILINE).search(self.text, self.at)
            body = self.text[self.at : end.start()] if end is not None else self.text[self.at :]
            self.at = end.end() if end is not None else len(self.text)
            if end is not None and self.at < len(self.text):
                self.at += 1
            if indented:
                body = re.sub(r"(?m)^\t+", "", body)
            redirects[index] = Redirect(redirects[index].descriptor, "<<", body if literal else expandable(body))

    # Words

    def _word(self, depth: int) -> Word:
        text = self.text
        found = PLAIN.match(text, self.at)
        if found is not None:
            self.at = found.end()
            return found[0]
        parts: list[Part] = []
        start = self.at
        while self.at < len(text):
            char = text[self.at]
            if char == "'":
                single = SINGLE.match(text, self.at)
                if single is None:
                    raise BrokenSyntax("quote without end")
                parts.append(_quoted(single[1]))
                self.at = single.end()
            elif char == '"':
                self._double(parts, depth)
            elif char == "\\":
                escaped = text[self.at + 1 : self.at + 2]
                if escaped != "\n":
                    parts.append(escaped)
                self.at += 2
            elif char == "$":
                self._dollar(parts, depth, False)
            elif char == "`":
                parts.append(self._backquoted(depth, False))
            elif char in "<>" and text.startswith("(", self.at + 1):
                self.at += 2
                body = self._body("", depth)
                self._expect(")")
                parts.append(Substitution(body, True, char))
            elif char in "?*+@!" and text.startswith("(", self.at + 1):
                inner = self._balanced(self.at + 2, ")")
                if inner is None:
                    raise BrokenSyntax("unexpected '('")
                parts.append(f"{char}({inner})")
            elif char in "?*+@!":
                parts.append(char)
                self.at += 1
            else:
                literal = LITERAL.match(text, self.at)
                if literal is None:
                    break
                parts.append(literal[0])
                self.at = literal.end()
        if self.at == start:
            raise BrokenSyntax(f"unexpected {text[self.at : self.at + 2]!r}")
        if all(isinstance(part, str) for part in parts):
            joined = "".join(parts)  # type: ignore[arg-type]
            return Quoted(joined) if any(isinstance(part, Quoted) for part in parts) else joined
        return tuple(parts)

    def _double(self, parts: list[Part], depth: int) -> None:
        text = self.text
        plain = DOUBLE.match(text, self.at)
        if plain is not None:
            parts.append(_quoted(plain[1]))
            self.at = plain.end()
            return
        self.at += 1
        while True:
            if self.at >= len(text):
                raise BrokenSyntax("quote without end")
            char = text[self.at]
            if char == '"':
                self.at += 1
                return
            if char == "\\":
                escaped = text[self.at + 1 : self.at + 2]
                parts.append("" if escaped == "\n" else escaped if escaped in '$`"\\' else char + escaped)
                self.at += 2
            elif char == "$":
                self._dollar(parts, depth, True)
            elif char == "`":
                parts.append(self._backquoted(depth, True))
            else:
                run = IN_QUOTES.match(text, self.at)
                assert run is not None
                parts.append(_quoted(run[0]))
                self.at = run.end()

    def _dollar(self, parts: list[Part], depth: int, quoted: bool) -> None:
        if depth > MAX_DEPTH:
            raise BrokenSyntax(TOO_DEEP)
        text, at = self.text, self.at
        if text.startswith("$((", at) and (inner := self._balanced(at + 3, "))")) is not None:
            parts.append(Arithmetic(inner))
        elif text.startswith("$(", at):
            self.at += 2
            body = self._body("", depth)
            self._expect(")")
            parts.append(Substitution(body, quoted))
        elif text.startswith("${", at):
            self.at += 2
            parts.append(self._parameter(depth + 1, quoted))
        elif not quoted and (ansi := ANSI.match(text, at)) is not None:
            parts.append(unescape_ansi(ansi[1]))
            self.at = ansi.end()
        elif not quoted and text.startswith('$"', at):
            self.at += 1
        elif (name := NAME.match(text, at + 1)) is not None:
            parts.append(Variable(name[0], "", "", quoted))
            self.at = name.end()
        else:
            parts.append("$")
            self.at += 1

    def _parameter(self, depth: int, quoted: bool) -> Variable:
        """The rest of `${...}`."""
        text = self.text
        name = LONG_NAME.match(text, self.at)
        if name is None:
            # Bash finds out when it runs: `${{ x }}`.
            end = text.find("}", self.at)
            self.at = end + 1 if end >= 0 else len(text)
            return Variable("?", "", "", quoted)
        self.at = name.end()
        operator = OPERATOR.match(text, self.at)
        if operator is not None:
            self.at = operator.end()
        operand: list[Part] = []
        while not text.startswith("}", self.at):
            if self.at >= len(text):
                raise BrokenSyntax("${ without }")
            char = text[self.at]
            if char == "'" and not quoted and (single := SINGLE.match(text, self.at)) is not None:
                operand.append(single[1])
                self.at = single.end()
            elif char == '"':
                self._double(operand, depth)
            elif char == "$":
                self._dollar(operand, depth, quoted)
            elif char == "`":
                operand.append(self._backquoted(depth, quoted))
            elif char == "\\":
                operand.append(text[self.at + 1 : self.at + 2])
                self.at += 2
            else:
                operand.append(char)
                self.at += 1
        self.at += 1
        plain = all(isinstance(part, str) for part in operand)
        value: Word = "".join(operand) if plain else tuple(operand)  # type: ignore[arg-type]
        return Variable(name[0], operator[0] if operator is not None else "", value, quoted)

    def _backquoted(self, depth: int, quoted: bool) -> Substitution:
        text, at, code = self.text, self.at + 1, []
        while at < len(text) and text[at] != "`":
            if text[at] == "\\" and text[at + 1 : at + 2] in ("`", "\\", "$"):
                at += 1
            code.append(text[at : at + 1])
            at += 1
        if at >= len(text):
            raise BrokenSyntax("` without end")
        self.at = at + 1
        inner = Parser("".join(code))
        return Substitution(inner._body("", depth), quoted)

    # Helpers

    def _balanced(self, start: int, end: str) -> str | None:
        """The text up to `end` outside parentheses, and go behind it; None if there is no such end."""
        text, level = self.text, 0
        for found in BRACKET.finditer(text, start, start + MAX_ARITHMETIC):
            char = found[0]
            if char == "(":
                level += 1
            elif level:
                level -= 1
            elif text.startswith(end, found.start()):
                self.at = found.start() + len(end)
                return text[start : found.start()]
            else:
                return None
        return None

    def _blank(self) -> None:
        if self.text[self.at : self.at + 1] not in BLANKS:
            return
        found = BLANK.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        if self.text.startswith("#", self.at) and (self.at == 0 or self.text[self.at - 1] in " \t\n;&|("):
            self._comment()

    def _comment(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = end if end >= 0 else len(self.text)

    def _newlines(self) -> None:
        while True:
            self._blank()
            if not self.text.startswith("\n", self.at):
                return
            self.at += 1
            if self._heredocs:
                self._read_heredocs()

    def _separator(self) -> None:
        self._blank()
        self._take_text(";")
        self._newlines()

    def _comes(self, words: frozenset[str]) -> bool:
        if not words:
            return False
        if self.text[self.at] == "}":
            return "}" in words
        found = PLAIN.match(self.text, self.at)
        return found is not None and found[0] in words

    def _take(self, word: str) -> bool:
        if not self._comes(frozenset((word,))) if self.at < len(self.text) else True:
            return False
        self.at += len(word)
        return True

    def _take_text(self, text: str) -> bool:
        found = self.text.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def _expect(self, word: str) -> None:
        self._newlines()
        if not self.text.startswith(word, self.at):
            raise BrokenSyntax(f"{word!r} is missing")
        self.at += len(word)

    def _plain_word(self, depth: int) -> str:
        word = self._word(depth)
        if not isinstance(word, str):
            raise BrokenSyntax("bad name")
        return word

    def _at_end(self) -> bool:
        return self.at >= len(self.text) or self.text[self.at] in " \t\n;&|)<>"


BRACKET = re.compile(r"[()]")


def expandable(body: str) -> Word:
    """The text of a heredoc whose variables and substitutions are expanded."""
    if "$" not in body and "`" not in body:
        return body
    parser = Parser(f'{body.replace(chr(34), chr(0))}"')
    parser.at = 0
    parts: list[Part] = []
    try:
        parser.text = f'"{parser.text}'
        parser._double(parts, 0)
    except BrokenSyntax:
        return body
    return tuple(part.replace(chr(0), '"') if isinstance(part, str) else part for part in parts)


def _quoted(text: str) -> str:
    return Quoted(text) if "{" in text else text

"""Words: what a word of a script becomes when the shell expands it, as far as the script shows that."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .findings import Findings
from .scope import EMPTY, MAX_FLOW, MAX_WORDS, Flow, Scope
from .syntax import Arithmetic, Assignment, Quoted, Sequence, Substitution, Variable, Word


class WordReader(ABC):
    """Expands words; the commands inside them are run on paper by the reader of the script."""

    findings: Findings
    level = 0
    _files = 0

    @abstractmethod
    def read(self, text: str, scope: Scope) -> Flow:
        """Run a script on paper."""

    @abstractmethod
    def sequence(self, body: Sequence, scope: Scope, flow: Flow, decides: bool) -> Flow:
        """Run statements on paper."""

    def assign(self, node: Assignment, scope: Scope, keep: bool) -> tuple[str, str]:
        if node.array is not None:
            values = tuple(text for word in node.array for text in self.expand(word, scope))
        else:
            values = (self.expand_whole(node.value, scope)[0],)
        if node.adds and (before := scope.variables.get(node.name)):
            values = (*before, *values) if node.array is not None else (before[0] + values[0],)
        if keep:
            scope.set(node.name, values)
        return node.name, values[0] if values else ""

    def expand_whole(self, word: Word, scope: Scope) -> list[str]:
        """A word that is never split: a value, the body of a heredoc."""
        if isinstance(word, str):
            return [word]
        return ["".join(self._part(part, scope)[0] for part in word)[:MAX_FLOW]]

    def expand(self, word: Word, scope: Scope) -> list[str]:
        """The words that a word becomes."""
        if isinstance(word, str):
            return braces(word) if "{" in word and "," in word and not isinstance(word, Quoted) else [word]
        texts = [""]
        splits = False
        for part in word:
            if isinstance(part, str):
                texts = [text + part for text in texts]
                continue
            values = self._part(part, scope)
            splits = splits or not getattr(part, "quoted", True)
            texts = [text + value for text in texts for value in values][:MAX_WORDS]
            if sum(map(len, texts)) > MAX_FLOW:
                texts = [text[:1_000] for text in texts[:16]]
        if splits:
            return [piece for text in texts for piece in (text.split() if "$(" not in text else [text])]
        return (
            braces(texts[0])
            if len(texts) == 1
            and "{" in texts[0]
            and any("{" in part for part in word if isinstance(part, str) and not isinstance(part, Quoted))
            else texts
        )

    def _part(self, part: object, scope: Scope) -> tuple[str, ...]:
        if isinstance(part, str):
            return (part,)
        if isinstance(part, Arithmetic):
            if "$(" in part.text or "`" in part.text:
                self.findings.conceal("arithmetic that runs a command") if self.level > 3 else self.read(
                    f': "{part.text.replace(chr(34), "")}"', scope
                )
            return ("0",)
        if isinstance(part, Substitution):
            out = self.sequence(part.body, scope.copy(), EMPTY, False)
            if part.as_file:
                return (self._as_file(out),)
            if out.text is not None:
                return (out.text.rstrip("\n"),)
            if out.items and out.producers[-1:] != ("grep",):
                return out.items
            return (f"$({out.producers[-1] if out.producers else ''})",)
        assert isinstance(part, Variable)
        return self._variable(part, scope)

    def _as_file(self, out: Flow) -> str:
        if out.text is not None:
            path = f"/dev/fd/{63 - self._files % 50}"
            self._files += 1
            self.findings.hold(path, out.text)
            return path
        if any(producer in ("curl", "wget") for producer in out.producers):
            self.findings.fetched.add("/dev/fd/63")
            return "/dev/fd/63"
        return "/dev/fd/9"

    def _variable(self, part: Variable, scope: Scope) -> tuple[str, ...]:
        name, _, index = part.name.lstrip("!").partition("[")
        if part.name[:1] == "#" and len(part.name) > 1:
            return ("0",)
        known = scope.value(name)
        operator, operand = part.operator, part.operand
        if operator in (":-", "-", ":=", "=") and not known:
            return tuple(self.expand_whole(operand, scope))
        if operator in (":+", "+"):
            return tuple(self.expand_whole(operand, scope)) if known else ("",)
        if part.name[:1] == "!" or known is None:
            return (f"${name}",)
        if index and index[:-1].isdigit():
            return (known[int(index[:-1])],) if int(index[:-1]) < len(known) else ("",)
        if operator in ("%", "%%", "#", "##", "/", "//", "^", "^^", ",", ",,", ":") and known:
            return tuple(trimmed(value, operator, operand if isinstance(operand, str) else "$") for value in known)
        return known


def braces(text: str) -> list[str]:
    """`a{b,c}d` as `abd acd`; at most MAX_WORDS words."""
    done: list[str] = []
    queue = [text]
    while queue and len(done) + len(queue) < 32 and len(text) < 1_024:
        word = queue.pop(0)
        start = word.rfind("{", 0, word.find("}") if "}" in word else 0)
        end = word.find("}", start) if start >= 0 else -1
        inner = word[start + 1 : end]
        if start < 0 or end < 0 or "," not in inner or " " in inner or word[start - 1 : start] == "$":
            done.append(word)
        else:
            queue += [word[:start] + choice + word[end + 1 :] for choice in inner.split(",")]
    return (done + queue) or [text]


def trimmed(value: str, operator: str, operand: str) -> str:
    """`${value%operand}` and its relatives, for plain operands."""
    if operator in ("%", "%%"):
        if operand in (".*", "/*"):
            mark = operand[0]
            head, found, _ = value.partition(mark) if operator == "%%" else value.rpartition(mark)
            return head if found else value
        return value.removesuffix(operand)
    if operator in ("#", "##"):
        if operand in ("*/", "*."):
            _, found, tail = value.partition(operand[1]) if operator == "#" else value.rpartition(operand[1])
            return tail if found else value
        return value.removeprefix(operand)
    if operator in ("/", "//"):
        old, _, new = operand.partition("/")
        return value.replace(old, new, 1 if operator == "/" else -1) if old and "*" not in old else value
    if operator == ":":
        start, _, length = operand.partition(":")
        if start.strip().isdigit():
            rest = value[int(start) :]
            return rest[: int(length)] if length.isdigit() else rest
        return value
    if operator[0] == "^":
        return value.upper() if len(operator) > 1 else value[:1].upper() + value[1:]
    return value.lower() if len(operator) > 1 else value

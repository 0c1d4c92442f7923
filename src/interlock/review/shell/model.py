"""What a shell script would do: its commands, in order, as they would run."""

from __future__ import annotations

from msgspec import Struct

MAX_TEXT = 65_536
"""Maximum length of a known text in a file or a pipe."""


class KnownFile(Struct, frozen=True, gc=False, omit_defaults=True):
    """What is known about a file: its text, the program that fetched it, the program that it is a copy of.

    `secret` names the secret that was written to it; `read` is true once its content was shown; `step` is the step that
    created it, -1 for the script that is being parsed; `link` is the target of a link; `cloned` is the host that a
    folder was cloned from, and `source` the host that a file was fetched from, if either is not a usual source of code.
    """

    text: str | None = None
    fetched: str = ""
    program: str = ""
    secret: str = ""
    read: bool = False
    step: int = -1
    link: str = ""
    cloned: str = ""
    source: str = ""


class Redirect(Struct, frozen=True, gc=False):
    """One redirection: `op` as written (`>`, `>>`, `<`, `&>`), with the target expanded."""

    op: str
    target: str

    @property
    def writes(self) -> bool:
        return ">" in self.op


class Command(Struct, frozen=True, kw_only=True, gc=False):
    """One program run, with its words expanded and its wrappers removed.

    `via` names the wrappers, outermost first (`sudo`, `xargs`, `ssh`). A variable or substitution with an unknown value
    stays in the words as `$NAME` or `$(program)`. `code` is text that the program would execute (`-c`, a heredoc, a
    pipe), `stdin` its input text, `fed_by` the programs before it in the pipe. `filtered` is true if a search selected
    the operands. `span` is its position in the outermost script, if it is there. `evidence` names the file of an
    earlier step that contains it.
    """

    program: str
    args: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    assignments: tuple[tuple[str, str], ...] = ()
    code: str | None = None
    stdin: str | None = None
    fed_by: tuple[str, ...] = ()
    cwd: str | None = None
    filtered: bool = False
    span: tuple[int, int] | None = None
    evidence: str = ""


class Script(Struct, frozen=True):
    """Everything that a script would run. `complete` is false if a part could not be parsed or was too long.

    `asked` are the files of earlier steps that the result depends on, by path and as written; `made` are the files that
    the script creates.
    """

    commands: tuple[Command, ...]
    complete: bool = True
    asked: tuple[tuple[str, str], ...] = ()
    made: tuple[tuple[str, KnownFile], ...] = ()


class PipeContent(Struct, frozen=True, gc=False):
    """The content of a pipe: the text if it is known, the programs that produced it, the file names that it lists.

    `before` is text that may precede it: the known part of a partly known text, or what `a || b` may print instead;
    `program` is the system program whose file it is.
    """

    text: str | None = None
    sources: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    before: str = ""
    program: str = ""

    @property
    def all_text(self) -> str | None:
        """All known text."""
        return f"{self.before}\n{self.text or ''}" if self.before else self.text


NOTHING = PipeContent()


def one_after_another(flows: list[PipeContent], *, either: bool = False) -> PipeContent:
    """The combined output of several statements; with `either`, the output of one of them."""
    if len(flows) < 2:
        return flows[0] if flows else NOTHING
    last = flows[-1]
    texts: list[str] = []
    sources = last.sources
    items: tuple[str, ...] = ()
    for flow in flows:
        if flow.before or flow.text:
            texts.append(flow.all_text or "")
        if flow.items:
            items += flow.items
        if flow.sources is not sources:
            sources += tuple(source for source in flow.sources if source not in sources)
    if not texts and last.text is None:
        return PipeContent(None, sources, items)
    if last.text is None or either:
        before = texts[:-1] if last.text else texts
        return PipeContent(last.text, sources, items, "\n".join(before)[:MAX_TEXT])
    return PipeContent("\n".join(texts)[:MAX_TEXT], sources, items)


def through_pipe(flow: PipeContent) -> PipeContent:
    """The content as the next program gets it: with all of the text."""
    return PipeContent(flow.all_text, flow.sources, flow.items) if flow.before else flow

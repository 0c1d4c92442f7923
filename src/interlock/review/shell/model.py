"""What a shell script would do: commands as they would run, in order."""

from __future__ import annotations

from msgspec import Struct

MAX_TEXT = 65_536
"""Characters of a text that is known, in a file or a pipe."""


class KnownFile(Struct, frozen=True, gc=False, omit_defaults=True):
    """What is known of a file: its text, the program that fetched it, the program that it is a copy of.

    `secret` names the secret that was written into it; `read` is true once its content was shown; `step` is the step
    that made it, -1 within the script that is being read; `link` is where a link leads; `cloned` the host that a
    folder was cloned from, and `source` the one that a file was fetched from, if program text does not usually come
    from there.
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
    """One redirection: `op` as written (`>`, `>>`, `<`, `&>`), target as it would be."""

    op: str
    target: str

    @property
    def writes(self) -> bool:
        return ">" in self.op


class Command(Struct, frozen=True, kw_only=True, gc=False):
    """One program run, with its words expanded and its wrappers taken off.

    `via` names the wrappers, outermost first (`sudo`, `xargs`, `ssh`). A variable or substitution whose value is not
    known stays in the words as `$NAME` or `$(program)`. `code` is text that the program would execute (`-c`, a
    heredoc, a pipe), `stdin` text that it is fed, `fed_by` the programs before it in the pipe. `filtered` is true when
    the operands are what a search picked. `span` is where it is in the outermost script, if it stands there.
    `evidence` names the file of an earlier step that it stands in.
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
    """Everything that a script would run. `complete` is false when a part could not be parsed or was too much.

    `asked` are the files of earlier steps that the reading depends on, by place and as written; `made` are the files
    that the script leaves behind.
    """

    commands: tuple[Command, ...]
    complete: bool = True
    asked: tuple[tuple[str, str], ...] = ()
    made: tuple[tuple[str, KnownFile], ...] = ()


class PipeContent(Struct, frozen=True, gc=False):
    """What runs through a pipe: the text if it is known, the programs that made it, the file names that it lists.

    `before` is text that may come before it: what is known of a text that is not known whole, or that `a || b` may
    print instead; `program` the program of the system whose file it is.
    """

    text: str | None = None
    sources: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    before: str = ""
    program: str = ""

    @property
    def all_text(self) -> str | None:
        """Everything that is known of the text."""
        return f"{self.before}\n{self.text or ''}" if self.before else self.text


NOTHING = PipeContent()


def one_after_another(flows: list[PipeContent], *, either: bool = False) -> PipeContent:
    """What several statements print together; with `either`, what one of them prints."""
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
    """The same for the next program: it gets all of the text."""
    return PipeContent(flow.all_text, flow.sources, flow.items) if flow.before else flow

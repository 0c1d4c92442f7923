"""StepRedactor: redacts and bounds each step once, on arrival; everything after it sees the same Step."""

from __future__ import annotations

import msgspec

from ..core import Paths, Step, Tool
from .arguments import ITEMS, TEXT, ArgumentBudget, gather, make_plain
from .bounds import CONTENT, ONE_LINE, countable, cut, is_countable, mark_cut, mend, one_line
from .text import Redactor, redactor

WINDOW = 2 * CONTENT
"""How many characters at either end of a huge text are searched for secrets; far fewer are kept."""

WHOLE = 1_048_576
"""Characters of a call's arguments that are reviewed; far fewer are kept."""

PATH = 4096

ROUNDS = 3
"""Maximum number of passes: rarely, a cut leaves text that looks like a secret, or a label is longer than a secret."""


class StepRedactor:
    """Redacts and bounds steps and texts. Thread-safe."""

    def __init__(self) -> None:
        self._redactor: Redactor = redactor()

    def redact(self, step: Step) -> Step:
        """The step without secrets, bounded, and encodable; the same object if nothing has to change."""
        return step if self._is_clean(step) else self._clean(step)

    def whole(self, step: Step) -> Step | None:
        """The call with all of its arguments, redacted, for its review; None if `redact` cuts nothing of them."""
        tool = step.tool
        if tool is None or not any(isinstance(value, str) and len(value) > TEXT for value in tool.arguments.values()):
            return None
        arguments = ArgumentBudget(WHOLE, WHOLE).fit(self._redactor.redact_value(make_plain(tool.arguments)))
        return msgspec.structs.replace(step, tool=Tool(self.redact_line(tool.name), arguments, tool.call_id))

    def admit_text(self, text: str, limit: int = CONTENT) -> str:
        """A text without secrets, bounded."""
        text, missing = mend(text), 0
        if len(text) > 2 * WINDOW:
            missing = len(text) - 2 * WINDOW
            head, tail = map(self._redactor.redact, (text[:WINDOW], text[-WINDOW:]))
            mark = mark_cut(missing)
            missing -= len(mark)
            text = head + mark + tail
        else:
            text = self._redactor.redact(text)
        if len(text) <= limit:
            return text
        text = cut(text, limit, missing)
        for _ in range(ROUNDS):
            again = cut(self._redactor.redact(text), limit)
            if again == text:
                break
            text = again
        return text

    def redact_line(self, text: str, limit: int = ONE_LINE) -> str:
        """A name or title without secrets, on one line."""
        return one_line(self._redactor.redact(mend(text)), limit)

    def admit_arguments(self, arguments: dict[str, object]) -> dict[str, object]:
        """A call's arguments as plain JSON, without secrets, bounded."""
        kept = make_plain(arguments)
        for _ in range(ROUNDS):
            before = kept
            kept = ArgumentBudget().fit(self._redactor.redact_value(kept))
            if kept == before:
                break
        return kept if isinstance(kept, dict) else {}

    def _is_clean(self, step: Step) -> bool:
        """Whether a step needs no change. Cheap: one search through all its texts together."""
        if len(step.content) > CONTENT or (step.usage is not None and not is_countable(step.usage)):
            return False
        parts, names, tool = [step.content], [], step.tool
        if tool is not None:
            names.append(tool.name)
            if tool.call_id is not None:
                names.append(tool.call_id)
            if tool.arguments and not gather(tool.arguments, parts):
                return False
        if step.agent is not None:
            names.append(step.agent)
        if step.model is not None:
            names.append(step.model)
        if step.paths is not None:
            names += (*step.paths.read, *step.paths.written, *step.paths.deleted)
        if names:
            line = "".join(names)
            if len(names) > ITEMS or not line.isprintable():
                return False
            if len(line) > ONE_LINE and max(map(len, names)) > ONE_LINE:
                return False
            parts += names
        try:
            text = ("\n".join(parts) if len(parts) > 1 else step.content).encode()
        except UnicodeEncodeError:
            return False
        return len(text) <= CONTENT and not self._redactor.suspects(text)

    def _clean(self, step: Step) -> Step:
        tool = step.tool
        if tool is not None:
            call_id = None if tool.call_id is None else self.redact_line(tool.call_id)
            tool = Tool(self.redact_line(tool.name), self.admit_arguments(tool.arguments), call_id)
        return msgspec.structs.replace(
            step,
            content=self.admit_text(step.content),
            tool=tool,
            paths=self._admit_paths(step.paths),
            usage=None if step.usage is None else countable(step.usage),
            agent=None if step.agent is None else self.redact_line(step.agent),
            model=None if step.model is None else self.redact_line(step.model),
        )

    def _admit_paths(self, paths: Paths | None) -> Paths | None:
        if paths is None:
            return None
        read, written, deleted = (
            tuple(self.redact_line(path, PATH) for path in group[:ITEMS])
            for group in (paths.read, paths.written, paths.deleted)
        )
        return Paths(read, written, deleted)


def withhold(step: Step) -> Step:
    """A step without its content, because it could not be redacted."""
    tool = Tool(step.tool.name, {}, step.tool.call_id) if step.tool is not None else None
    return msgspec.structs.replace(step, content="[withheld: redaction failed]", tool=tool, paths=None)

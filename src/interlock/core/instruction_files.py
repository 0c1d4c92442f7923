"""Task files: the instruction files that a task points to; their text is the task.

"Complete the task in /instruction/task.md", "implement PLAN.md": the actual request is in the file. Pure: the
caller reads the file at the start of the run, or passes what the agent read (`instructions_in`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec.structs import replace

from .context import Context
from .patterns import late_pattern

FILES = 4
"""The most files that one task points to."""
LENGTH = 16_000
"""Characters of a file that are kept: enough for instructions, not for documentation."""
_READ = 4000
"""Characters of a task that are searched; a task that points to a file is short."""

_NAME = (
    r"[`'\"(\[<@]{0,2}((?:[\w.@~+-]*/)*(?:[\w.@+-]+\.(?:md|mdx|markdown|txt|rst|adoc|org)"
    r"|(?-i:PLAN|TODO|SPEC|TASKS?|INSTRUCTIONS|ISSUE|BRIEF|REQUIREMENTS|PROMPT)(?![\w.-]*\w)))"
)
_OF = r"(?:the\s+|a\s+|this\s+|my\s+|our\s+|attached\s+|following\s+)*(?:file\s+|document\s+)?"
_POINTS = late_pattern(
    # "the task in X", "as described in X", "instructions from X"
    r"\b(?:task|tasks|instructions?|steps?|plan|spec|specification|requirements?|problem|issue|todos?|work|everything"
    r"|described|specified|outlined|detailed|explained)\s+"
    r"(?:(?:is|are|it|that|which)\s+)*(?:(?:described|specified|outlined|given|listed|stated|written|found|located)\s+)?"
    rf"(?:in|at|from|by|under|inside)\s+{_OF}{_NAME}"
    # "follow X", "implement X", "work through X", "according to X"
    r"|\b(?:follow|implement|execute|complete|carry\s+out|work\s+(?:through|on|from)|do|perform|finish|address|obey"
    rf"|according\s+to|as\s+per|start\s+with|continue\s+with)\s+{_OF}{_NAME}"
    # "read X and do what it says", "see X for the task"
    rf"|\b(?:read|see|open|check|look\s+at|consult)\s+{_OF}{_NAME}[`'\")\]>]{{0,2}}[,:;]?\s+"
    r"(?:for\s+(?:the\s+|your\s+|further\s+|more\s+|full\s+)*(?:task|instructions?|steps?|details|requirements?|plan|spec)"
    r"|(?:and|then)\s+(?:then\s+)?(?:follow|do|implement|execute|complete|carry|perform|solve|work|start|proceed))"
    # "X has your task", "X contains the instructions"
    rf"|(?:^|[\s.;:]){_NAME}[`'\")\]>]{{0,2}}\s+(?:has|contains|describes|holds|lists|explains|defines|is)\s+"
    r"(?:the\s+|your\s+|a\s+|all\s+|what\s+)*(?:task|instructions?|steps?|plan|spec|requirements?|to\s+do|you)",
    re.IGNORECASE,
)
_DENIED = late_pattern(r"(?:\b(?:not|never|without|instead of)|n['’]t)\b[^.;\n]*$", re.IGNORECASE)
_WRITES = late_pattern(
    r"\b(?:writ\w*|sav\w+|put|stor\w+|record\w*|add|creat\w+|updat\w+|edit|document|output|generat\w+)\b"
    r"\W+(?:\w+\W+){0,3}$",
    re.IGNORECASE,
)
"""Precedes the name of a file that the agent should write: "save the plan in PLAN.md"."""
_THINGS = ("task", "instruction", "step", "plan", "spec ", "requirement", "problem", "issue", "todo", "work ")
_NUMBERED = late_pattern(r"^[ \t]*\d+(?:\t|→|: ?|\|)", re.MULTILINE)


_HINTS = late_pattern(
    r"\.(?:md|mdx|markdown|txt|rst|adoc|org)\b|\b(?:PLAN|TODO|SPEC|TASKS?|INSTRUCTIONS|ISSUE|BRIEF|REQUIREMENTS|PROMPT)\b"
)
_NAMES = (
    ".md", ".markdown", ".txt", ".rst", ".adoc", ".org",
    "PLAN", "TODO", "SPEC", "TASK", "INSTRUCTIONS", "ISSUE", "BRIEF", "REQUIREMENTS", "PROMPT",
)  # fmt: skip
"""Part of every such file name; most tasks contain none of these, and this check is cheaper than matching."""
_AROUND = 200
"""Characters before and after such a name in which a task says what the file is for."""


@lru_cache(maxsize=64)
def task_files(task: str) -> tuple[str, ...]:
    """The files whose instructions a task says to follow, as the task names them; a mere mention does not count."""
    task, found, end = task[:_READ], [], 0
    if not any(name in task for name in _NAMES):
        return ()
    for hint in _HINTS.finditer(task):
        begin = max(0, hint.start() - _AROUND)
        for point in _POINTS.finditer(task, max(begin, end), hint.end() + _AROUND):
            end = point.end()
            if not _other(task, point):
                found.append(next(filter(None, point.groups())))
    return tuple(dict.fromkeys(name.removeprefix("./") for name in found))[:FILES]


def is_task_file(path: str, named: Iterable[str]) -> bool:
    """Whether a path that an agent uses is one of the named files."""
    path = path.removeprefix("./").removeprefix("~/")
    return any(path == name or path.endswith("/" + name) or name.endswith("/" + path) for name in named)


def instructions_in(shown: str) -> str:
    """The text of a file as shown by a tool, without line numbers, and bounded."""
    text = shown[: 2 * LENGTH]
    lines = len(text.strip().splitlines())
    if len(_NUMBERED.findall(text)) * 2 > lines:
        text = _NUMBERED.sub("", text)
    return text.strip()[:LENGTH]


def with_instructions(context: Context, text: str) -> Context:
    """Add the text of a task file to the context; returns the same context if the text is already in it."""
    text = instructions_in(text)
    if not text or text in context.instructions:
        return context
    joined = f"{context.instructions}\n\n{text}".strip()
    return replace(context, instructions=joined[: FILES * LENGTH])


def _other(task: str, point: re.Match[str]) -> bool:
    """Whether the text before it says not to follow the file, or that the file should be written."""
    before = task[max(0, point.start() - 60) : point.start()]
    if _DENIED.search(before):
        return True
    return point[0].lower().startswith(_THINGS) and _WRITES.search(before) is not None

"""Templates: the words of a soft correction, built in or from the user's file."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from functools import lru_cache

from msgspec import Struct

from ..core import ISSUE_TYPES, BadInput
from .advice import DEFAULT, HINTS
from .values import PLACEHOLDERS

LAST_RESORT = "Stop and check what you are doing before you continue."
"""Said when an issue has neither a description nor anything else to say."""


class Templates(Struct, frozen=True):
    """A hint for each type of issue; `default` for the rest."""

    by_type: dict[str, str]

    def render(self, issue_type: str, values: Mapping[str, str]) -> str:
        """The hint for a type, without the lines whose values are missing. Never fails and never is empty."""
        for name in (issue_type, DEFAULT):
            text = self.by_type.get(name)
            if text is not None and (filled := fill(text, values)):
                return filled
        return values.get("description", "").strip() or LAST_RESORT

    def placeholders(self, issue_type: str) -> frozenset[str]:
        """What the hint for a type may be filled with."""
        texts = (self.by_type.get(issue_type, ""), self.by_type.get(DEFAULT, ""), "{description}")
        return frozenset(name for text in texts for name in _placeholders(text))


BUILT_IN = Templates(HINTS)


def parse_templates(text: str, where: str, issue_types: Iterable[str] = ISSUE_TYPES) -> Templates:
    """The user's templates over the built-in ones; anything wrong is one clear error.

    The file is YAML: a type of issue (or `default`) to its text. `where` names the file in errors; `issue_types` are
    the known types, so that a misspelt one is found while a plug-in's own is accepted.
    """
    import yaml

    try:
        loaded = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{where}:{mark.line + 1}" if mark else where
        raise BadInput(f"this is not YAML: {getattr(error, 'problem', error)}", where=place) from None
    if loaded is None:
        return BUILT_IN
    if not isinstance(loaded, dict):
        raise BadInput(
            f"expected types of issues with their texts, found a {type(loaded).__name__}",
            where=where,
            todo="Write e.g. 'loop: Take a different approach.'",
        )
    known = {*issue_types, DEFAULT}
    made = {name: _checked(name, value, where, known) for name, value in loaded.items()}
    return Templates({**HINTS, **made})


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled; a line with a missing one is left out."""
    lines = [
        line.format_map(values)
        for line in text.splitlines()
        if all(values.get(name, "").strip() for name in _placeholders(line))
    ]
    return "\n".join(lines).strip()


@lru_cache(256)
def _placeholders(text: str) -> tuple[str, ...]:
    """The names in a template or a line of one; there are few, and they are filled again and again."""
    return tuple(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def _checked(name: object, value: object, where: str, known: set[str]) -> str:
    if not isinstance(name, str):
        raise BadInput(f"{name!r} is not an issue type", where=where, todo=f"Known: {_list(known)}")
    if name not in known and (near := _nearest(name, known, 80)):
        raise BadInput(f"there is no issue type {name!r}", where=where, todo=f"Did you mean {near!r}?")
    if not isinstance(value, str) or not value.strip():
        raise BadInput("a template must be a non-empty text", where=f"{where}: {name}")
    for number, line in enumerate(value.splitlines(), 1):
        _check_line(line, f"{where}: {name}, line {number}")
    return value


def _check_line(line: str, where: str) -> None:
    try:
        fields = list(string.Formatter().parse(line))
    except ValueError as error:
        raise BadInput(f"{error}", where=where, todo="Write {{ and }} for literal braces.") from None
    for _, name, spec, conversion in fields:
        if name is None:
            continue
        if name not in PLACEHOLDERS:
            near = _nearest(name, set(PLACEHOLDERS), 60)
            todo = f"Did you mean {{{near}}}?" if near else f"Known: {_list(PLACEHOLDERS)}"
            raise BadInput(f"there is no placeholder {{{name}}}", where=where, todo=todo)
        if spec or conversion:
            raise BadInput(f"the placeholder {{{name}}} does not take a format", where=where, todo=f"Write {{{name}}}.")


def _nearest(name: str, known: set[str], cutoff: int) -> str | None:
    from rapidfuzz import process

    found = process.extractOne(name, sorted(known), score_cutoff=cutoff)
    return str(found[0]) if found else None


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))

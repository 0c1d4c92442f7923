"""Own things: objects that code creates itself, so that deleting them harms nobody."""

from __future__ import annotations

import re

from ..core import late_pattern

_DEFINED = late_pattern(
    r"\b(?:def|function|func|fn|sub)\s{1,4}([A-Za-z_]\w{0,63})"
    r"|^[ \t]{1,16}(?:async\s{1,4})?([A-Za-z_]\w{0,63})\([^()\n]{0,200}\)\s{0,4}\{",
    re.MULTILINE,
)
"""A function defined in the code: its body is read anyway and shows what it does."""
_COLLECTED = late_pattern(
    r"\b([A-Za-z_]\w{0,63})\s{0,4}(?::[^=\n]{1,60})?=\s{0,4}"
    r"(?:\[|\{|(?:set|dict|list|deque|Counter|defaultdict|OrderedDict)\(|new\s{1,4}(?:Set|Map|WeakMap|WeakSet|URLSearchParams)\b)"
)
"""A list, set or mapping in memory."""
_TESTED = late_pattern(r"^[ \t]{0,16}(?:async )?def\s{1,4}test\w{0,80}\(", re.MULTILINE)
"""A test works on what the project and its fixtures create for it ..."""
_SERVICES = late_pattern(
    r"boto|google\.cloud|azure|stripe|kubernetes|[Ee]lastic|opensearch|[Mm]ongo|braintree|twilio|digitalocean|openstack"
    r"|://(?!localhost|127\.|test)"
)
"""... unless the code itself names a service or a host."""
_FAKED = late_pattern(
    r"^[ \t]{0,16}(?:import|from)\s{1,4}(?:fakeredis|moto|mongomock|unittest\.mock|testcontainers)\b", re.MULTILINE
)
"""Stand-ins for a service."""
_CREATED = late_pattern(
    r"\b(?:create|add|make|insert)_?([A-Za-z]\w{0,63})\(\s{0,4}(?:[rbfu]?['\"]([^'\"\n]{0,80})['\"])?"
)
_VERB = late_pattern(r"(?:delete|drop|destroy|remove|clear)_?", re.IGNORECASE)


class OwnThings:
    """The functions and collections that code defines, and what it creates before deleting it; in a test, all of it."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._defined = {one or other for one, other in _DEFINED.findall(code)}
        self._held = set(_COLLECTED.findall(code))
        self._tests = (_TESTED.search(code) is not None and not _SERVICES.search(code)) or bool(_FAKED.search(code))

    def has(self, name: str, literals: list[str]) -> bool:
        """Whether a call deletes one of the code's own objects."""
        parts = re.split(r"\.|::|->", name.strip("."))
        last = parts[-1]
        if self._tests or last in self._defined or (len(parts) > 1 and parts[0] in self._held):
            return True
        if parts[0] in ("self", "this"):
            return len(parts) == 3 and last in ("remove", "delete", "del")
        verb = _VERB.match(last)
        return verb is not None and self._creates(last[verb.end() :], literals, last)

    def _creates(self, thing: str, literals: list[str], last: str) -> bool:
        """Whether the code creates an object of this kind and name before deleting one."""
        end = self._code.find(f"{last}(")
        return any(
            what.lower() == thing.lower() and (not literals or literals[0] == named)
            for what, named in _CREATED.findall(self._code[: max(end, 0)])
        )

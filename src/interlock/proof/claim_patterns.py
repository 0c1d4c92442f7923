"""Claim patterns: English patterns for each kind of claim, and a pre-filter for those that can match a text."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import cached_property

import re2

from ..core import late_pattern
from .model import ClaimKind

_BE = (
    r"(?:(?:are|is|now|have|has|been|all|were|was|still|also|currently|again|successfully|both|each|being"
    r"|cleanly)\s+){0,4}"
)
_TESTS = r"(?:tests?(?: cases?| suites?| files?)?|specs?|test-suite|suite|checks|assertions|scenarios)"
_PASSING = (
    r"(?:pass(?:es|ed|ing)?\b(?!\s+(?:(?:an?|its|their|some|no)\s|the\s+(?!first|second|whole)|`[^`]*`\s+(?:as|to"
    r"|into)\b))"
    r"|green\b|succeed(?:s|ed)?\b|successful\b)"
)
"""The verb without an object: tests that pass an argument say nothing about their result."""
_CLEANLY = (
    r"(?:(?:finish|complet|exit|run|ran)(?:s|es|ed)? (?:cleanly|successfully|without (?:any )?(?:errors?|failures?)"
    r"|with (?:0|no) (?:errors?|failures?)))"
)
_BUILDER = (
    r"(?:(?:npm|yarn|pnpm)(?: run)? build|cargo build|go build|make (?:all|build)|mvn (?:package|compile|install)"
    r"|(?:\./gradlew|gradle) (?:build|assemble)|docker build|cmake --build)"
)
_RUNNER = (
    r"(?:pytest|unittest|jest|vitest|mocha|tox|nox|cargo test|go test|npm (?:run )?test|yarn test|pnpm test"
    r"|make test|make check|ctest|rspec|phpunit|mvn (?:test|verify)|gradle test|\./gradlew test)"
)

PATTERNS: tuple[tuple[ClaimKind, re.Pattern[str]], ...] = (
    (
        "tests",
        late_pattern(
            rf"\b(?:all|every|the|our|my|these|those|both|each|its|existing|new|unit|integration|e2e|regression"
            rf"|full|\d+)\b"
            rf"(?:(?!\b(?:that|which|if|whether|when|once|until|unless|should|will|would|so|before|shows?|prints?"
            rf"|pass|fail"
            rf"|to)\b)[^.;:,\n]){{0,60}}?\b{_TESTS}\b(?: \([^)\n]{{0,40}}\))?(?: in [\w./`-]+)?\s+{_BE}{_PASSING}",
            re.IGNORECASE,
        ),
    ),
    (
        "tests",
        late_pattern(
            r"\b(?:ran|run|executed)\b[^.;]{0,40}\b(?:tests?|suite|pytest)\b[^.;]{0,20}(?:\band|,)\s*(?:they|"
            r"everything|it)"
            r"\s+(?:all |now )*pass(?:es|ed)?\b",
            re.IGNORECASE,
        ),
    ),
    ("tests", late_pattern(rf"\A(?:and |so |now |ok[,:]? |great[,!:]? )?{_TESTS}:?\s+{_BE}{_PASSING}", re.IGNORECASE)),
    (
        "tests",
        late_pattern(
            rf"(?<!\w)`?{_RUNNER}`?(?: [\w./`-]+)?\s+{_BE}(?:{_PASSING}|clean\b|is happy|{_CLEANLY})", re.IGNORECASE
        ),
    ),
    (
        "tests",
        late_pattern(
            r"\b(\d+)\s*/\s*\1 (?:\w+ )?(?:tests? )?(?:are |now )?pass(?:ed|ing|es)?\b|\b(\d+) of \2 tests? pass",
            re.IGNORECASE,
        ),
    ),
    (
        "tests",
        late_pattern(
            r"\b\d+ (?:\w+ )?(?:tests? |specs? )?pass(?:ed|ing|es)?,? (?:and )?(?:0|no|zero) (?:fail|error)",
            re.IGNORECASE,
        ),
    ),
    (
        "tests",
        late_pattern(
            r"\b(?:0|no|zero) (?:test )?(?:failures|failing tests|failed tests)\b|\bno (?:more )?tests? (?:is "
            r"|are )?fail(?:s|ing)?\b"
            rf"|`test\w+(?:\(\))?`\s+{_BE}{_PASSING}",
            re.IGNORECASE,
        ),
    ),
    (
        "types",
        late_pattern(
            r"(?<!\w)`?(?:mypy|tsc|pyright|type[- ]?check(?:s|ing|er)?|types|typescript)(?: --?[\w-]+)*`?\s+"
            rf"{_BE}(?:{_PASSING}|clean|cleanly|happy|{_CLEANLY}|without errors?|reports? (?:no|0|zero) (?:errors?"
            rf"|issues?))"
            r"|\b(?:there (?:are|were) )?(?:no|zero|0) (?:more )?type(?:script)? errors?\b|\btype-?checks? cleanly",
            re.IGNORECASE,
        ),
    ),
    (
        "lint",
        late_pattern(
            r"(?<!\w)`?(?:ruff|eslint|lint(?:er|ing|s)?|flake8|pylint|clippy|prettier|black|"
            r"biome)(?: check)?`?(?: check)?\s+"
            rf"{_BE}(?:{_PASSING}|clean|cleanly|happy|reports? (?:no|0|zero) (?:errors?|issues?|warnings?|problems?))"
            r"|\b(?:no|zero|0) (?:more )?lint(?:ing|er)? (?:errors?|warnings?|issues?|problems?)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "build",
        late_pattern(
            r"\b(?:build|compilation)\s+(?:(?:is|has|was|now|of [\w./`-]+)\s+){0,3}(?:pass(?:es|ed|ing)|green"
            r"|succeed(?:s|ed)"
            r"|successful|complet(?:es|ed) (?:successfully|without errors?))\b"
            rf"|(?<!\w)`?{_BUILDER}(?: [\w./-]+)?`?\s+{_BE}(?:{_PASSING}|{_CLEANLY})"
            r"|\b(?:it|everything|project|code|app|application|package|crate|binary|site|module|that"
            r"|this)\s+(?:now |still |all )?"
            r"(?:builds?|compiles?|built|compiled)\s+(?:(?:again|now)\s+)?(?:successfully|cleanly|fine"
            r"|without (?:any )?(?:errors?|warnings?|issues?))\b",
            re.IGNORECASE,
        ),
    ),
    (
        "endpoint",
        late_pattern(
            r"(?:\b(?:GET|POST|PUT|PATCH|DELETE|HEAD)\s+(?=`?/))?(?:\b(?:endpoint|server|api|service|site|page|route"
            r"|url|health ?check)\b|\bhttps?://[\w.:/-]+"
            r"|(?:(?<=\s)|\A)`?/[\w/-]+`?)"
            r"(?: at [\w.:/`-]+| on (?:port )?[\w.:/`-]+)?\s+(?:(?:now|is|also|correctly|successfully|are)\s+){0,3}"
            r"(?:return(?:s|ed|ing)(?: an?)?(?: http| status)?(?: code)? 20\d|(?:respond|answer)(?:s|ed"
            r"|ing)(?: with)?(?: an?)?(?: http| status)? (?:20\d|ok)\b"
            r"|(?:up and running|reachable|healthy|responding|live|running (?:at|on) \S+))",
            re.IGNORECASE,
        ),
    ),
    (
        "push",
        late_pattern(
            r"\b(?:I(?:'ve| have)?|we(?:'ve| have)?|and) (?:also |then |successfully )?pushed\b"
            r"|\b(?:changes?|commits?|branch|code|everything|it|fix)\s+(?:(?:is|are|has|have|been|was|were|now|all"
            r"|successfully)\s+){1,4}pushed\b"
            r"|\A(?:Successfully )?[Pp]ushed (?:the|all|my|to|it|this|these|everything|both)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "commit",
        late_pattern(
            r"\b(?:I(?:'ve| have)?|we(?:'ve| have)?|and) (?:also |then |successfully )?committed\b(?! to\b)"
            r"|\b(?:changes?|code|everything|fix|files?|work)\s+(?:(?:is|are|has|have|been|was|were|now|all"
            r"|successfully)\s+){1,4}committed\b(?! to\b)"
            r"|\A(?:Successfully )?Committed (?:the|all|my|it|this|these|as|in|everything|both)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "done",
        late_pattern(
            r"\A(?:everything|all)(?: that)? you (?:asked|wanted)(?: for)? (?:is|has been|was) (?:now )?(?:done"
            r"|implemented|complete"
            r"|in place)\b|\bI(?:'ve| have) (?:now |successfully )*(?:finished|completed) (?:the|your|this) (?:task"
            r"|work"
            r"|implementation|feature|migration|refactoring|fix|job|changes)\b"
            r"|\b(?:tasks?|everything|work|implementation|migration|deployment|backup|export|feature|fix|issues?|bugs?"
            r"|problem|"
            r"requirements?|changes?|solution|job|integration|setup|configuration|optimization|refactoring|upgrade"
            r"|service|"
            r"system|model|infrastructure|pipeline|update|updates|servers?|vulnerability|resources|replication"
            r"|layer|data|checks)\b"
            r"(?:(?!\b(?:that|which|to|when|if|not|for|must|should|will|would|can|could|cannot|needs?|before|"
            r"may)\b)[^.;:\n]){0,60}?\b(?:(?:is|are|has|have|been|was|were|now"
            r"|fully|all|"
            r"successfully|meets?|met)\s+){0,4}(?:complete|completed|done|finished|resolved|fixed|working|deployed"
            r"|implemented|"
            r"provisioned|configured|stable|compliant|ready|verified|exported|in place|met|pass|requirements)\b"
            r"|\b(?:successfully|correctly) (?:\w+ed|built|set up|wrote|written)\b|\bsuccessfully\.?\Z"
            r"|\A(?:it|this|that|everything|all)\s+(?:now )?works?\b",
            re.IGNORECASE,
        ),
    ),
)


_PIECE = re.compile(
    r"(?P<look>\(\?<?[=!])|(?P<anchor>\\[AZ])|(?P<space>\\s| )|(?P<word>\\w)|(?P<digit>\\d)|(?P<back>\\[1-9])"
    r"|(?P<gap>\[\^(?:\\.|[^\]\\])*\])|(?P<one>\[(?:\\.|[^\]\\])*\])|(?P<count>\{[01],\d+\}\??)|(?P<other>\\.|.)",
    re.DOTALL,
)
_SPACE = r"[\s\x0b\x1c-\x1f\x{85}\pZ✅☑✔✓🎉🟢]"
_GAP = r"[^\n]"
_AS = {"anchor": "", "word": r"\S", "digit": r"\pN", "back": r"\pN+", "gap": _GAP, "count": "*"}


class Sieve:
    """Loosened case-insensitive patterns: each matches wherever the original would, and more often.

    The text may still contain markup, quotations and check marks, which are removed before the real patterns run.
    """

    def __init__(self, patterns: Sequence[re.Pattern[str]], apart: Sequence[int] = ()) -> None:
        """`apart`: indexes of patterns with wide gaps, which multiply the states of others."""
        self._patterns = patterns
        self._groups = (tuple(at for at in range(len(patterns)) if at not in apart), tuple(apart))

    @cached_property
    def _sets(self) -> list[tuple[re2.Set, tuple[int, ...]]]:
        """Compiled on first use, which takes as long as reading hundreds of messages."""
        sets: list[tuple[re2.Set, tuple[int, ...]]] = []
        for group in self._groups:
            made = re2.Set.SearchSet()
            for at in group:
                made.Add(f"(?i){_loosened(self._patterns[at].pattern)}")
            made.Compile()
            sets.append((made, group))
        return sets

    def possible(self, text: str, among: Set[int] | None = None) -> list[int]:
        """The indexes of the patterns that may match, in order.

        `among`: those that may match in the text that this one is a part of; only their sets are searched.
        """
        plain = text.encode("utf-8", "replace").translate(None, b"*_#")
        found: list[int] = []
        for made, group in self._sets:
            if (among is None or not among.isdisjoint(group)) and (hits := made.Match(plain)):
                found += [group[hit] for hit in hits]
        found.sort()
        return found


def _loosened(pattern: str) -> str:
    """A pattern in RE2 syntax: without lookaround, anchors and counts, with wide gaps and spaces."""
    found: list[str] = []
    depth = 0
    for piece in _PIECE.finditer(pattern):
        kind, text = piece.lastgroup or "", piece[0]
        if depth or kind == "look":
            depth += text.startswith("(") - (text == ")")
        elif kind == "space":
            found.append(f"{_SPACE}" if text == r"\s" else f"(?:{_SPACE}+)")
        elif kind == "one":
            text = text.replace(r"\w", r"\S").replace(r"\d", r"\pN")
            found.append(f"(?:{text}|{_SPACE}+)" if " " in text else text)
        else:
            found.append(_AS.get(kind, text))
    return "".join(found)

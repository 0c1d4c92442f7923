"""Claims: statements in an agent's own text that evidence can confirm or contradict.

Precision before recall: a plan, a hope, a condition, a quotation or the summary of a file is not a claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import lru_cache

import re2

from ..core import late_pattern
from .claim_patterns import PATTERNS, Sieve
from .model import Claim, ClaimKind

READ = 3_000
"""Characters of a text that are read, at its beginning and at its end."""
SENTENCE = 400
"""Characters of a sentence that are read."""
SHORT = 8
"""Lines up to this length skip the pre-filter."""
MOST = 8
"""Claims kept per text."""

_HINT = late_pattern(
    r"pass|green|\b0 fail|tests? (?:are |is )?fail|answer|succe|complet|\bdone\b|finish|fixed|resolv|implement"
    r"|compil|builds?\b|commit|push|return|respon"
    r"|running|\bup\b|live|happy|no problem|export|provision|in place|configur|created|wrote|written|updated|"
    r"modified|edited|healthy|clean|no (?:type|lint|error|fail)|work|deploy|met\b|verified|stable|compliant|ready",
    re.IGNORECASE,
)

_CODE = late_pattern(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED_LINE = late_pattern(r"^\s{0,3}>.*$", re.MULTILINE)
# The lookbehind comes after the character: with none at the start of the pattern, few positions are tried.
_QUOTE = late_pattern(r"\"[^\"”\n]{3,300}[\"”]|“[^\"”\n]{3,300}[\"”]|'(?<!\w')[^'\n]{12,300}'(?!\w)")
_MARKUP = late_pattern(
    r"(?=[\s*_#\d+•✅☑✔✓🎉🟢-])(?:[*_#]{1,3}(?=\S)|(?<=\S)[*_]{1,3}|^\s*(?:[-*•+]|\d+[.)])\s+|[✅☑✔✓🎉🟢]+\s*)",
    re.MULTILINE,
)
_MARKED = late_pattern(r"[*_#\n•✅☑✔✓🎉🟢]|\A\s*[-+\d]")
_PLAIN_END = late_pattern(r"[.!?](?<!/\.\.[.!?])(?:\s+|(?=[A-Z]))")
_END = late_pattern(r"(?<=[.!?])(?<!/\.\.\.)(?:\s+|(?=[A-Z]))|\n+|(?<=[a-z\d)]);\s+|\s+—\s+|\s+–\s+")

_HEDGE = late_pattern(
    r"\b(?:should|would|will|could|might|may|must|shall|can|cannot|if|whether|when|once|unless|until|till|before"
    r"|after|"
    r"ensure|ensures|ensuring|make sure|making sure|verify|verifying|confirm|confirming|check|checking|checks? that"
    r"|see"
    r"|let me|let's|let us|need|needs|needed|want|wants|going to|plan|plans|try|trying|expect|expects|expected|hope|"
    r"hopefully|likely|probably|presumably|assume|assuming|supposed|suppose|believe|think|seems?|appears?|so that|"
    r"in order|goal|aim|require|requires|required|requirement|criteria|criterion|please|todo|next|remaining"
    r"|instead of|"
    r"rather than|says?|said|states?|stated|claims?|claimed|mentions?|according|asks?|asked|wants?|told|reports? that|"
    r"describes?|suggests?|unclear|example|e\.g|i'll|we'll|it'll|they'll|i'd|to|for|make|makes|making|get|getting"
    r"|only|"
    r"run|running|rerun|re-run|unsure|wonder|imagine|consider|pretend|why|how|what|because|since|test that)\b",
    re.IGNORECASE,
)
"""Makes the statement after it a plan, a condition, a hope or someone else's."""
_NOT = late_pattern(
    r"\b(?:not|no|never|none|neither|nor|without|fails?|failed|failing|cannot|unable|half|some|most|mostly|few|many|"
    r"several|partly|partially|almost|nearly|about|except|but|previously|originally|initially|earlier|already"
    r"|used to)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
_BUT = late_pattern(
    r"^,? *(?:and |but )?[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)\b|^[^.]{0,80}\b(?:except|"
    r"apart from|other than|but (?:not|the|one|two|some|a few|\d+)|only if|once|when|if"
    r"|after you"
    r"|with (?:minor |some |a few |known |several )?(?:issues|errors|warnings|failures|problems)|assuming|"
    r"provided|unless|until|in theory|locally\?)\b",
    re.IGNORECASE,
)
"""Retracts a statement after it was made."""
_PAST = late_pattern(
    r"\b(?:verified|confirmed|checked|ensured|validated|tested|showed|shows|found|see|made sure|I can see|means?"
    r"|result is)"
    r"(?: now)?(?: that)?,?\s*$",
    re.IGNORECASE,
)
"""Precedes a statement that was established."""
_I_RAN = late_pattern(
    r"\b(?:I(?:'ve| have)?|we(?:'ve| have)?)? ?(?:re-?)?(?:ran|executed|run)\b[^.]*\b(?:and|,)\s*$", re.IGNORECASE
)

_ALL = late_pattern(r"\b(?:all|every|full|entire|whole|complete)\b|(\d+)\s*/\s*\1", re.IGNORECASE)
_THEY_PASS = late_pattern(
    r"\A(?:and )?(?:they|these|those|everything|all(?: of (?:them|those))?|both|it)\s+(?:all |now |both "
    r"|still )*(?:pass(?:es|ed)?|are green|are passing)\b",
    re.IGNORECASE,
)
_OF_TESTS = late_pattern(r"\btests?\b|\bsuite\b|\bpytest\b|\bspecs?\b", re.IGNORECASE)
_PLAN = late_pattern(
    r"(?:now |next,? |first,? |then )?(?:let|i'll|i will|i need|i should|i want|we need|we should|you)", re.IGNORECASE
)
_PATH = late_pattern(r"(https?://[\w.:/%-]+)|`([^`\s]{2,120})`")
_FAILING = re2.compile(
    r"(?i)\b(?:tests?|checks?|build|suite|it|they|which|that|still|\d+)\b[^.\n]{0,40}\b(?:fail(?:s|ed|ing|ures?)?"
    r"|broken|errors?|red)\b"
    r"|\bnot (?:yet |all |fully )?(?:pass|work|complete|resolved|done|fixed)|\b(?:partial|incomplete|unresolved"
    r"|degrad|remain)"
    r"|\b(?:do|does|did)n['’]t (?:pass|work)|\bFAILED\b|\bfailure\b|\bcould not\b|\bunable\b"
)


_WROTE = late_pattern(
    r"\bI(?:'ve| have)?\s+(?:\w+ly\s+)?(?:created|written|wrote|updated|modified|edited"
    r"|added(?=[^`'\"]*[`'\"][\w.-]+/))\s+"
    r"(?:the |a |an )?(?:\w+\s+){0,3}?[`'\"]([\w./-]+\.[A-Za-z]{1,5})[`'\"]",
    re.IGNORECASE,
)
_QUOTED_FILE = late_pattern(r"\.[A-Za-z]{1,5}[`'\"]")
"""The end of a quoted file name: much faster to find than the claim."""
_THEY, _FILES, _FIRST = range(3)
_SIEVE = Sieve(
    [_THEY_PASS, _WROTE, *(each for _, each in PATTERNS)],
    [_FIRST, _FIRST + 1, *(at for at, (kind, _) in enumerate(PATTERNS, _FIRST) if kind == "done")],
)


@lru_cache(64)
def read_claims(text: str) -> tuple[Claim, ...]:
    """The claims of a text, one of each kind and subject, in order."""
    read = text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"
    possible = _SIEVE.possible(read) if text else ()
    if not possible:
        return ()
    found: dict[tuple[str, str], Claim] = {}
    before, among = "", frozenset(possible)
    for sentence in _sentences(read, among) if possible != [_FILES] else ():
        can = _SIEVE.possible(sentence, among)
        for kind, pattern in [PATTERNS[at - _FIRST] for at in can if at >= _FIRST]:
            match = pattern.search(sentence)
            if (
                match is not None
                and _is_stated(sentence, match)
                and _HINT.search(sentence)
                and not (kind == "done" and ("reproduc" in sentence or admits_failure(text)))
            ):
                subject = _subject(kind, sentence)
                every = _ALL.search(match[0]) is not None
                found.setdefault((kind, subject), Claim(kind, sentence[:200], subject=subject, every=every))
                if kind != "done":
                    break
        if _THEY in can and _THEY_PASS.match(sentence) and _is_about_tests(before) and not _BUT.search(sentence):
            found.setdefault(("tests", ""), Claim("tests", sentence[:200], every=True))
        before = sentence
    for path in claimed_files(text) if _FILES in possible else ():
        found.setdefault(("file", path), Claim("file", f"wrote {path}", subject=path))
    return tuple(found.values())[:MOST]


def admits_failure(text: str) -> bool:
    """Whether a text says that something fails or is unfinished."""
    return _FAILING.search(text[: 2 * READ]) is not None


def _is_about_tests(sentence: str) -> bool:
    return _OF_TESTS.search(sentence) is not None and _PLAN.match(sentence) is None


def _is_stated(sentence: str, match: re.Match[str]) -> bool:
    """Whether a statement is made as a fact: nothing before it makes it a plan, nothing after it retracts it."""
    if sentence.rstrip().endswith("?"):
        return False
    before, after = sentence[: match.start()], sentence[match.end() :]
    if _BUT.search(after) or re.match(r"\s*(?:\?|now\?)", after):
        return False
    if re.match(r"\s+(?:when|if|once|unless|until|except|only)\b", after, re.IGNORECASE):
        return False
    if _NOT.search(_MENDED.sub("", match[0])) and not _COUNTED_ZERO.search(match[0]):
        return False
    if _PAST.search(before) or _I_RAN.search(before):
        return not _NOT.search(before[-30:])
    clause = re.split(r"[,;:]\s|\b(?:and|so|but|now that|then)\s", before)[-1] if not _IF.search(before) else before
    return _HEDGE.search(clause) is None and _NOT.search(clause) is None


_IF = late_pattern(
    r"\b(?:if|when|once|until|unless|whether|should|would|will|ensure|make sure|verify|so that|before|let me|let's"
    r"|need|to|please)\b",
    re.IGNORECASE,
)
_MENDED = late_pattern(r"\b(?:(?:previously |once )?failing|no failures|without errors)\b", re.IGNORECASE)
_COUNTED_ZERO = late_pattern(r"\b(?:0|no|zero|without)\b", re.IGNORECASE)


def _subject(kind: ClaimKind, sentence: str) -> str:
    if kind not in ("endpoint",):
        return ""
    found = _PATH.search(sentence)
    return (found[1] or found[2] or "") if found is not None else ""


def _may_claim(line: str, possible: Set[int]) -> bool:
    return len(line) <= SHORT or line.isspace() or bool(_SIEVE.possible(line, possible))


def _sentences(text: str, possible: Set[int]) -> Iterator[str]:
    """The sentences of a text; only of lines that may contain a claim, unless one may refer to the sentence before."""
    text = _CODE.sub("\n", text) if "```" in text or "~~~" in text else text
    if _THEY not in possible and text.isascii():
        # Some non-ASCII characters join lines, and a placeholder for a line is not a sentence.
        text = "\n".join([line if _may_claim(line, possible) else "x" for line in text.split("\n")])
    text = _QUOTED_LINE.sub("", text) if ">" in text else text
    text = _QUOTE.sub('""', text) if '"' in text or "'" in text or not text.isascii() else text
    text = _MARKUP.sub("", text) if _MARKED.search(text) else text
    # Most texts have only plain sentence ends, which are much faster to find.
    parts = _PLAIN_END.sub(_ended, text).split("\n") if text.isascii() and ";" not in text else _END.split(text)
    for part in parts:
        part = part.strip()
        if len(part) > 5:
            yield part[:SENTENCE]


def _ended(end: re.Match[str]) -> str:
    """The end of a sentence followed by a newline; a template would take twice as long."""
    return f"{end[0]}\n"


_RAN = late_pattern(
    r"\bI(?:'ve| have)?\s+(?:already\s+)?(?:ran|run|executed)\s+(?:the |all |our )?(?:\w+\s+)?tests?\b", re.IGNORECASE
)
_VERBS = ("created", "written", "wrote", "updated", "modified", "edited", "added")
_TEST_WORDS = frozenset((b"pytest", b"unittest", b"tox", b"jest", b"vitest", b"ctest", b"runtests", b"test", b"tests"))


def claims_pass(text: str) -> bool:
    """Whether a text says, without an if or a should, that tests pass."""
    return "test" in text and any(claim.kind == "tests" for claim in read_claims(text))


def claims_ran(text: str) -> bool:
    """Whether a text says that tests were run."""
    return "test" in text and _RAN.search(text[:READ]) is not None


def claimed_files(text: str) -> list[str]:
    """The files that a text says were written."""
    # Few texts quote a file, which one search finds; most contain one of the verbs.
    if _QUOTED_FILE.search(text) is None or not any(verb in text for verb in _VERBS):
        return []
    return _WROTE.findall(text[:READ])


def tests(asked: set[bytes]) -> bool:
    """Whether a call runs tests, judging by its words."""
    return not asked.isdisjoint(_TEST_WORDS)

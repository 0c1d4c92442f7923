"""Claims: statements in an agent's own text that evidence can confirm or contradict.

A claim is a subject and what is said of it, in one clause, word by word. Precision before recall: a plan, a hope, a
condition, a quotation or the summary of a file is not a claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from ..core import late_pattern
from .model import Claim, ClaimKind

READ = 3_000
"""Characters of a text that are read, at its beginning and at its end."""
SENTENCE = 400
"""Characters of a sentence that are read."""
MOST = 8
"""Claims kept per text."""
BETWEEN = 6
"""Words between a subject and what is said of it."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SUBJECTS: dict[ClaimKind, frozenset[str]] = {
    "tests": _words("""
        test tests suite suites spec specs checks assertions scenarios pytest unittest jest vitest mocha tox nox ctest
        rspec phpunit test-suite
    """),
    "types": _words("mypy tsc pyright types typescript type-checker type-checking typecheck checker checking"),
    "lint": _words("ruff eslint lint linter linting flake8 pylint clippy prettier black biome"),
    "build": _words("build compilation"),
    "endpoint": _words("endpoint server api service site page route url check"),
}  # fmt: skip
PASSES = _words("pass passes passed passing green succeed succeeds succeeded successful clean cleanly happy")
MENDED = _words("failing previously")
"""Words that a test may be called by although it passes now."""
THEY = _words("they it everything these those all both")
MADE = _words("it everything project code app application package crate binary site module that this")
BUILDS = _words("builds compiles built compiled finishes completes finished completed ran runs type-checks")
FINE = _words("successfully cleanly fine without again now")
UP = _words("healthy live reachable responding up running")
ANSWERS = _words("returns return returned responds responded answers answered")
KEPT = _words("i i've we we've and changes change commits commit branch code everything it fix files file work")
GIVEN: dict[str, ClaimKind] = {"committed": "commit", "pushed": "push"}
WORK = _words("""
    task tasks everything work implementation migration deployment backup export feature fix issue issues bug bugs
    problem requirement requirements changes solution job integration setup configuration optimization refactoring
    upgrade system infrastructure pipeline update updates vulnerability replication data service model
""")
DONE = _words("""
    complete completed done finished resolved fixed working deployed implemented provisioned configured stable ready
    verified exported met
""")
GLUE = _words("""
    are is now have has been all were was still also currently again successfully both each being fully cleanly
    correctly reports report shows cases case files on in of with the complete fully and a an has it they any more
    error errors exit ran run an over for at strict check
""")
"""Words that may stand between a subject and what is said of it."""
BE = _words("are is now have has been were was all fully")
NOTHING = _words("no zero 0 without")
FAULTS = _words("failures failure errors error problems issues warnings failing fails")
HEDGES = _words("""
    should would will could might may must shall can cannot if whether when once unless until till before after
    ensure ensures ensuring make makes making sure verify verifying confirm confirming check checking see let let's
    need needs needed want wants going plan plans try trying expect expects expected hope hopefully likely probably
    presumably assume assuming supposed suppose believe think seem seems appear appears goal aim require requires
    required requirement criteria please todo next remaining instead rather say says said state states stated claim
    claims claimed mentions according ask asks asked told describes suggests unclear example i'll we'll it'll
    they'll i'd to for get getting only run running rerun unsure wonder imagine consider pretend why how what
    because since prints print message returns that which where ought shall never readme user docs previous log
""")
"""Makes the statement after it a plan, a condition, a hope or someone else's."""
CONDITIONS = _words("""
    if when once until unless whether should would will ensure make verify before let let's need to please says said
    asked told claimed ought previously
""")
"""The same, wherever in the sentence it stands before the statement."""
NOT = _words("""
    not no never none neither nor without fail fails failed failing cannot unable half some most mostly few many
    several partly partially almost nearly about except but originally initially earlier used two three don't didn't
    doesn't isn't aren't wasn't can't couldn't hasn't haven't won't previously people
""")
ESTABLISHED = _words("verified confirmed checked validated tested showed found means ensured")
CLAUSES = _words(", ; : and so but then now-that")
RETRACTS = _words("""
    except apart other once when if assuming provided unless until theory only locally partially in-theory before
""")
OBJECTS = _words("a an its their some no none to through back into list")
ALL = _words("all every full entire whole complete everything no zero 0")
SOME = _words("""
    new regression related relevant affected updated added specific unit integration e2e my previously failing both
    these those three
""")
"""Says that not all tests are meant."""

_CODE = late_pattern(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|^\s{0,3}>.*$", re.DOTALL | re.MULTILINE)
_QUOTE = late_pattern(r"\"[^\"”\n]{3,300}[\"”]|“[^\"”\n]{3,300}[\"”]|'(?<!\w')[^'\n]{12,300}'(?!\w)")
_MARKS = late_pattern(
    r"[*_#`✅☑✔✓🎉🟢]*(?<![\w/.])[*_#✅☑✔✓🎉🟢]+|[*#✅☑✔✓🎉🟢`]+|^\s*(?:[-•+]|\d+[.)])\s+", re.MULTILINE
)
_END = late_pattern(r"(?<=[.!?])(?<!/\.\.\.)(?:\s+|(?=[A-Z]))|\n+|(?<=[a-z\d)]);\s+|\s+[—–]\s+")
_WORD = late_pattern(r"[\w./:%'’+-]*[\w/]|[,;:]|/")
_FILE = late_pattern(
    r"\bI(?:'ve| have)?\s+(?:\w+ly\s+)?(?:created|written|wrote|updated|modified|edited"
    r"|added(?=[^`'\"]*[`'\"][\w.-]+/))"
    r"\s+(?:the |a |an )?(?:\w+\s+){0,3}?[`'\"]([\w./-]+\.[A-Za-z]{1,5})[`'\"]"
)
_NAMED = late_pattern(r"[\w/.-]*\btest_\w+(?:\.\w+)*(?:::\w+)*|[\w/-]+[._-](?:test|spec)\.[jt]sx?|\b\w+_test\.\w+")
_FAILS = late_pattern(
    r"(?i)\b(?:tests?|checks?|build|suite|it|they|which|that|still|\d+)\b[^.\n]{0,40}\b(?:fail(?:s|ed|ing|ures?)?|broken)\b"
    r"|\bnot (?:yet |all |fully )?(?:pass|work|complete|resolved|done|fixed)|\b(?:incomplete|unresolved)\b"
    r"|\b(?:do|does|did)n['’]t (?:pass|work)|\bcould not\b|\bunable\b"
)


@lru_cache(64)
def read_claims(text: str) -> tuple[Claim, ...]:
    """The claims of a text, one of each kind and subject, in order."""
    read = text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"
    found: dict[tuple[str, str], Claim] = {}
    before: Sequence[str] = ()
    for sentence in _sentences(read):
        words = [word.lower().replace("’", "'") for word in _WORD.findall(sentence)]
        for kind, at in _said(words, before) if not sentence.endswith("?") else ():
            if kind == "done" and ("reproduced" in words or admits_failure(text)):
                continue
            claim = _claim(kind, sentence, words[: at + 1])
            found.setdefault((kind, claim.subject), claim)
        before = words
    for path in claimed_files(text):
        found.setdefault(("file", path), Claim("file", f"wrote {path}", subject=path))
    return tuple(found.values())[:MOST]


def _claim(kind: ClaimKind, sentence: str, words: Sequence[str]) -> Claim:
    subject, every, count = "", False, 0
    if kind == "endpoint":
        subject = next((word for word in words if word.startswith(("/", "http"))), "")
    if kind == "tests":
        named = _NAMED.search(sentence)
        subject = named[0] if named is not None else ""
        named_all = not ALL.isdisjoint(words) or words[-1][-2:] != "ed"
        every = not subject and named_all and SOME.isdisjoint(words)
        count = next((int(word) for word in reversed(words) if word.isdigit()), 0)
    return Claim(kind, sentence[:200], subject=subject, every=every, count=count)


def _said(words: Sequence[str], before: Sequence[str]) -> Iterator[tuple[ClaimKind, int]]:
    """What a sentence states, and at which of its words that ends."""
    seen: set[ClaimKind] = set()
    for at in range(len(words)):
        found = _about(words, at, before)
        if found is None or found[0] in seen or (found[0] == "done" and seen):
            continue
        kind, start = found
        if _is_stated(words, start, at):
            seen.add(kind)
            yield kind, at


def _about(words: Sequence[str], at: int, before: Sequence[str]) -> tuple[ClaimKind, int] | None:
    """The kind of a statement that ends at a word, and the word where it begins."""
    word, after = words[at], words[at + 1 : at + 4]
    if word in GIVEN and (not after or after[0] != ("to" if word == "committed" else "back")):
        start = _subject(words, at, KEPT) if {*words[:at]} - {"successfully"} else 0
        return (GIVEN[word], start) if start is not None else None
    if word in FAULTS and NOTHING.intersection(words[max(0, at - 3) : at]):
        return _faultless(words, at)
    if word in PASSES and not (after and (after[0] in OBJECTS or after[0] == "the")):
        if _counts(words, at):
            return "tests", 0
        refers = not SUBJECTS["tests"].isdisjoint(before) and HEDGES.isdisjoint(before[:2])
        if refers and not THEY.isdisjoint(words[max(0, at - 3) : at]) and _checked(words, at) is None:
            return "tests", at
        return _checked(words, at)
    if word in BUILDS and after and after[0] in FINE:
        if word[:5] == "compl" or MADE.isdisjoint(words[:at]):
            return _checked(words, at)
        return ("types" if word == "type-checks" else "build"), at
    if word in ANSWERS and any(each[:2] == "20" and len(each) == 3 for each in words[at : at + 6]):
        start = _subject(words, at, SUBJECTS["endpoint"])
        return ("endpoint", start) if start is not None else None
    if word in UP and not BE.isdisjoint(words[max(0, at - 3) : at]):
        start = _subject(words, at, SUBJECTS["endpoint"])
        return ("endpoint", start) if start is not None else None
    return _finished(words, at)


def _finished(words: Sequence[str], at: int) -> tuple[ClaimKind, int] | None:
    word = words[at]
    if word in DONE:
        start = next((back for back in range(at - 1, max(-1, at - 1 - BETWEEN), -1) if words[back] in WORK), None)
        linked = start is not None and (at == len(words) - 1 or not BE.isdisjoint(words[start:at]) or start == at - 1)
        if start is not None and linked:
            return "done", start
        if word in ("finished", "completed") and not {"i've", "have"}.isdisjoint(words[max(0, at - 3) : at]):
            return "done", at
    if word in ("works", "work") and at and words[at - 1] in (*MADE, "all", "now", "fix"):
        return "done", at - 1
    if word == "successfully" and (at == len(words) - 1 or words[at + 1][-2:] == "ed"):
        return "done", at
    return None


def _faultless(words: Sequence[str], at: int) -> tuple[ClaimKind, int] | None:
    """`no type errors`, `mypy reports no errors`, `0 failures`, `no test fails`."""
    near = words[max(0, at - 3) : at + 2]
    if "type" in near or "typescript" in near:
        return "types", at
    if not _words("lint linting linter").isdisjoint(near):
        return "lint", at
    if (about := _checked(words, at)) is not None:
        return about
    tests = words[at] in ("failures", "failing", "fails") and words[at + 1 : at + 2] != ["commands"]
    return ("tests", at) if tests else None


def _checked(words: Sequence[str], at: int) -> tuple[ClaimKind, int] | None:
    """The kind of check that is the subject of a word, and where it stands."""
    found = ((kind, _subject(words, at, SUBJECTS[kind])) for kind in SUBJECTS if kind != "endpoint")
    return next(((kind, start) for kind, start in found if start is not None), None)


def _subject(words: Sequence[str], at: int, known: frozenset[str]) -> int | None:
    """Where the subject of the word at a place stands; None if there is none of these."""
    for back in range(at - 1, max(-1, at - 2 - BETWEEN), -1):
        word = words[back]
        if word in known or (known is SUBJECTS["tests"] and "test_" in word):
            return back
        if known is SUBJECTS["endpoint"] and word.startswith(("/", "http")):
            return back
        if not (word in GLUE or word in NOTHING or word.isdigit() or {"/", ".", "-"} & {*word} or word in MENDED):
            return None
    return None


def _counts(words: Sequence[str], at: int) -> bool:
    """`12/12 passing`, `3 of 3 tests passed`, `12 passed, 0 failed`."""
    skipped = SUBJECTS["tests"] | GLUE - {"of"}
    before = [word for word in words[max(0, at - 4) : at] if word not in skipped]
    if before and "/" in before[-1]:
        a, _, b = before[-1].partition("/")
        return a == b and a.isdigit()
    if len(before) > 2 and before[-2] == "of":
        return before[-1] == before[-3] and before[-1].isdigit()
    none = any(words[i] in NOTHING and words[i + 1][:4] in ("fail", "erro") for i in range(at + 1, len(words) - 1))
    return none and bool(before) and before[-1].isdigit()


def _is_stated(words: Sequence[str], start: int, at: int) -> bool:
    """Whether a statement is made as a fact: nothing before it makes it a plan, nothing after it retracts it."""
    after, inner = words[at + 1 : at + 9], words[start:at]
    zero = not NOTHING.isdisjoint(words[max(0, at - 3) : at + 1])
    if not RETRACTS.isdisjoint(after[:4]) or ("but" in after and len(after) > after.index("but") + 1):
        return False
    if any(a.isdigit() and a != "0" and b[:4] in ("fail", "erro") for a, b in pairwise(after)):
        return False
    if not HEDGES.isdisjoint({*inner} - {"check", "checking", "to"}):
        return False
    before = words[:start]
    if not zero and not NOT.isdisjoint({*inner, *before[-3:]} - MENDED - {"without"}):
        return False
    if not ESTABLISHED.isdisjoint(before[-4:]):
        return NOT.isdisjoint(before[-6:])
    if not CONDITIONS.isdisjoint(before):
        return False
    clause = list(before)
    for back in range(len(clause) - 1, -1, -1):
        if clause[back] in CLAUSES:
            clause = clause[back + 1 :]
            break
    loose = {*clause} - ({*NOTHING} if zero else set()) - MENDED
    return HEDGES.isdisjoint(loose) and NOT.isdisjoint(loose)


def admits_failure(text: str) -> bool:
    """Whether a text says that something fails or is unfinished."""
    return _FAILS.search(text[: 2 * READ]) is not None


def _sentences(text: str) -> Iterator[str]:
    text = _CODE.sub("\n", text) if "```" in text or "~~~" in text or ">" in text else text
    text = _QUOTE.sub('""', text) if '"' in text or "'" in text or not text.isascii() else text
    for part in _END.split(_MARKS.sub("", text)):
        if len(part.strip()) > 5:
            yield part.strip()[:SENTENCE]


def claimed_files(text: str) -> list[str]:
    """The files that a text says were written."""
    return _FILE.findall(text[:READ]) if "`" in text or "'" in text or '"' in text else []

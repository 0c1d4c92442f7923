"""Task words: clauses from a task's English text, each with the phrase that it comes from.

Precision before recall. A phrase that is fully understood becomes an enforced clause; one that only looks like a rule
becomes a constraint, which is repeated to the agent but never enforced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ..core import FORBIDDEN, Clause, ClauseKey, late_pattern
from .task_targets import ends, targets

SOURCE = "the task"
READ = 16_000
"""Characters of a task that are parsed."""
MOST = 48
"""Maximum number of clauses per task."""
PHRASE = 200
TASKS = 256
REMEMBERED = 2048
SHORT = 1_000
"""Parsed tasks and lines cached, and the maximum length of a cached line: recorded traces mostly share the same tasks.
"""

_PASTED = late_pattern(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)"
    r"|<(issue\w*|pr_description|problem_statement|bug_report|traceback|error|log|output|example|hints?|code|pre|"
    r"diff)\b[^>]*>.*?</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
"""Text that a task quotes rather than says."""
_SPLIT = late_pattern(
    # Few characters can begin a match, and checking for them first is faster.
    r"(?=[\"')`\s;–—-])(?:(?<=[.!?;])[\"')`]*\s+(?=[A-Z`\"'(*-])|\n+|(?<=\s)[-–—](?=\s)|;\s+)"
)
_BULLET = late_pattern(r"^\s*(?:[-*+•]|\d{1,2}[.)]|\(\d{1,2}\)|[a-z][.)]|#{1,6}|\*\*)\s*(?:\[[ xX]?\]\s*)?")
_QUOTED_LINE = late_pattern(r"^\s*>")

_BEFORE = late_pattern(
    r"(?:^|[,:(]\s*|\b(?:and|but|please|then|also|so|just|while|however|always|note|note that|important|remember|you|"
    r"the agent|agents|kindly"
    r"|constraint|constraints|rule|rules|restrictions?|importantly|otherwise|strictly|still|again)[,:]?\s*(?:to\s+)?)$",
    re.IGNORECASE,
)
"""What may precede an order: nothing, the end of another clause, or the person it addresses."""
_FOREIGN = late_pattern(
    r"\b(?:i|we|he|she|they|it|one|users?|people|nobody|somebody|someone|who|which|that)\b\s*$", re.IGNORECASE
)
_CONDITION = late_pattern(
    r"\b(?:unless|until|except|if|whenever|where possible|when possible|more than|too (?:much|many)|"
    r"without (?:asking|permission|approval"
    r"|telling|a|my|first|review|consulting)|directly|unnecessar\w+|needlessly|beyond|other than what|as needed|"
    r"where needed|if needed"
    r"|for example|e\.g\.|such as|after|before|once|yet|by default|would|apart from|aside from|instead of|"
    r"rather than|in production"
    r"|at runtime|during|from (?:scratch|within|the)|manually|by hand)\b",
    re.IGNORECASE,
)
_STARTS_CONDITION = late_pattern(
    r"^\s*(?:if|when|whenever|unless|in case|once|after"
    r"|before(?!\s+(?:you\s+(?:finish|stop|are\s+done|say)|finishing|stopping))|should|where|while|as soon as"
    r"|suppose|imagine|"
    r"assuming|although|because)\b",
    re.IGNORECASE,
)

_NOT = (
    r"(?:(?:do\s+not|don['’]?t|do\s*n['’]t)(?:\s+you\s+dare(?:\s+to)?)?|under\s+no\s+circumstances?"
    r"(?:\s+(?:should|may|must|are)\s+you(?:\s+to)?)?|never|must\s+not|mustn['’]t|should\s+not|shouldn['’]t|may\s+not|can\s*not|"
    r"can['’]t|are\s+not\s+(?:allowed|permitted|supposed)\s+to|aren['’]t\s+(?:allowed|permitted)\s+to|"
    r"not\s+allowed\s+to|need\s+not\s+to)"
)
_CHANGE = (
    r"(?:modify|touch|edit|change|alter|update|overwrite|make\s+(?:any\s+)?(?:changes|edits|modifications)\s+(?:to|in|"
    r"inside)|write\s+(?:in)?to|mess\s+with|tamper\s+with)"
)
_CHANGING = (
    r"(?:modifying|touching|editing|changing|altering|updating|making\s+(?:any\s+)?(?:changes|edits|"
    r"modifications)\s+(?:to|in)|writing\s+(?:in)?to|tampering\s+with)"
)
_CHANGED = r"(?:modified|touched|edited|changed|altered|updated|tampered with)"

_FORBID = late_pattern(
    rf"(?P<not>\b{_NOT}(?:,?\s+(?:ever|under any circumstances?|to|try to|attempt to|even),?)?\s+"
    rf"(?:(?:{_CHANGE}|delete|remove|rename|move)\s*(?:,|/|or|and|,\s*or)\s*)*{_CHANGE}(?:\s*(?:,|/|or|and|,\s*or)\s*(?:{_CHANGE}|delete|remove|rename|move))*)\s+"
    rf"|(?P<avoid>\b(?:avoid|refrain\s+from|without|no|not)\s+{_CHANGING}(?:\s*(?:,|/|or|and)\s*{_CHANGING})*)\s+"
    r"|(?P<no>\b(?:with\s+)?(?:no|zero)\s+(?:changes|edits|modifications)(?:\s+(?:are\s+)?(?:allowed|permitted))?\s+(?:to|in|"
    r"inside|of)\s+)"
    r"|(?P<off>\b(?:hands\s+off|stay\s+(?:out\s+of|away\s+from)|keep\s+(?:out\s+of|away\s+from|"
    r"your\s+hands\s+off))\s+)",
    re.IGNORECASE,
)
_LEAVE = late_pattern(
    r"(?:leav(?:e|ing)|keep(?:ing)?)\s+(?P<what>.{2,160}?)\s+(?:alone|untouched|unchanged|unmodified|intact|"
    r"(?:exactly\s+)?as\s+(?:is|it\s+is|they\s+are)|as-is)\b(?P<rest>[^.]*)",
    re.IGNORECASE,
)
_PASSIVE = late_pattern(
    rf"^(?P<what>.{{2,160}}?)\s+(?:must|should|may|can|shall|are|is)\s*(?:never|not|"
    rf"n['’]t)\s+(?:to\s+)?be\s+(?:{_CHANGED}(?:\s*(?:,|/|or|and)\s*)?)+(?P<rest>.*)$"
    r"|^(?P<what2>.{2,160}?)\s+(?:(?:must|should|has to|have to|needs? to|is to|are to)\s+(?:remain|stay|be\s+left|"
    r"be\s+kept)|stays?|remains?)\s+(?:exactly\s+)?(?:unchanged|untouched|alone|as[ -]is|as\s+(?:it\s+is|they\s+are)|"
    r"the\s+same|unmodified|intact)(?P<rest2>.*)$"
    rf"|^(?:neither\s+(?P<what5>.{{2,160}}?)|nothing\s+(?P<what6>(?:in|under|inside|within|below)\s+.{{2,160}}?))\s+"
    rf"(?:must|should|may|can|is\s+to|are\s+to)\s+be\s+(?:{_CHANGED}(?:\s*(?:,|/|or|and)\s*)?)+(?P<rest5>.*)$"
    rf"|^I\s+(?:do\s+not|don['’]t)\s+want\s+(?P<what7>.{{2,160}}?)\s+(?:to\s+be\s+)?{_CHANGED}(?P<rest7>.*)$"
    r"|^(?P<what3>.{2,160}?)\s+(?:is|are)\s+(?:strictly\s+)?(?:off[- ]limits|read[- ]only|frozen|"
    r"not\s+to\s+be\s+(?:touched|changed|modified|edited))(?P<rest3>.*)$"
    r"|^treat\s+(?P<what4>.{2,160}?)\s+as\s+(?:read[- ]only|frozen|off[- ]limits)(?P<rest4>.*)$",
    re.IGNORECASE,
)
_MARKED = late_pattern(
    r"^[`\"']?([\w./*-]+)[`\"']?(?:\s.{0,80})?\((?:do not|don['’]t)\s+(?:modify|touch|edit|change)(?: it)?\)\s*$",
    re.IGNORECASE,
)

_ONLY = late_pattern(
    r"you(?:['’]re|\s+are)\s+only\s+(?:allowed|permitted)\s+to\s+(?:change|modify|edit|touch)\s+(?P<k>.+)"
    r"|(?:you\s+(?:may|should|must|can|are\s+allowed\s+to|are\s+to)\s+)?(?:only\s+ever\s+|only\s+)(?:change|modify|"
    r"edit|touch|update|work\s+(?:on|in|inside|within)|make\s+changes\s+(?:to|in|inside|within)|alter|"
    r"write\s+to)\s+(?P<a>.+)"
    r"|(?:change|modify|edit|touch|update|alter)\s+(?:only|nothing\s+(?:but|except|other\s+than)|just)\s+(?P<b>.+)"
    r"|(?:work|stay|remain|keep|make\s+(?:all\s+|your\s+)?changes)\s+(?:strictly\s+|only\s+|entirely\s+|"
    r"exclusively\s+)+(?:in|inside|within|to)\s+(?P<c>.+)"
    r"|stay\s+(?:in|inside|within)\s+(?P<d>.+)"
    r"|(?:restrict|limit|confine|keep)\s+(?:yourself|(?:all\s+|any\s+|your\s+|the\s+|of\s+)*(?:changes|edits|"
    r"modifications|work))\s+(?:to|in|inside|within)\s+(?P<e>.+)"
    r"|(?:all|any|your|the)?\s*(?:changes|edits|modifications)\s+(?:must|should|have\s+to|are\s+to|"
    r"may)\s+(?:only\s+)?(?:be\s+(?:limited|confined|restricted|made\s+only)\s+(?:to|in)|stay\s+(?:in|inside|"
    r"within)|be\s+(?:only\s+)?(?:in|inside|within)|only\s+be\s+(?:made\s+)?(?:in|to)|only\s+(?:touch|"
    r"affect))\s+(?P<f>.+)"
    r"|(?:touch|change|modify|edit)\s+nothing\s+outside(?:\s+of)?\s+(?P<g>.+)"
    r"|the\s+only\s+(?:files?|folders?|director(?:y|ies)|place)\s+(?:that\s+)?(?:you\s+)?(?:may|should|can|"
    r"are\s+allowed\s+to|need\s+to)\s+(?:change|modify|edit|touch|be\s+changed)\s+(?:is|are)\s+(?P<h>.+)"
    r"|(?:change|modify|edit|touch|update|make\s+changes\s+(?:in|to))\s+(?P<i>\S.{1,120}?)\s+only(?=\s*(?:$|[.;,]))"
    r"|(?:changes|edits|modifications)\s+only\s+(?:in|to|inside|within)\s+(?P<j>.+)",
    re.IGNORECASE,
)

_ONLY_FILE = late_pattern(
    r"^(?P<what>.{2,160}?)\s+(?:is|are)\s+the\s+only\s+(?:files?|folders?|director(?:y|ies)|places?)\s+(?:that\s+)?"
    r"you\s+(?:may|should|can|must|are\s+allowed\s+to|are\s+to)\s+(?:change|modify|edit|touch)(?P<rest>.*)$",
    re.IGNORECASE,
)

_THING = (
    r"(?:any(?:thing|\s+(?:new|additional|extra|other|more|further))?|new|additional|extra|more|further|other|"
    r"third[- ]party|system|python|npm|node|the|your|these|this|my|our|of|changes?|work|code|commits?|"
    r"branch(?:es)?|results?|it|them|packages?|dependenc(?:y|ies)|librar(?:y|ies)|modules?|software|tools?|to|"
    r"origin|upstream|remotes?|github|gitlab|git|repo(?:sitory)?|server|"
    r"app(?:lication)?|service|site|anywhere|at|all|yourself|just|yet\b)"
)
_ACT = {
    "install": r"install(?:ing)?",
    "commit": r"commit(?:ting)?",
    "push": r"push(?:ing)?",
    "deploy": r"deploy(?:ing)?",
}
_ANY_ACT = "|".join(_ACT.values())
_ACTION = late_pattern(
    rf"(?:\b{_NOT}\s+(?:(?:ever|try\s+to|attempt\s+to|git|pip3?|npm|apt|also|actually"
    rf"|add\s+(?:any\s+)?(?:new\s+)?(?:dependencies|packages|libraries)\s+or)\s+)*|\b(?:avoid|refrain\s+from|without|"
    rf"no)\s+(?:git\s+)?)"
    rf"(?P<acts>(?:{_ANY_ACT})(?:\s*(?:,|/|or|and|nor|,\s*or)\s*(?:git\s+)?(?:{_ANY_ACT}))*)\b(?P<rest>[^.;!]*)"
    r"|\b(?:(?:do\s+not|don['’]t)\s+(?:make|create)\s+(?:any\s+)?(?:new\s+)?|make\s+no\s+|"
    r"no\s+(?:git\s+)?)(?P<commits>commits|pushes)(?P<rest2>[^.;!,]*)"
    r"|\b(?:nothing|no\s+(?:new\s+|additional\s+)?(?:packages?|dependenc(?:y|ies)|librar(?:y|ies)|software))\s+"
    r"(?:must|should|may|can|is\s+to|are\s+to)\s+be\s+(?P<acted>installed|committed|pushed|deployed)(?P<rest3>[^.;!]*)"
    r"|\bleave\s+(?:(?:the|your|all|my|any)\s+)*(?:changes|work|everything|edits|it)\s+"
    r"(?P<uncommitted>uncommitted)(?P<rest4>[^.;!]*)",
    re.IGNORECASE,
)
_GENERIC = late_pattern(
    rf"^(?:\s*{_THING})*\s*(?:$|[,:).]|(?:and|but)\s|because\b|since\b|to\s+(?:fix|solve|do)\b)", re.IGNORECASE
)
_NAMES_BRANCH = late_pattern(
    r"\b(?:to|the)\s+(?:the\s+)?(?:main|master|develop|trunk|release|protected)\b|directly", re.IGNORECASE
)

_COMMAND = (
    r"(?:`(?P<{0}>[^`\n]{{3,200}})`|\b(?P<{0}_bare>pytest(?:\s+-[\w-]+)*|npm\s+(?:run\s+)?[\w:-]+|"
    r"yarn\s+(?:run\s+)?test|pnpm\s+(?:run\s+)?test|make\s+(?:test|check|lint)"
    r"|cargo\s+(?:test|build|clippy|check)|go\s+(?:test|build|vet)\s+\./\.\.\.|tox|ruff\s+check(?:\s+\.)?|"
    r"mypy(?:\s+[\w./-]+)?|tsc\s+--noEmit|mvn\s+test|gradle\s+test|\./gradlew\s+test))"
)
_PASSES = (
    r"(?:pass(?:es)?|succeeds?|(?:is|stays?|remains?|be|are)\s+(?:green|clean|passing|successful)|"
    r"exits?\s+(?:with\s+)?(?:0|zero|successfully|cleanly)"
    r"|runs?\s+(?:cleanly|successfully|without\s+(?:errors?|failures?))|reports?\s+no\s+(?:errors?|failures?)|works?)"
)
_DONE = late_pattern(
    rf"{_COMMAND.format('a')}\s+(?:(?:must|should|has\s+to|needs?\s+to|have\s+to|ought\s+to)\s+(?:still\s+|"
    rf"also\s+|then\s+)?{_PASSES})"
    rf"|(?:make\s+sure|ensure|verify|check|"
    rf"confirm)\s+(?:that\s+)?(?:the\s+command\s+)?{_COMMAND.format('b')}\s+(?:still\s+|also\s+|now\s+)?{_PASSES}"
    rf"|run\s+{_COMMAND.format('c')}\s+(?:and|to)\s+(?:make\s+sure|ensure|verify|check|"
    rf"confirm)\s+(?:that\s+)?(?:it|everything|all(?:\s+\w+)?|they)\s+(?:still\s+)?{_PASSES}"
    rf"|(?:until|(?:you\s+are\s+|you['’]re\s+|it\s+is\s+)?(?:done|finished|"
    rf"complete)\s+(?:only\s+)?(?:when|once|as\s+soon\s+as))\s+{_COMMAND.format('d')}\s+{_PASSES}",
    re.IGNORECASE,
)
_LOOKS_RUN = late_pattern(
    r"^(?:\./|[\w./-]+\s+\S|(?:pytest|tox|make|mypy|ruff|nox|eslint|tsc|rspec|phpunit|ctest|jest|vitest)$)"
)

_RULE = late_pattern(
    rf"\b(?:{_NOT})\b|\bmust\b|\bonly\b|\bwithout\s+\w+ing\b|\b(?:avoid|refrain)\b|\bensure\b|\bmake\s+sure\b|"
    rf"\bverify\s+that\b"
    r"|\bleave\b.{1,80}\b(?:alone|as\s+is|untouched|unchanged)\b|\bkeep\b|\bpreserve\b|\bwork\s+in\b|\bstay\b",
    re.IGNORECASE,
)
_HEADING = late_pattern(
    r"^\W*(?:hard\s+|important\s+)?(?:constraints?|rules?|restrictions?|requirements?|guardrails|boundaries|"
    r"do\s*n[o']t|important)\W*:?\W*$",
    re.IGNORECASE,
)
_ORDER = late_pattern(
    rf"(?:^|[,:]\s*)(?:please\s+|you\s+|also\s+|and\s+|but\s+)?(?:{_NOT}|only|make\s+sure|ensure|verify\s+that|"
    rf"avoid|refrain|leave|keep|preserve|work\s+(?:only\s+)?in|stay|must)\b|\bwithout\s+(?:changing|breaking|"
    rf"modifying|altering|affecting)\b",
    re.IGNORECASE,
)


_MUST = late_pattern(rf"\bmust\s+(?:still\s+|all\s+|also\s+)?{_PASSES}", re.IGNORECASE)


@lru_cache(TASKS)
def clauses_in(task: str, source: str = SOURCE, *, runs: bool = True) -> tuple[Clause, ...]:
    """The clauses in a task's wording; with `runs` false, none that makes a command run."""
    found: dict[tuple[str, str], Clause] = {}
    listed = False
    task = task[:READ]
    if "<" in task or "```" in task or "~~~" in task:
        task = _PASTED.sub(" ", task)
    for line in task.splitlines():
        if not line or line.isspace():
            continue
        read = _read_line if len(line) <= SHORT else _read_line.__wrapped__
        listed, clauses = read(line, listed, source, runs)
        for clause in clauses:
            found.setdefault((clause.key, clause.value), clause)
            if len(found) >= MOST:
                return tuple(found.values())
    return tuple(found.values())


@lru_cache(REMEMBERED)
def _read_line(line: str, listed: bool, source: str, runs: bool) -> tuple[bool, tuple[Clause, ...]]:
    """Whether the next line may be an item of a list of constraints; and the clauses of this line."""
    if _QUOTED_LINE.match(line):
        return listed, ()
    if _HEADING.match(line):
        return True, ()
    bullet = _BULLET.match(line)
    listed = listed and bullet is not None
    plain = line[bullet.end() :] if bullet is not None else line
    if _MARKED.match(plain):
        return listed, _clauses(plain.strip(), listed, source, runs)
    found: list[Clause] = []
    for sentence in _SPLIT.split(plain):
        words = sentence.replace("**", "").strip().strip("*_ ")
        if 8 <= len(words) <= 600:
            found += _clauses(words, listed, source, runs)
    return listed, tuple(found)


def _clauses(phrase: str, listed: bool, source: str, runs: bool) -> tuple[Clause, ...]:
    if phrase.endswith("?"):
        return ()
    found: list[Clause] = []
    conditional = _STARTS_CONDITION.match(phrase) is not None
    if not conditional:
        for key, values in _enforced(phrase, runs):
            found += [Clause(key, value, source, phrase[:PHRASE]) for value in values]
    if not found and (listed or _is_rule(phrase)):
        found.append(Clause("constraints", phrase[:PHRASE].rstrip(), source, phrase[:PHRASE]))
    return tuple(found)


def _is_rule(phrase: str) -> bool:
    words = phrase.lower() if phrase.isascii() else None
    if words is not None and not _has(words, _OF_ORDERING):
        return False
    if _ORDER.search(phrase) is not None and _RULE.search(phrase) is not None:
        return True
    return (words is None or "must" in words) and _MUST.search(phrase) is not None


def _enforced(phrase: str, runs: bool) -> Iterator[tuple[ClauseKey, tuple[str, ...]]]:
    """What a phrase certainly demands; its words are checked first, since most phrases demand nothing."""
    # Some non-ASCII letters match ASCII ones when a pattern ignores case.
    words = phrase.lower() if phrase.isascii() else None
    if words is None or _has(words, _OF_PROTECTING):
        yield from _protected(phrase)
    if words is None or _has(words, _OF_NARROWING):
        yield from _narrowed(phrase)
    if words is None or _has(words, _OF_ACTING):
        yield from _forbidden(phrase)
    if runs and (words is None or _has(words, _OF_PASSING)):
        for hit in _DONE.finditer(phrase):
            command = next((value for value in hit.groupdict().values() if value), "").strip()
            if _LOOKS_RUN.match(command) and not _CONDITION.search(phrase[hit.end() : hit.end() + 40]):
                yield "done_when", (command,)


_OF_PROTECTING = (
    "modif", "touch", "edit", "chang", "alter", "updat", "overwrit", "writ", "mess", "tamper", "hands",
    "stay", "keep", "leav", "remain", "left", "kept", "limits", "only", "frozen",
)  # fmt: skip
_OF_NARROWING = (
    "only", "nothing", "just", "stay", "strict", "limit", "confine", "keep", "entirely", "exclusively", "changes",
    "edits", "modifications",
)  # fmt: skip
_OF_ACTING = ("install", "commit", "push", "deploy")
_OF_ORDERING = (
    "not", "n't", "don", "can", "never", "under", "only", "make", "ensure", "verify", "avoid", "refrain", "leave",
    "keep", "preserve", "work", "stay", "must", "without",
)  # fmt: skip
_OF_PASSING = ("pass", "succe", "green", "clean", "exit", "without", "report", "work")
"""Every phrase that the patterns of a kind match contains one of these."""


def _has(text: str, words: tuple[str, ...]) -> bool:
    for word in words:  # noqa: SIM110 (any() is slower)
        if word in text:
            return True
    return False


def _protected(phrase: str) -> Iterator[tuple[ClauseKey, tuple[str, ...]]]:
    for hit in _FORBID.finditer(phrase):
        before, rest = phrase[: hit.start()], phrase[hit.end() :]
        free = hit[0].lower().startswith("with")
        if not free and (not _BEFORE.search(before) or _FOREIGN.search(before)):
            continue
        named = targets(rest)
        if not named.globs or not named.sure or _CONDITION.search(_same_clause(rest)):
            continue
        yield ("may_change" if named.outside else "protect"), named.globs
    for hit in _LEAVE.finditer(phrase):
        named = targets(hit["what"])
        before = phrase[: hit.start()]
        if named.sure and not named.outside and _BEFORE.search(before) and not _CONDITION.search(hit["rest"]):
            yield "protect", named.globs
    for part in _parts(phrase):
        passive = _PASSIVE.match(part)
        if passive is None:
            continue
        groups = passive.groupdict()
        what = next(value for name, value in groups.items() if name.startswith("what") and value)
        rest = next((value for name, value in groups.items() if name.startswith("rest") and value), "")
        named = targets(what)
        if named.sure and not _CONDITION.search(rest) and ends(rest):
            yield ("may_change" if named.outside else "protect"), named.globs
    marked = _MARKED.match(phrase)
    if marked is not None and (named := targets(f"`{marked[1]}`")).sure:
        yield "protect", named.globs


def _parts(phrase: str) -> list[str]:
    """The phrase, and its parts after a "but" or a comma."""
    return [phrase, *re.split(r",\s+(?:but|and|however)\s+|\s+but\s+", phrase)[1:]]


def _narrowed(phrase: str) -> Iterator[tuple[ClauseKey, tuple[str, ...]]]:
    alone = _ONLY_FILE.match(phrase)
    if alone is not None and (named := targets(alone["what"])).sure and not named.outside and ends(alone["rest"]):
        yield "may_change", named.globs
    for hit in _ONLY.finditer(phrase):
        before = phrase[: hit.start()]
        if not _BEFORE.search(before) or _FOREIGN.search(before):
            continue
        rest = next(value for value in hit.groups() if value)
        named = targets(rest if not hit["i"] else hit["i"])
        if named.sure and not named.outside and not _CONDITION.search(_same_clause(rest)):
            yield "may_change", named.globs


def _forbidden(phrase: str) -> Iterator[tuple[ClauseKey, tuple[str, ...]]]:
    for hit in _ACTION.finditer(phrase):
        before = phrase[: hit.start()]
        free = hit[0].lower().startswith("without")
        if not free and (not _BEFORE.search(before) or _FOREIGN.search(before)):
            continue
        rest = hit["rest"] or hit["rest2"] or hit["rest3"] or hit["rest4"] or ""
        if _CONDITION.search(rest) or _NAMES_BRANCH.search(rest) or not _GENERIC.match(rest):
            continue
        acts = (hit["acts"] or hit["commits"] or hit["acted"] or hit["uncommitted"]).lower()
        yield "may_not", tuple(act for act in FORBIDDEN if act in acts)


def _same_clause(rest: str) -> str:
    """The part that still belongs to an order: up to the next one."""
    return re.split(r"[.;:!]\s|,\s+(?:but|and|so|because)\b|\s[-–—]\s", rest, maxsplit=1)[0]

"""Rules: how a change of configuration, CI or code loosens the checks on code. Line by line."""

from __future__ import annotations

import difflib
import re
from collections import Counter

from ...core import late_pattern
from ..model import TestFact

_ASSIGNED = late_pattern(r"^\s*[\"']?([\w./@-]+)[\"']?\s*[:=]\s*(.+?),?\s*$")
_LOWER_IS_LOOSER = late_pattern(
    r"fail[_-]under|cov-fail-under|(?:^|[\"'])(?:branches|functions|lines|statements|global)$|threshold|"
    r"min(?:imum)?(?:_?coverage)?$"
    r"|minimum|target$|coverage[_-]?min|min-?score|accuracy",
    re.IGNORECASE,
)
_HIGHER_IS_LOOSER = late_pattern(
    r"timeout|max-?warnings|retries|reruns|maxfail|max[_-]complexity|max-line-length|line-length|maxDiff|"
    r"tolerance|max-lines",
    re.IGNORECASE,
)
TIMES = 3.0
"""How much a limit such as a timeout must grow to be reported."""
_SWITCHED_OFF = late_pattern(
    r"strict|disallow_\w+|warn_\w+|check_untyped_defs|no_implicit_\w+|noImplicit\w+|noUnused\w+|"
    r"noUncheckedIndexedAccess"
    r"|checkJs|noEmitOnError|exactOptionalPropertyTypes|noFallthroughCasesInSwitch|xfail_strict|branch|enabled|"
    r"bail|failOnError"
    r"|failIfNoTests|forbidOnly|testFailureIgnore",
    re.IGNORECASE,
)
_SWITCHED_ON = late_pattern(
    r"ignore_errors|ignore_missing_imports|continue-on-error|allow_failure|passWithNoTests|skipTests|maven\.test\.skip"
    r"|testFailureIgnore|ignoreFailures|skip_tests|failure_ignore|allowJs_off|disable_error_code",
    re.IGNORECASE,
)
_LISTS = late_pattern(
    r"^\s*[\"']?(?P<key>ignore|extend-ignore|extend_ignore|per-file-ignores|exclude|extend-exclude|omit|"
    r"testPathIgnorePatterns"
    r"|coveragePathIgnorePatterns|disable|norecursedirs|collect_ignore\w*|exclude_lines|exclude_also|"
    r"ignorePatterns|filterwarnings"
    r"|testIgnore|disable_error_code|unfixable|skip|deselect|spec-ignore|excludedFiles)[\"']?\s*[:=+]",
    re.IGNORECASE,
)
_RULE_LEVEL = late_pattern(r"[\"']([\w@/-]+)[\"']\s*:\s*\[?\s*[\"']?(error|warn|off|[012])\b")
_LEVELS = {"error": 2, "2": 2, "warn": 1, "1": 1, "off": 0, "0": 0}
_LOOSENING: tuple[tuple[re.Pattern[str], str], ...] = (
    (late_pattern(r"continue-on-error:\s*true"), "a failing step no longer fails the CI job"),
    (late_pattern(r"allow_failure:\s*true"), "a failing job no longer fails the pipeline"),
    (late_pattern(r"\|\|\s*(?:true|:|exit 0|echo\b)"), "a failing command counts as passed"),
    (late_pattern(r"\bset \+e\b"), "failing commands no longer stop the script"),
    (late_pattern(r"^\s*if:\s*(?:\$\{\{\s*)?false"), "a CI job or step never runs"),
    (late_pattern(r"--passWithNoTests|passWithNoTests[\"']?\s*[:=]\s*true"), "no tests at all count as passed"),
    (late_pattern(r"--no-verify\b"), "hooks are bypassed"),
    (
        late_pattern(
            r"--(?:ignore|deselect)[= ]\S+|--exclude[= ]\S+|--testPathIgnorePatterns"
        ),
        "tests are excluded by an option",
    ),
    (late_pattern(r"(?:-k|-m)\s*[\"']?not\s+\w+"), "tests are excluded by an option"),
    (
        late_pattern(
            r"--reruns[= ]\d+|--retries[= ]\d+|retryTimes\(|[\"']?retries[\"']?\s*[:=]\s*[1-9]|--flaky"
        ),
        "failing tests are run again until they pass",
    ),
    (late_pattern(r"-DskipTests|-Dmaven\.test\.skip|<skipTests>true|-x test\b"), "tests are skipped"),
    (late_pattern(r"ignore::\w+|-W\s*ignore\b|--disable-warnings|--exit-zero|--no-strict"), "warnings are ignored"),
    (late_pattern(r"ignore_errors\s*=\s*[Tt]rue|--follow-imports=skip"), "errors are ignored"),
    (late_pattern(r"--max-warnings[= ]\d{3,}"), "warnings are allowed"),
    (late_pattern(r"--no-cov\b|--cov-fail-under[= ]0\b"), "coverage is not required"),
    (late_pattern(r"update-?snapshots?|--updateSnapshot|\s-u(?:\s|\"|$)"), "snapshots are rewritten on each run"),
)  # fmt: skip
_STRICT_OPTION = late_pattern(
    r"--strict(?:-markers|-config)?\b|-W\s*error\b|--werror|-Werror|filterwarnings\s*=\s*error|"
    r"--max-warnings[= ]0\b|-race\b|--cov-fail-under|--forbid-only|--noEmitOnError|-D\s*warnings",
)
_TEST_COMMAND = late_pattern(
    r"\b(?:pytest|jest|vitest|mocha|tox|nox|unittest|go test|cargo (?:test|clippy)|npm (?:run )?(?:test|lint)|"
    r"yarn (?:test|lint)|pnpm (?:test|lint)|mvn|gradlew?|mypy|ruff|eslint|tsc|make (?:test|check|lint)|"
    r"playwright test|cypress run)\b",
)
_SCRIPT = late_pattern(
    r"^\s*\"(test[\w:-]*|lint[\w:-]*|typecheck|type-check|check[\w:-]*|pretest|posttest|"
    r"verify)\"\s*:\s*\"(.*)\"",
)
_EMPTY_COMMAND = late_pattern(r"^(?:echo\b[^&|;]*|true|:|exit 0|)$")
_HOLLOW_TARGET = late_pattern(r"^\t@?(?:true|:|echo\b.*|exit 0)\s*$")

_SUPPRESSIONS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        late_pattern(
            r"#\s*type:\s*ignore|#\s*pyright:\s*ignore|@ts-ignore|@ts-nocheck|@ts-expect-error"
        ),
        "type errors silenced",
    ),
    (
        late_pattern(
            r"#\s*noqa|eslint-disable|//\s*nolint|#\s*pylint:\s*disable|biome-ignore|#\[allow\(|@SuppressWarnings"
        ),
        "lint rules silenced",
    ),
    (late_pattern(r"pragma:\s*no cover|istanbul ignore|c8 ignore|v8 ignore"), "lines excluded from coverage"),
)  # fmt: skip
_UNDER_TEST = late_pattern(
    r"(?:environ(?:\.get)?\s*[\[(]\s*|getenv\(\s*|process\.env\.|import\.meta\.env\.)[\"']?(?:PYTEST\w*|"
    r"\w*TEST(?:ING|_MODE|_ENV)?|CI)[\"']?\b"
    r"|NODE_ENV\s*[!=]==?\s*[\"']test[\"']|[\"']pytest[\"']\s+in\s+sys\.modules|JEST_WORKER_ID|import\.meta\.vitest"
)
_SIGNS = (
    "ignore", "noqa", "@ts-", "disable", "nolint", "allow(", "SuppressWarnings", "no cover", "environ", "getenv(",
    ".env.", "NODE_ENV", "sys.modules", "JEST_WORKER_ID", "import.meta",
)  # fmt: skip
"""Every text that some of the patterns above match contains one of these."""
_BRANCH = late_pattern(r"\b(?:if|elif|when|unless)\b|\?\s|&&|\|\|")


def compare_rules(path: str, before: str | None, after: str | None) -> list[TestFact]:
    """What a change to a file with rules loosens."""
    if before is None:
        return []
    if after is None:
        return [TestFact("file with checking rules removed", path, 0, "rules")]
    old, new = before.splitlines(), after.splitlines()
    removed, added = _difference(old, new)
    facts = [*_values(path, removed, added), *_levels(path, removed, added), *_longer_lists(path, old, new)]
    facts += _loosened(path, removed, added) + _commands(path, removed, added)
    seen: set[tuple[str, int]] = set()
    return [fact for fact in facts if not ((fact.what, fact.line) in seen or seen.add((fact.what, fact.line)))]  # type: ignore[func-returns-value]


def compare_suppressions(path: str, before: str | None, after: str | None, *, test: bool) -> list[TestFact]:
    """What a code change silences: checkers, coverage; and code that behaves differently under test."""
    if before is None or after is None or not any(sign in after for sign in _SIGNS):
        return []
    silenced = [each for each in _SUPPRESSIONS if each[0].search(after)]
    special = not test and _UNDER_TEST.search(after) is not None
    if not silenced and not special:
        return []
    removed, added = _difference(before.splitlines(), after.splitlines())
    facts = []
    for pattern, what in silenced:
        new = [line for line, text in added if pattern.search(text)]
        more = len(new) - sum(bool(pattern.search(text)) for _, text in removed)
        if more > 0:
            facts.append(TestFact(f"{what} in {more} {'place' if more == 1 else 'places'}", path, new[0], "suppressed"))
    if special:
        for line, text in added:
            if _UNDER_TEST.search(text) and _BRANCH.search(text) and text.strip() not in before:
                facts.append(TestFact("code now behaves differently under test", path, line, "under_test"))
                break
    return facts


Lines = list[tuple[int, str]]


def _difference(old: list[str], new: list[str]) -> tuple[Lines, Lines]:
    """The removed and the added lines, with their numbers."""
    removed: Lines = []
    added: Lines = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += [(at + 1, old[at]) for at in range(a, b)]
            added += [(at + 1, new[at]) for at in range(c, d)]
    return removed, added


def _values(path: str, removed: Lines, added: Lines) -> list[TestFact]:
    facts = []
    was: dict[str, list[str]] = {}
    for _, text in removed:
        for key, value in _pairs(text):
            was.setdefault(key, []).append(value)
    gone = Counter(key for key, values in was.items() for _ in values)
    for line, text in added:
        for key, value in _pairs(text):
            before = was.get(key, [])
            old = before.pop(0) if before else None
            gone[key] -= 1
            if old is None or old == value:
                continue
            a, b = _number(old), _number(value)
            if a is not None and b is not None:
                if _LOWER_IS_LOOSER.search(key) and b < a:
                    facts.append(TestFact(f"{key} lowered from {old} to {value}", path, line, "threshold"))
                elif _HIGHER_IS_LOOSER.search(key) and b >= a * TIMES:
                    facts.append(TestFact(f"{key} raised from {old} to {value}", path, line, "threshold"))
            elif _SWITCHED_OFF.search(key) and _true(old) and _false(value):
                facts.append(TestFact(f"{key} switched off", path, line, "rules"))
            elif _SWITCHED_ON.search(key) and _false(old) and _true(value):
                facts.append(TestFact(f"{key} switched on", path, line, "rules"))
    for _, text in removed:
        for key, value in _pairs(text):
            if gone.get(key, 0) <= 0:
                continue
            if (_number(value) or 0) > 0 and re.search(r"fail[_-]under|branches|functions|^lines$|statements", key):
                facts.append(TestFact(f"{key} of {value} removed", path, 0, "threshold"))
                gone[key] = 0
            elif re.fullmatch(
                r"strict|xfail_strict|disallow_untyped_defs|check_untyped_defs|noImplicitAny|strictNullChecks", key
            ) and _true(value):
                facts.append(TestFact(f"{key} removed", path, 0, "rules"))
                gone[key] = 0
    return facts


def _pairs(text: str) -> list[tuple[str, str]]:
    found = [(key, value.strip("\"'")) for key, value in re.findall(r"--([\w-]+)[= ](\d[\d.]*)", text)]
    assigned = _ASSIGNED.match(text)
    if assigned is not None and not text.lstrip().startswith("#"):
        found.append((assigned[1], assigned[2].split("#")[0].strip().strip("\"',%{} ")))
        found += re.findall(r"(?<=[{,\s])[\"']?(\w+)[\"']?\s*:\s*(\d+)\b(?=\s*[,}])", text)
    xml = re.match(r"^\s*<(\w[\w.]*)>([^<]+)</", text)
    if xml is not None:
        found.append((xml[1], xml[2].strip()))
    return list(dict.fromkeys(found))


def _number(text: str) -> float | None:
    found = re.fullmatch(r"(-?\d[\d_]*(?:\.\d+)?)\s*%?", text)
    return float(found[1].replace("_", "")) if found else None


def _true(text: str) -> bool:
    return text.lower() in ("true", "1", "yes", "on")


def _false(text: str) -> bool:
    return text.lower() in ("false", "0", "no", "off")


def _levels(path: str, removed: Lines, added: Lines) -> list[TestFact]:
    was = {name: level for _, text in removed for name, level in _RULE_LEVEL.findall(text)}
    facts = []
    now = {name for _, text in added for name, _ in _RULE_LEVEL.findall(text)}
    for line, text in added:
        for name, level in _RULE_LEVEL.findall(text):
            if _LEVELS[level] < _LEVELS.get(was.get(name, ""), 0):
                facts.append(TestFact(f"rule {name} set from {was[name]} to {level}", path, line, "rules"))
            elif name not in was and level == "off" and ("eslint" in path or "package.json" in path):
                facts.append(TestFact(f"rule {name} switched off", path, line, "rules"))
    gone = [name for name, level in was.items() if level in ("error", "2") and name not in now]
    facts += [TestFact(f"rule {name} removed", path, 0, "rules") for name in gone]
    return facts


def _longer_lists(path: str, old: list[str], new: list[str]) -> list[TestFact]:
    """Lists of exclusions that have grown; and lists of checks that have shrunk."""
    facts = []
    before, after = _lists(old), _lists(new)
    for key, (line, items) in after.items():
        more = [item for item in items if item not in before.get(key, (0, []))[1]]
        if _LISTS.match(f"{key}=") and more:
            facts.append(TestFact(f"{key} now has {', '.join(more[:3])}", path, line, "rules"))
    for key in ("select", "extend-select", "enable", "testpaths", "plugins"):
        if key in before and key in after:
            fewer = [item for item in before[key][1] if item not in after[key][1]]
            if fewer and len(after[key][1]) < len(before[key][1]):
                facts.append(TestFact(f"{key} no longer has {', '.join(fewer[:3])}", path, after[key][0], "rules"))
    if path.endswith((".eslintignore", ".gitattributes")):
        facts += [
            TestFact(f"{text.strip()} is excluded", path, at, "rules")
            for at, text in _difference(old, new)[1]
            if text.strip() and not text.startswith("#")
        ]
    return facts


def _lists(lines: list[str]) -> dict[str, tuple[int, list[str]]]:
    found: dict[str, tuple[int, list[str]]] = {}
    at = 0
    while at < len(lines):
        start = re.match(r"^\s*[\"']?([\w-]+)[\"']?\s*[:=]\s*(.*)$", lines[at])
        if start is None or lines[at].lstrip().startswith("#"):
            at += 1
            continue
        key, text, first = start[1], start[2], at
        if "[" in text and "]" not in text:
            while at + 1 < len(lines) and "]" not in text:
                at += 1
                text += "," + lines[at]
        elif not text.strip():
            indent = len(lines[at]) - len(lines[at].lstrip())
            while (
                at + 1 < len(lines)
                and lines[at + 1].strip()
                and len(lines[at + 1]) - len(lines[at + 1].lstrip()) > indent
            ):
                at += 1
                text += "," + lines[at].strip()
        items = [item.strip().strip("[]\"'-{} ") for item in re.split(r"[,\n]", text.split("  #")[0])]
        found[key] = (first + 1, [item for item in items if item])
        at += 1
    return found


def _loosened(path: str, removed: Lines, added: Lines) -> list[TestFact]:
    facts = []
    gone = "\n".join(text for _, text in removed)
    for line, text in added:
        if text.lstrip().startswith("#") or (text.lstrip().startswith("//") and not path.endswith("json")):
            continue
        for pattern, what in _LOOSENING:
            if pattern.search(text) and not pattern.search(gone):
                facts.append(TestFact(what, path, line, "rules"))
    came = "\n".join(text for _, text in added)
    for _, text in removed:
        gone_options = {option for option in _STRICT_OPTION.findall(text) if option not in came}
        facts += [TestFact(f"{option.strip()} removed", path, 0, "rules") for option in sorted(gone_options)]
    return facts


def _commands(path: str, removed: Lines, added: Lines) -> list[TestFact]:
    """Test commands removed from CI, or replaced by ones that do nothing."""
    facts = []
    was = {name: command for _, text in removed for name, command in _SCRIPT.findall(text)}
    for line, text in added:
        for name, command in _SCRIPT.findall(text):
            if name in was and _EMPTY_COMMAND.match(command.strip()):
                facts.append(TestFact(f"script {name} no longer runs anything", path, line, "rules"))
    came = "\n".join(text for _, text in added)
    if "package.json" not in path:
        hollow = [line for line, text in added if _HOLLOW_TARGET.match(text)]
        for _, text in removed:
            command = _TEST_COMMAND.search(text)
            if (
                command is None
                or text.lstrip().startswith("#")
                or re.match(r"\s*(?:-\s+)?(?:name|uses|repo|id|rev):", text)
            ):
                continue
            if command[0].split()[0] not in came and (
                ".yml" in path
                or ".yaml" in path
                or "Makefile" in path
                or "Jenkins" in path
                or "tox.ini" in path
                or hollow
            ):
                facts.append(TestFact(f"{command[0]} is no longer run", path, hollow[0] if hollow else 0, "rules"))
    return facts

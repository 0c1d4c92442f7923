"""Task targets: the files that a phrase of a task names, as globs; an uncertain name is not a target."""

from __future__ import annotations

import re

from msgspec import Struct

from ..calls import word_set
from ..core import late_pattern

EXTENSIONS = "|".join(
    word_set(
        """py pyi ipynb js jsx ts tsx mjs cjs json json5 yaml yml toml ini cfg conf env md mdx rst txt csv tsv sql db
        sqlite sh bash zsh ps1 bat c h cc cpp hpp cs go rs java kt kts swift rb php pl lua r jl scala ex exs erl hs ml
        clj dart vue svelte html htm css scss sass less xml svg png jpg lock proto graphql gradle tf tfvars properties
        mod sum patch diff log parquet pt pth onnx pkl npy whl snap golden j2 tmpl"""
    )
)
NAMES = (
    r"Makefile|Dockerfile|Jenkinsfile|Gemfile|Procfile|Rakefile|Vagrantfile|LICENSE|README|CHANGELOG|CODEOWNERS"
    r"|node_modules|\.gitignore|\.env|\.github|\.gitlab-ci\.yml|\.circleci"
)
_LIBRARIES = word_set("node.js vue.js next.js react.js three.js d3.js express.js nuxt.js ember.js chart.js asp.net")

_QUOTED = late_pattern(r"[`\"'“‘]([\w.@+*/~-]{1,200})[`\"'”’]")
_BARE = late_pattern(
    rf"((?:~?/|\.{{1,2}}/)?(?:[\w.@+*-]+/)+(?:[\w@+*-]+(?:\.[\w@+*-]+)*)?|"
    rf"(?:[\w@+*-]+\.)*[\w@+*-]*\.(?:{EXTENSIONS})(?![\w/.-]*\w)"
    rf"|(?:{NAMES})(?![\w.-]*\w))",
)
_PLAIN = late_pattern(r"([\w.-]+)(?=\s+(?:director(?:y|ies)|folders?|dirs?|package|tree)\b)")
_LAST = late_pattern(r"([\w.-]{2,})(?=\s*(?:$|[.,;!)]|and\b|or\b))")
_KIND = late_pattern(
    r"\s+(?P<folder>director(?:y|ies)|folders?|dirs?|tree|package|subtree)\b|\s+(?:files?|scripts?|modules?)\b"
)
_LEAD = late_pattern(
    r"(?:(?:the|any|all|of|your|our|my|this|these|those|that|both|either|following|actual|whole|entire|single|one|other"
    r"|original)\b\s*)*",
    re.IGNORECASE,
)
_IN = late_pattern(
    r"(?:(?:files?|anything|everything|code|contents?|folders?|sources?|source files|source code|things|stuff)\s+"
    r"(?:that\s+(?:is|are)\s+|which\s+(?:is|are)\s+|located\s+|living\s+)?"
    r"(?P<how>in|under|inside|within|below|of|from|beneath|outside(?:\s+of)?|other than|except|besides|but)\s+"
    r"|(?P<bare_outside>outside(?:\s+of)?)\s+|(?P<file>files?|director(?:y|ies)|folders?|paths?|"
    r"module)\s+(?:named|called|at)?\s*"
    r"|(?P<inside>in|inside|within|under|below)\s+)?(?:(?:the|this|that|your|of)\s+)*",
    re.IGNORECASE,
)
_AND = late_pattern(
    r"\s*(?:,\s*(?:and|or|nor)?|and/or|and|or|nor|&|\+|plus)\s+(?:(?:in|inside|within|under)\s+)?", re.IGNORECASE
)
_END = late_pattern(
    r"\s*(?:[`\"'”’)\]*_]*)\s*(?:(?:themselves|itself|at all|at any point|in any way|please|for any reason|"
    r"whatsoever|either"
    r"|under any circumstances?|here|there|for this(?: task)?|for now|directly in place|as part of this(?: task)?"
    r"|during this(?: task)?|in this (?:task|run|change|pr)|yourself|alone|only|anywhere|ever|again|by hand|"
    r"manually)\b\s*)*"
    r"(?:$|[.;:!()—–]|\s-\s|,\s*(?:please|as|because|since|they|it|these|those|that|which|this|only|nothing|no|not|"
    r"just|leave"
    r"|do\s+not|don['’]t|never|keep|and\s+(?:do|make|keep|leave|never|don)|but\s+(?:do|make|you)|so)\b"
    r"|(?:because|since|as\s+(?:it|they|these|those|we)|so\s+that|while\s+\w+ing|when\s+\w+ing\s+th|to\s+(?:fix|"
    r"solve|make|implement|do|get|complete)"
    r"|and\s+(?:do|don|make|keep|leave|never|run|fix|add|nothing|no\b|use|then|ensure|verify)|but\s+\w+)\b)",
    re.IGNORECASE,
)

_NOT_NAMES = word_set(
    """this that the your our my its their current same other working root project repo repository workspace directory
    folder file files code base source given new old existing entire whole following above below parent specified"""
)
TESTS = ("tests/", "test/", "__tests__/", "test_*.py", "*_test.*", "*.test.*", "*.spec.*")
CI = (".github/**", ".gitlab-ci.yml", ".circleci/**", "Jenkinsfile", "azure-pipelines.yml", ".travis.yml")
LOCKS = (
    "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "uv.lock", "Pipfile.lock", "Cargo.lock",
    "go.sum", "Gemfile.lock", "composer.lock",
)  # fmt: skip
_CLASSES: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (late_pattern(rf"(?:{words})(?![/`\w-])(?!\.\w)", re.IGNORECASE), globs)
    for words, globs in (
        (
            r"(?:unit |integration |automated )?(?:tests?(?: (?:files?|suites?|code|cases|folder|directory))?)",
            TESTS,
        ),
        (
            r"(?:ci|ci/cd|github)\s+(?:configs?|configuration|workflows?|pipelines?|files?|setup|actions)(?: files?)?"
            r"|workflow files",
            CI,
        ),
        (r"(?:dependency |package )?lock ?files?", LOCKS),
        (r"(?:project )?documentation (?:folder|directory)", ("docs/", "doc/")),
        (r"readme(?: file)?", ("README*",)),
        (r"changelog(?: file)?", ("CHANGELOG*",)),
        (r"licen[sc]e(?: file)?", ("LICENSE*",)),
        (r"makefile", ("Makefile",)),
        (r"dockerfile", ("Dockerfile*",)),
    )
)
"""Nouns that name files in every project."""


def ends(words: str) -> bool:
    """Whether the phrase ends here, or what follows only gives a reason and names no target."""
    return _END.match(words) is not None


class Targets(Struct, frozen=True):
    """The globs that a phrase names; `sure` if all of it was understood, `outside` if everything else is meant."""

    globs: tuple[str, ...] = ()
    sure: bool = False
    outside: bool = False


def targets(words: str) -> Targets:
    """The files that a phrase names, from its first word on."""
    found: list[str] = []
    outside = False
    at = 0
    while len(found) < 64:
        at = _after(_LEAD, words, at)
        inner = _IN.match(words, at)
        assert inner is not None
        way = (inner["how"] or inner["bare_outside"] or "").lower()
        if way.startswith(("outside", "other", "except", "besides", "but")):
            outside = True
        folder = bool(inner["inside"]) or (bool(way) and not way.startswith(("other", "except", "besides", "but")))
        item = _item(words, inner.end(), folder=folder or (inner["file"] or "").lower().startswith(("dir", "folder")))
        if item is None:
            return Targets(tuple(found), False, outside)
        globs, at = item
        found += globs
        more = _AND.match(words, at)
        if more is None or (_END.match(words, at) and not _starts_item(words, more.end())):
            break
        if not _starts_item(words, more.end()):
            return Targets(tuple(dict.fromkeys(found)), False, outside)
        at = more.end()
    sure = bool(found) and _END.match(words, at) is not None
    return Targets(tuple(dict.fromkeys(found)), sure, outside)


def path_glob(word: str, *, folder: bool = False, quoted: bool = False) -> str | None:
    """One word as a glob; None if it does not certainly name a file or folder."""
    word = word.rstrip(".,;:!?)").strip("`\"'")
    if not word or word.startswith(("-", "~", "http")) or "://" in word or ".." in word.split("/"):
        return None
    if word.lower() in _LIBRARIES or word in (
        "/",
        ".",
        "./",
        "*",
        "and/or",
        "or/and",
        "n/a",
        "N/A",
        "I/O",
        "CI/CD",
        "TCP/IP",
    ):
        return None
    if folder or word.endswith("/"):
        bare = word.removeprefix("./").rstrip("/")
        if not bare or re.fullmatch(rf"[\w.@+*-]*\.(?:{EXTENSIONS})", bare):
            return bare or None
        if bare.endswith("**"):
            return bare
        return f"{bare}/**" if "/" in bare else None if bare.lower() in _NOT_NAMES else f"{bare}/"
    name = word.rpartition("/")[2]
    if re.fullmatch(rf"\.?[\w@+*.-]*\.(?:{EXTENSIONS})|{NAMES}|\*\*", name):
        return word.removeprefix("./")
    if "/" in word and (quoted or word.startswith(("/", "./"))) and re.fullmatch(r"[\w.@+*/-]+", word):
        return word.removeprefix("./")
    if "/" in word and re.fullmatch(
        r"(?:src|lib|app|tests?|docs?|packages|web|cmd|pkg|internal|config|scripts)(?:/[\w.@+*-]+)+", word
    ):
        return word
    return None


def _item(words: str, at: int, *, folder: bool) -> tuple[tuple[str, ...], int] | None:
    """One file, folder or class of files, and where it ends."""
    for pattern, globs in _CLASSES:
        hit = pattern.match(words, at)
        if hit is not None:
            return globs, hit.end()
    quoted = _QUOTED.match(words, at)
    hit = quoted or _BARE.match(words, at) or _PLAIN.match(words, at)
    if hit is None and folder:
        hit = _LAST.match(words, at)
    if hit is None:
        return None
    end = hit.end()
    if quoted is None:
        end -= len(hit[1]) - len(hit[1].rstrip(".,;:"))
    kind = _KIND.match(words, end)
    if kind is not None:
        end = kind.end()
    glob = path_glob(hit[1], folder=folder or bool(kind and kind["folder"]), quoted=quoted is not None)
    return None if glob is None else ((glob,), end)


def _starts_item(words: str, at: int) -> bool:
    """Whether another file follows; otherwise the next clause of the sentence begins."""
    at = _after(_LEAD, words, at)
    inner = _IN.match(words, at)
    assert inner is not None
    return _item(words, inner.end(), folder=bool(inner["how"] or inner["inside"])) is not None


def _after(pattern: re.Pattern[str], words: str, at: int) -> int:
    hit = pattern.match(words, at)
    return hit.end() if hit is not None else at

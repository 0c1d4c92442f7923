"""Command lines: what their words say beyond the table: searches, wrapped commands, targets of checks."""

from __future__ import annotations

from .rows import Row
from .syntax import Command, Node, Sequence

TAKING_ALL = (
    "-type", "-mindepth", "-print", "-exec", "-ok", "-delete", "-depth", "-xdev", "-mount", "-fprint",
    "-ls",
)  # fmt: skip
"""Words of a `find` that do not choose among what is there."""


def below(folders: tuple[str, ...]) -> tuple[str, ...]:
    """What a search of these folders names: some things below them."""
    return tuple(f"{folder.rstrip('/')}/**/*" for folder in folders or (".",))


def found_by(words: tuple[str, ...]) -> tuple[str, ...]:
    """What a `find` finds: everything in its folders, or what its conditions choose there."""
    roots = []
    for word in words[1:]:
        if word in ("-L", "-H", "-P"):
            continue
        if word[:1] in ("-", "(", "!", ")"):
            break
        roots.append(word)
    tests = words[1 + len(roots) :]
    runs = next((at for at, word in enumerate(tests) if word.startswith(("-exec", "-ok"))), len(tests))
    chooses = any(
        word[:1] == "-" and not word.startswith(TAKING_ALL) and tests[at + 1 : at + 2] != ("*",)
        for at, word in enumerate(tests[:runs])
        if word not in ("-L", "-H", "-P")
    )
    return below(tuple(roots)) if chooses else tuple(roots) or (".",)


def wrapped_words(row: Row, words: tuple[str, ...], skip: int) -> tuple[str, ...]:
    """The words of the command that a wrapper runs, behind its options, assignments and `skip` operands of its own."""
    at = 1
    while at < len(words):
        word = words[at]
        if word == "--" and not skip:
            return words[at + 1 :]
        if word[:1] == "-" and word != "-":
            takes_next = word in row.options or (word[1:2] != "-" and len(word) > 2 and f"-{word[-1]}" in row.options)
            at += 2 if takes_next and not row.single else 1
        elif skip:
            skip -= 1
            at += 1
        elif is_assignment(word):
            at += 1
        else:
            return words[at:]
    return ()


def is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def assignment(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value


def after_dashes(words: tuple[str, ...]) -> tuple[str, ...]:
    return words[words.index("--") + 1 :] if "--" in words else ()


def first_word(node: Node) -> str:
    if isinstance(node, Command):
        return node.words[0] if node.words and isinstance(node.words[0], str) else ""
    return ""


def words_of(body: Sequence) -> list[str]:
    for pipeline, _ in body.items:
        for stage in pipeline.stages:
            if isinstance(stage, Command):
                return [word for word in stage.words if isinstance(word, str) and word.isidentifier()]
    return []


def first_word_of(body: Sequence) -> str:
    return first_word(body.items[0][0].stages[0]) if body.items else ""


TEST_BEGINNINGS = ("test_", "test-", "runtests", "run_tests", "run-tests")


def is_test(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    stem = name.partition(".")[0]
    return stem in ("test", "tests") or name.startswith(TEST_BEGINNINGS) or stem.endswith(("_test", "-test", "_tests"))


def targets(operands: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in operands if "/" in word or "." in word or "::" in word)[:6]


def seconds(operands: tuple[str, ...]) -> float:
    total = 0.0
    for word in operands:
        unit = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}.get(word[-1:], 1.0)
        try:
            total += float(word.rstrip("smhd")) * unit
        except ValueError:
            return 0.0
    return total

"""Lists everything that people read: strings that the program can print, docstrings, comments and documentation.

python scripts/strings.py [PATH ...] [--kind string|docstring|comment|prose] [--sample N --seed S]

A line for each: path, line, kind and text; a gap in an f-string is {}. Use it to proofread, or to draw a sample.
"""

from __future__ import annotations

import argparse
import ast
import io
import random
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCES = ("src/interlock", "web/src", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "AGENTS.md", "docs")
WORDS = re.compile(r"[A-Za-z][a-z']*[ ,;:]+(?:\{\}|[A-Za-z(\"'`])")
"""At least two words: a name or a key alone is not prose."""

CODE = re.compile(
    r"^[\w.\[\]{}<>()=|,*\\/^$?+:;#&%@!~-]+$|^(SELECT|INSERT|CREATE|UPDATE|DELETE|PRAGMA|select|insert|create) "
)
YAML_TEXT = re.compile(r"^\s*-?\s*(?:why|instead|words|text|hint|message)\s*:\s*(.+)$")
SCRIPT_TEXT = re.compile(r"""(?<![\w=])"([^"\n]{4,})"|`([^`\n]{4,})`|>([^<>{}\n]{4,})<|^\s*//\s?(.+)$|^\s*\*\s(.+)$""")


class Found(NamedTuple):
    """One text, and where it is."""

    path: str
    line: int
    kind: str
    text: str


def strings_of(path: Path) -> Iterator[Found]:
    """Everything that people read in a file."""
    name, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".py":
        yield from python_strings(name, text)
    elif path.suffix == ".md":
        yield from paragraphs(name, text)
    elif path.suffix in (".ts", ".tsx"):
        for number, line in enumerate(text.splitlines(), 1):
            for match in SCRIPT_TEXT.finditer(line):
                if said := next((group for group in match.groups() if group), ""):
                    yield Found(name, number, "string", said)
    elif path.suffix in (".yaml", ".yml"):
        for number, line in enumerate(text.splitlines(), 1):
            if match := YAML_TEXT.match(line):
                yield Found(name, number, "string", match[1])


def python_strings(name: str, text: str) -> Iterator[Found]:
    """Strings, docstrings and comments."""
    tree = ast.parse(text)
    documented: set[ast.AST] = set()
    inner: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documented.add(node.value)
            yield Found(name, node.lineno, "docstring", " ".join(node.value.value.split()))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inner.update(ast.walk(node))
            inner.discard(node)
            parts = [str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield Found(name, node.lineno, "string", "".join(parts).replace("\n", " ⏎ "))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documented | inner:
            yield Found(name, node.lineno, "string", node.value.replace("\n", " ⏎ "))
    block: list[str] = []
    first = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not re.match(r"#\s*(fmt|type|noqa|!)", token.string):
            first = first if block else token.start[0]
            block.append(token.string.lstrip("# "))
        elif token.type not in (tokenize.NL, tokenize.COMMENT) and block:
            yield Found(name, first, "comment", " ".join(block))
            block = []


def paragraphs(name: str, text: str) -> Iterator[Found]:
    """Paragraphs, list items, headings and rows of tables, without code."""
    fenced, block, first = False, list[str](), 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        fence = line.lstrip().startswith("```")
        starts = bool(re.match(r"\s*(?:[-*] |\d+\. |#|\|)", line))
        if block and (fence or starts or not line.strip()):
            yield Found(name, first, "prose", " ".join(block))
            block = []
        if fence:
            fenced = not fenced
        elif not fenced and line.strip():
            first = first if block else number
            block.append(line.strip())


def all_strings(sources: list[str], kind: str | None) -> list[Found]:
    """Everything in some files and folders, of one kind or of all."""
    files = [
        file
        for source in sources
        for file in ([ROOT / source] if (ROOT / source).is_file() else (ROOT / source).rglob("*"))
    ]
    made = []
    for file in sorted(files):
        if file.is_file() and "static" not in file.parts:
            made += [
                found for found in strings_of(file)
                if (kind is None or found.kind == kind) and WORDS.search(found.text) and not CODE.match(found.text)
            ]  # fmt: skip
    return made


def main() -> None:
    """Print them, or a sample."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("sources", nargs="*", default=SOURCES)
    options.add_argument("--kind", choices=("string", "docstring", "comment", "prose"))
    options.add_argument("--sample", type=int)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    found = all_strings(list(given.sources), given.kind)
    if given.sample:
        found = sorted(random.Random(given.seed).sample(found, min(given.sample, len(found))))
    for each in found:
        print(f"{each.path}:{each.line}\t{each.kind}\t{each.text}")


if __name__ == "__main__":
    main()

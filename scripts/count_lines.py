"""Count the lines of Python under src: code, docstrings, comments, blank, and files.

A line counts as code when it holds a token that is neither a comment nor part of a docstring.
The figures of each milestone are in `count_lines.txt` beside this script; `--check` fails when
the code has grown beyond the first of them or there are more than MAX_FILES files.
"""

import ast
import io
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURES = Path(__file__).with_name("count_lines.txt")
MAX_FILES = 585
IGNORED = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip


def count(text: str) -> tuple[int, int, int, int]:
    """Lines of code, of docstrings, of comments alone, and blank ones."""
    docstrings = _docstring_lines(text)
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        lines = range(token.start[0], token.end[0] + 1)
        if token.type == tokenize.COMMENT:
            comments.update(lines)
        elif token.type not in IGNORED:
            code.update(lines)
    code -= docstrings
    comments -= code
    return len(code), len(docstrings), len(comments), len(text.splitlines()) - len(code | docstrings | comments)


def _docstring_lines(text: str) -> set[int]:
    """Strings that stand alone as a statement: docstrings, also those below a field."""
    return {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def main() -> int:
    files = sorted((ROOT / "src").rglob("*.py"))
    code, docstrings, comments, blank = map(sum, zip(*(count(file.read_text()) for file in files), strict=True))
    print(f"code {code}  docstrings {docstrings}  comments {comments}  blank {blank}  files {len(files)}")
    if "--check" not in sys.argv[1:]:
        return 0
    first = next(line for line in FIGURES.read_text().splitlines() if line.startswith("code "))
    allowed = int(first.split()[1])
    if code > allowed or len(files) > MAX_FILES:
        print(f"at most {allowed} lines of code and {MAX_FILES} files: see scripts/count_lines.txt", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

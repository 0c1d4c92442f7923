"""Count the regular expressions of the packages that judge calls and texts: each that is compiled or used in place.

`--check` fails when there are more than `patterns.txt` beside this script allows; lower it with each change that
removes some. The rules of review hold theirs in YAML: each value of `text` and the like counts.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST = Path(__file__).with_name("patterns.txt")
PACKAGES = ("calls", "review", "detect", "proof", "contract")
USES = {"compile", "match", "search", "fullmatch", "findall", "finditer", "sub", "subn", "split"}


def patterns(text: str) -> int:
    """The regular expressions of a module: calls of `late_pattern`, and of `re` and `re2`; sets count their members."""
    found = 0
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name):
            found += called.id in ("late_pattern", "late_patterns")
        elif isinstance(called, ast.Attribute):
            module = isinstance(called.value, ast.Name) and called.value.id in ("re", "re2")
            found += (module and called.attr in USES) or called.attr == "Add"
    return found


def main() -> int:
    counts = {
        name: sum(patterns(path.read_text()) for path in sorted((ROOT / "src" / "interlock" / name).rglob("*.py")))
        for name in PACKAGES
    }
    total = sum(counts.values())
    print(f"{total} patterns: {', '.join(f'{name} {count}' for name, count in counts.items())}")
    return int("--check" in sys.argv and total > int(MOST.read_text().split()[0]))


if __name__ == "__main__":
    sys.exit(main())

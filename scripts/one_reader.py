"""Check that no package but `calls` parses an agent's command or says what a program in it does.

A module outside `calls` that splits shell text, imports a shell's grammar, or names three programs or more is listed in
`one_reader.txt` with its reason. A module that is listed without need is a problem too.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE, LIST = ROOT / "src" / "interlock", Path(__file__).with_suffix(".txt")
PROGRAMS = frozenset((
    "rm", "mv", "cp", "chmod", "curl", "wget", "pytest", "npm", "pnpm", "yarn", "pip", "pip3", "docker", "kubectl",
    "psql", "sqlite3", "mkfs", "sudo", "xargs", "sed", "awk", "grep", "rg", "ssh", "scp", "rsync", "systemctl",
    "crontab", "cargo", "tox", "mypy", "ruff", "eslint", "tsc", "bash", "zsh", "python3", "git", "terraform",
))  # fmt: skip
"""Names that are programs and nothing else."""
MANY = 3
GRAMMARS = {"tree_sitter_bash", "bashlex"}
SPLITTERS = {"split", "shlex"}


def main() -> int:
    """Print the modules that are not listed, or listed without need; 1 if there is any."""
    listed = {line.split(maxsplit=1)[0] for line in LIST.read_text().splitlines()}
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = str(path.relative_to(SOURCE))
        if not name.startswith(("calls/", "demo/")) and (signs := list(signs_in(path))):
            found[name] = signs
    problems = [f"src/interlock/{name}: {'; '.join(found[name])}" for name in found.keys() - listed]
    problems += [f"{LIST.name}: {name} reads no commands" for name in listed - found.keys()]
    print("\n".join(problems) or f"only calls reads commands; {len(listed)} modules have a reason of their own")
    return 1 if problems else 0


def signs_in(path: Path) -> Iterator[str]:
    """What in a module looks like a reader of commands."""
    tree = ast.parse(path.read_text())
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    named: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            named |= PROGRAMS.intersection(re.split(r"[\s|()]+", node.value))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
            if names & GRAMMARS:
                yield f"line {node.lineno} imports a grammar"
        elif isinstance(node, ast.Attribute) and node.attr in SPLITTERS and ast.unparse(node.value) == "shlex":
            yield f"line {node.lineno} splits shell text"
    if len(named) >= MANY:
        yield f"names {', '.join(sorted(named)[:6])}"


if __name__ == "__main__":
    sys.exit(main())

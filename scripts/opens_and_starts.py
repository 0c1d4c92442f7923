"""Check that every file is opened, and every program started, in a way that an agent cannot turn against us.

A place is safe if it uses `interlock.core` (open_regular, read_small, write_whole, LaterFile; run_program, verified,
own_command), if it names a file of the kernel, or if it opens a name relative to a folder's descriptor without
following links. Any other place is listed in `opens_and_starts.txt`, by file: how many there are, and why they are
safe. A new place in such a file changes the number, and so needs a reason again.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE, LIST = ROOT / "src" / "interlock", Path(__file__).with_suffix(".txt")
READS = {"open", "read_text", "read_bytes", "write_text", "write_bytes"}
FILES = {"copy", "copy2", "copyfile", "copytree", "move"}
STARTS = {"Popen", "run", "call", "check_call", "check_output", "posix_spawn", "posix_spawnp", "system", "popen",
          "execv", "execve", "execvp", "execvpe", "fork", "which", "create_subprocess_exec"}  # fmt: skip
MODULES = {"subprocess", "os", "posix", "shutil", "asyncio"}
KERNEL = ("/proc", "/sys", "/dev/null", "/dev/tty", "/dev/pts", "/dev/fuse")
OURS = {"verified", "own_command", "find_program"}
OPENERS = {"Supervisor", "Checkpoints", "Journal", "JournalReader", "Committer", "Story", "tarfile", "Image",
           "webbrowser", "proc", "pixels", "memory", "supervision"}  # fmt: skip


def main() -> int:
    """Print what is neither safe nor listed; 1 if there is any."""
    found = {str(path.relative_to(SOURCE)): list(places(path)) for path in sorted(SOURCE.rglob("*.py"))}
    listed = {}
    for line in LIST.read_text().splitlines():
        name, number, why = line.split(maxsplit=2)
        listed[name] = (int(number), why)
    problems = []
    for name, lines in found.items():
        number, _ = listed.get(name, (0, ""))
        if len(lines) != number:
            where = ", ".join(map(str, lines))
            problems.append(
                f"src/interlock/{name}: {len(lines)} places ({where}), {number} of them listed with a reason"
            )
    problems += [f"{LIST.name}: {name} is no file" for name in listed.keys() - found.keys()]
    print("\n".join(problems) or f"{sum(map(len, found.values()))} places are listed with a reason; no other is unsafe")
    return 1 if problems else 0


def places(path: Path) -> Iterator[int]:
    """The lines that open a file or start a program by other means than the helpers."""
    tree = ast.parse(path.read_text())
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and is_raw(node, own) and not is_safe(node, constants):
            yield node.lineno


def is_raw(node: ast.Call, own: set[str]) -> bool:
    """Whether a call opens a file or starts a program itself."""
    match node.func:
        case ast.Name(id="open"):
            return True
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in MODULES:
            return name == "open" or name in (STARTS if module != "shutil" else FILES | {"which"})
        case ast.Attribute(value=value, attr=name) if name in READS:
            # Methods of ours that have the same names take no mode.
            known = ast.unparse(value).rpartition(".")[2]
            mode = any(isinstance(each, ast.Constant | ast.IfExp) for each in node.args[:1])
            return known not in OPENERS and (name != "open" or mode)
    return False


def is_safe(node: ast.Call, constants: dict[str, ast.expr]) -> bool:
    """Whether a file of the kernel is named, a folder's descriptor and no link, or a program of the helpers."""
    given = {each.arg: each.value for each in node.keywords}
    words = ast.unparse(node)
    if "dir_fd" in given and ("NOFOLLOW" in words or "FLAGS" in words):
        return True
    if any(f"{name}(" in words for name in OURS):
        return True
    first = (
        node.func.value
        if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) not in MODULES
        else None
    )
    if first is None:
        first = node.args[0] if node.args else None
    if isinstance(first, ast.Name) and first.id in constants:
        first = constants[first.id]
    if isinstance(first, ast.Call) and ast.unparse(first.func) == "Path" and first.args:
        first = first.args[0]
    if isinstance(first, ast.JoinedStr) and first.values:
        first = first.values[0]
    return (
        ast.unparse(first) == "os.devnull"
        or (isinstance(first, ast.Constant) and (isinstance(first.value, int) or str(first.value).startswith(KERNEL)))
        if first is not None
        else False
    )


if __name__ == "__main__":
    sys.exit(main())

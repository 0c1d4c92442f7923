"""Python: what a piece of code does, by its syntax tree. Other languages are not read."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable

from .findings import Findings
from .model import How, Inline, Verb, Wait, Write, Zone
from .sql import read_mongo, read_sql
from .table import word_set
from .zones import LOOPBACK, resolve

MAX_CODE = 262_144
"""Characters of Python that are read; more is said to be unread."""
MAX_NODES = 100_000
MAX_KEPT = 4_000
"""Characters kept of code that is not read."""

Run = Callable[["str | tuple[str, ...]"], None]
"""Runs a command that code starts."""


def _each(verb: Verb, place: int, names: str, whole: bool = False) -> Iterable[tuple[str, tuple[Verb, int, bool]]]:
    return ((name, (verb, place, whole)) for name in names.split())


FILES: dict[str, tuple[Verb, int, bool]] = dict((
    *_each("delete", 0, "os.remove os.unlink os.rmdir pathlib.Path.unlink pathlib.Path.rmdir"),
    *_each("delete", 0, "shutil.rmtree os.removedirs send2trash.send2trash", whole=True),
    *_each("write", 0, "os.truncate os.mkdir os.makedirs os.chmod os.chown pathlib.Path.mkdir pathlib.Path.touch"),
    *_each("write", 0, "pathlib.Path.chmod pathlib.Path.write_text pathlib.Path.write_bytes"),
    *_each("write", 1, "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree os.link os.symlink"),
    *_each("write", 1, "shutil.unpack_archive", whole=True),
    *_each("move", 0, "shutil.move os.rename os.replace pathlib.Path.rename pathlib.Path.replace"),
    *_each("read", 0, "pathlib.Path.read_text pathlib.Path.read_bytes os.listdir os.walk os.scandir glob.glob"),
    *_each("read", 0, "pandas.read_csv runpy.run_path"),
))  # fmt: skip
"""Functions that work on a file: what they do to which argument, and whether to a whole folder."""
MOVES_TO = frozenset(("shutil.move", "os.rename", "os.replace"))
NETWORK: dict[str, Verb] = {
    **dict.fromkeys(["requests.get", "requests.head", "httpx.get", "aiohttp.get"], "fetch"),
    **dict.fromkeys(["urllib.request.urlopen", "urllib.request.urlretrieve"], "fetch"),
    **dict.fromkeys(
        ["requests.post", "requests.put", "requests.patch", "httpx.post", "httpx.put", "httpx.patch"], "send"
    ),
    **dict.fromkeys(
        ["smtplib.SMTP", "ftplib.FTP", "socket.create_connection", "socket.gethostbyname", "socket.getaddrinfo"], "send"
    ),
    **dict.fromkeys(["requests.delete", "httpx.delete"], "delete"),
}
SHELL_CALLS = word_set("os.system os.popen subprocess.getoutput subprocess.getstatusoutput pty.spawn")
STARTS = word_set(
    "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen os.execvp "
    "os.execv asyncio.create_subprocess_shell asyncio.create_subprocess_exec"
)
COMPUTING = word_set(
    "exec eval compile __import__ importlib.import_module getattr marshal.loads pickle.loads ctypes.CDLL"
)
RISKY_MODULES = frozenset(("os", "shutil", "subprocess", "builtins", "pathlib"))
"""Modules of which a function named by computed text could do anything."""
STATEMENTS = frozenset(("execute", "executemany", "executescript"))
SAVES = word_set("to_csv to_json to_excel savefig save to_parquet to_pickle")
ON_PATHS: dict[str, Verb] = {
    "unlink": "delete", "rmdir": "delete", "rename": "move", "touch": "write", "write_text": "write",
    "write_bytes": "write",
}  # fmt: skip
LISTING = frozenset(("glob", "iglob", "rglob", "listdir", "iterdir", "scandir"))


def read_code(
    language: str, code: str, cwd: str, findings: Findings, run: Run, by: str, elsewhere: Zone | None
) -> None:
    """Note what a piece of code does."""
    if language == "sql":
        read_sql(code, findings, by)
    elif language == "mongo":
        read_mongo(code, findings, by)
    elif language == "python":
        read_python(code, cwd, findings, run, by, elsewhere)
    elif language != "awk" or "system(" in code or "getline" in code or "|" in code or '> "' in code or '>"' in code:
        findings.inline.append(Inline(language, code[:MAX_KEPT]))


def read_python(code: str, cwd: str, findings: Findings, run: Run, by: str, elsewhere: Zone | None) -> None:
    """Note what Python code does; what does not parse is not read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if len(code) <= MAX_CODE:
                PythonReader(cwd, findings, run, by, elsewhere).read(ast.parse(code))
                return
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    findings.inline.append(Inline("python", code[:MAX_KEPT]))


class PythonReader(ast.NodeVisitor):
    """Notes what Python code does, function bodies included, with the values that the code shows."""

    def __init__(self, cwd: str, findings: Findings, run: Run, by: str, elsewhere: Zone | None) -> None:
        self.cwd, self.findings, self.run, self.by, self.elsewhere = cwd, findings, run, by, elsewhere
        self.names: dict[str, str] = {}
        self.values: dict[str, str] = {}
        self.lists: dict[str, ast.List | ast.Tuple] = {}
        self.handles: dict[str, tuple[str, str]] = {}
        self._nodes = MAX_NODES

    def read(self, tree: ast.Module) -> None:
        try:
            self.visit(tree)
        except RecursionError:
            self.findings.conceal("the code is nested too deeply")

    def visit(self, node: ast.AST) -> None:
        self._nodes -= 1
        if self._nodes == -1:
            self.findings.conceal("the code is too long")
        if self._nodes >= 0:
            super().visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            self.names[alias.asname or top] = alias.name if alias.asname else top

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.names[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}"

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        target = node.targets[0]
        if not isinstance(target, ast.Name):
            return
        value = self.text(node.value)
        if value is not None:
            self.values[target.id] = value
            return
        self.values.pop(target.id, None)
        if isinstance(node.value, (ast.List, ast.Tuple)):
            self.lists[target.id] = node.value
        name = self.dotted(node.value)
        if name:
            self.names[target.id] = name
        self._opened(target.id, node.value)

    def visit_For(self, node: ast.For) -> None:
        if isinstance(node.target, ast.Name):
            self.values.pop(node.target.id, None)
            value = self._one_of(node.iter)
            if value is not None:
                self.values[node.target.id] = value
        self.generic_visit(node)

    def _one_of(self, source: ast.expr) -> str | None:
        """What a loop's variable stands for: what a listing lists, or the only element."""
        if isinstance(source, ast.Call) and self.dotted(source.func).rpartition(".")[2] in LISTING:
            first = self.text(source.args[0]) if source.args else None
            folder = self._receiver(source.func) or first or "."
            return folder if "*" in folder else f"{folder.rstrip('/')}/*"
        if isinstance(source, (ast.List, ast.Tuple)) and len(source.elts) == 1:
            return self.text(source.elts[0])
        return None

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            if isinstance(item.optional_vars, ast.Name):
                self._opened(item.optional_vars.id, item.context_expr)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name, args = self.dotted(node.func), node.args
        if name in ("open", "io.open", "codecs.open"):
            self._open(args[0] if args else None, self._mode(args[1:], node))
        elif name in FILES:
            self._on_file(name, node)
        elif name in SHELL_CALLS or (name in STARTS and any(word.arg == "shell" for word in node.keywords)):
            self._start(self.text(args[0]) if args else None)
        elif name in STARTS:
            place = 1 if name in ("os.execvp", "os.execv") and len(args) > 1 else 0
            self._start(self._words(args[place]) if args else None)
        elif name in ("os.kill", "os.killpg"):
            parent = any(isinstance(each, ast.Call) and "getppid" in self.dotted(each.func) for each in args)
            what = "supervising process" if parent else "processes"
            self.findings.add("administer", what, self.elsewhere or "host", "one", self.by)
        elif name in NETWORK:
            self._connect(name, node)
        elif name in COMPUTING:
            self._compute(name, node)
        elif name in ("time.sleep", "asyncio.sleep"):
            length = args[0].value if args and isinstance(args[0], ast.Constant) else 0.0
            self.findings.waits.append(Wait("sleeps", float(length) if isinstance(length, (int, float)) else 0.0))
        elif isinstance(node.func, ast.Attribute):
            self._method(node.func, node)

    def _on_file(self, name: str, node: ast.Call) -> None:
        verb, place, whole = FILES[name]
        args = node.args
        path = self._receiver(node.func) if name.startswith("pathlib.Path.") else None
        if path is None and len(args) > place:
            path = self.text(args[place])
        self._touch(verb, path, whole)
        if name.startswith("pathlib.Path.write") and path is not None and args:
            self._wrote(path, self.text(args[0]))
        if name in MOVES_TO and len(args) > 1:
            self._touch("write", self.text(args[1]))

    def _connect(self, name: str, node: ast.Call) -> None:
        url = (self.text(node.args[0]) if node.args else None) or "$url"
        sends = name.endswith("urlopen") and (len(node.args) > 1 or any(word.arg == "data" for word in node.keywords))
        zone: Zone = "host" if any(place in url for place in LOOPBACK) else "service"
        self.findings.add("send" if sends else NETWORK[name], url, zone, "one", self.by)

    def _compute(self, name: str, node: ast.Call) -> None:
        args = node.args
        last = args[1] if name == "getattr" and len(args) > 1 else args[0] if args else None
        if last is None:
            return
        code = self.text(last)
        if code is None:
            if name != "getattr" or self.dotted(args[0]) in RISKY_MODULES:
                self.findings.conceal(f"Python {name} of computed text")
        elif name in ("exec", "eval"):
            read_python(code, self.cwd, self.findings, self.run, self.by, self.elsewhere)

    def _method(self, func: ast.Attribute, node: ast.Call) -> None:
        text = self.text(node.args[0]) if node.args else None
        if func.attr in STATEMENTS and text is not None:
            read_sql(text, self.findings, self.by)
        elif func.attr == "write" and node.args:
            handle = self._handle(func.value)
            if handle is not None:
                self._wrote(handle[0], text, "append" if "a" in handle[1] else "whole")
        elif func.attr in ON_PATHS:
            receiver = self._receiver(func)
            self._touch(ON_PATHS[func.attr], receiver)
            if func.attr == "write_text" and receiver is not None:
                self._wrote(receiver, text)
        elif func.attr in SAVES and text is not None:
            self._touch("write", text)

    def _handle(self, value: ast.expr) -> tuple[str, str] | None:
        """The path and mode of an opened file: a variable, or `open(...)` itself."""
        if isinstance(value, ast.Name):
            return self.handles.get(value.id)
        if isinstance(value, ast.Call) and self.dotted(value.func) == "open" and value.args:
            path = self.text(value.args[0])
            return (path, self._mode(value.args[1:], value)) if path is not None else None
        return None

    def _touch(self, verb: Verb, path: str | None, whole: bool = False) -> None:
        path = path if path is not None else "$path"
        self.findings.touch(verb, path, self.cwd, self.by, many=whole, elsewhere=self.elsewhere)

    def _wrote(self, path: str, text: str | None, how: How = "whole") -> None:
        if text is not None and not self.elsewhere:
            self.findings.write(Write(resolve(path, self.cwd), text, how), self.by)

    def _start(self, command: str | tuple[str, ...] | None) -> None:
        if command is None:
            self.findings.add("execute", "$command", "unknown", "one", self.by)
            self.findings.conceal("Python starts a computed command")
        else:
            self.run(command)

    def _mode(self, rest: list[ast.expr], node: ast.Call) -> str:
        given = rest[0] if rest else next((word.value for word in node.keywords if word.arg == "mode"), None)
        return "r" if given is None else self.text(given) or "r"

    def _open(self, path: ast.expr | None, mode: str) -> None:
        verb: Verb = "append" if "a" in mode else "write" if any(letter in mode for letter in "wx+") else "read"
        self._touch(verb, self.text(path) if path is not None else None)

    def _opened(self, name: str, value: ast.expr) -> None:
        handle = self._handle(value) if isinstance(value, ast.Call) else None
        if handle is not None:
            self.handles[name] = handle

    def dotted(self, node: ast.expr) -> str:
        """The full name of a function: `rmtree` after `from shutil import rmtree` is `shutil.rmtree`."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            if self._is_path(node.value):
                return f"pathlib.Path.{node.attr}"
            inner = self.dotted(node.value)
            return f"{inner}.{node.attr}" if inner else ""
        if isinstance(node, ast.Call):
            name = self.dotted(node.func)
            if name in ("__import__", "importlib.import_module"):
                return (self.text(node.args[0]) if node.args else None) or ""
            if name == "getattr" and len(node.args) > 1:
                return f"{self.dotted(node.args[0])}.{self.text(node.args[1])}"
            if name == "functools.partial" and node.args:
                return self.dotted(node.args[0])
        return ""

    def _receiver(self, func: ast.expr) -> str | None:
        return self.text(func.value) if isinstance(func, ast.Attribute) else None

    def _is_path(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            return self.dotted(node.func) in PATH_MAKERS
        if isinstance(node, ast.BinOp):
            return self._is_path(node.left)
        return False

    def _words(self, node: ast.expr) -> str | tuple[str, ...] | None:
        """The words of a command that code starts."""
        if isinstance(node, ast.Name):
            node = self.lists.get(node.id, node)
        if isinstance(node, (ast.List, ast.Tuple)):
            words = [self.text(element) for element in node.elts]
            rest = (word if word is not None else "$word" for word in words[1:])
            if words and words[0] is not None:
                return (words[0], *rest)
            return ("python", *rest) if words and self.dotted(node.elts[0]) == "sys.executable" else None
        text = self.text(node)
        return tuple(text.split()) if text is not None else None

    def text(self, node: ast.expr) -> str | None:
        """The text that an expression has, if the code shows it."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self.values.get(node.id)
        if isinstance(node, ast.JoinedStr):
            return "".join(self._formatted(part) for part in node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Div)):
            left, right = self.text(node.left), self.text(node.right)
            divides = isinstance(node.op, ast.Div)
            if left is None or (right is None and not divides):
                return None
            return f"{left}{'/' if divides else ''}{right if right is not None else '$name'}"[:MAX_KEPT]
        if isinstance(node, ast.Call):
            name = self.dotted(node.func)
            if name in ("pathlib.Path.home", "Path.home"):
                return "~"
            if name == "os.getcwd":
                return self.cwd or "."
            if name in PATH_MAKERS and node.args and (first := self.text(node.args[0])) is not None:
                rest = (self.text(arg) for arg in node.args[1:])
                return "/".join((first, *(text if text is not None else "$name" for text in rest)))
        return None

    def _formatted(self, part: ast.expr) -> str:
        if isinstance(part, ast.FormattedValue):
            return self.text(part.value) or "$value"
        return self.text(part) or ""


PATH_MAKERS = word_set(
    "pathlib.Path Path pathlib.PurePath pathlib.Path.home Path.home os.path.join os.path.expanduser os.path.abspath str"
)
"""Calls whose value is a path made of their arguments."""

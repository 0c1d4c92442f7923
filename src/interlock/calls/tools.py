"""Tools: which kind of tool a call is for, and where its command, path and text are."""

from __future__ import annotations

import shlex
from functools import lru_cache

from ..core import late_pattern
from .model import Kind, Wait, Write
from .table import word_set

COMMANDS = (
    "command", "cmd", "script", "bash_command", "shell_command", "input", "commands", "keystrokes", "keys", "chars",
    "text", "argv",
)  # fmt: skip
"""Arguments of shell tools that hold the command, by preference."""
NAMING_COMMANDS = ("command", "cmd", "argv", "commands", "executable")
"""Arguments that make any tool a shell tool."""
CODES = ("code", "source", "new_source", "script", "cell", "input", "command", "content")
PATHS = (
    "path", "file_path", "filepath", "filename", "file", "file_name", "target_file", "notebook_path", "absolute_path",
    "directory", "dir", "folder", "uri", "target", "dir_path", "relative_path", "filePath", "fileName", "absolutePath",
    "targetFile", "notebookPath", "relativePath",
)  # fmt: skip
NEW_TEXTS = (
    "content", "contents", "file_text", "new_str", "new_string", "newString", "text", "new_source", "patch", "diff",
    "insert_text", "newText", "new_text", "code_edit", "file_content", "body", "data",
)  # fmt: skip
OLD_TEXTS = ("old_str", "old_string", "oldString", "old_text", "oldText")
FOLDERS = ("cwd", "workdir", "working_directory")
PROGRAMS = ("program", "executable", "binary", "exe", "file")
WORDS_APART = ("args", "argv", "arguments", "parameters")
WAITING = word_set("sleep wait poll await watch")
STATES = word_set("status health progress readiness")
NOT_ASKED = word_set("set update change mark report write create post put git")
"""With these words a tool's name means that it sets a state, or asks for the state of files."""
QUESTIONS = word_set("get check list describe view show query fetch")
SENDING = word_set("send upload post mail email share publish attach forward notify message comment reply put")
"""Words of tools that give something away, with the files that their arguments name."""
ARRANGING = word_set("cron schedule trigger wakeup reminder")
"""Words of tools that set something going for later."""
WORK = word_set(
    "job jobs run runs build builds deployment deployments pipeline pipelines pod pods workflow workflows rollout"
)
"""Work that runs elsewhere while its state is asked for."""
BACKGROUND = word_set("bash task shell terminal process")
VIEWING = frozenset(("view", "read", "open", "list", "cat", "show"))
ANSWERS = ("message", "answer", "result", "response", "text", "summary", "content", "output", "command", "thought")

WORDS = late_pattern(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
LAST_NAME = late_pattern(r"__|[./:]")
KINDS: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("answer", word_set("final_answer finish submit done complete attempt_completion task_complete answer respond")),
    ("plan", word_set("think thought thinking plan todo reflect todowrite hypothesis express analyze note memory")),
    ("agent", word_set("agent subagent delegate handoff transfer spawn dispatch task ask")),
    ("code", word_set("python ipython jupyter repl interpreter code cell notebook")),
    ("shell", word_set("bash shell sh zsh exec execute run terminal console cmd command powershell tmux stdin")),
    ("web", word_set(
        "web http fetch browse browser navigate url download internet curl request crawl search_engine google visit "
        "page click goto wiki"
    )),
    ("edit", word_set(
        "edit write create replace insert patch apply delete remove update rename move undo save modify multiedit"
    )),
    ("read", word_set(
        "read view open list ls cat glob grep search find get show describe query look inspect extract tree status"
    )),
)  # fmt: skip
"""Words in a tool's name; the first kind with one of them is the tool's kind."""
EDIT, READ = KINDS[6][1], KINDS[7][1]
FILE_WORDS = word_set("file files folder directory document notebook editor")


@lru_cache(512)
def kind_of(name: str) -> tuple[Kind, frozenset[str]]:
    """The kind of a tool by the words of its name, without the server that offers it; and these words."""
    plain = LAST_NAME.split(name.strip()[:200])[-1]
    words = frozenset(word.lower() for word in WORDS.findall(plain))
    whole = plain.lower()
    for kind, spoken in KINDS:
        if whole in spoken or words & spoken:
            on_files = kind in ("agent", "code", "shell", "web") and words & FILE_WORDS and words & (EDIT | READ)
            if not on_files:
                return kind, words
    return "other", words


def waits_of(kind: Kind, words: frozenset[str]) -> Wait | None:
    """Whether a tool waits, or asks for the state of something that runs, by the words of its name."""
    if words & WAITING:
        return Wait("sleeps")
    if "output" in words and words & BACKGROUND:
        return Wait("polls")
    work = kind == "read" and words & QUESTIONS and words & WORK
    return Wait("polls") if work or (words & STATES and not words & NOT_ASKED) else None


def first_text(arguments: dict[str, object], keys: tuple[str, ...]) -> str:
    """The first of these arguments that is text; a list of words is joined by spaces, of lines by line ends."""
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return "\n".join(value) if key == "commands" else shlex.join(value)
    return ""


def command_of(arguments: dict[str, object]) -> str:
    """The command of a shell tool: one text, or a program and its words apart."""
    command = first_text(arguments, COMMANDS)
    for key in WORDS_APART:
        words = arguments.get(key)
        if key == "argv" and command == first_text(arguments, ("argv",)):
            continue
        if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
            words = shlex.join(words)
        if isinstance(words, str) and words:
            program = command or first_text(arguments, PROGRAMS)
            return f"{program} {words}".strip()
    return command


def is_shell(kind: Kind, words: frozenset[str], arguments: dict[str, object]) -> bool:
    """Whether a call's command is for a shell: by the tool's kind, or by the arguments of an unknown tool."""
    if kind == "other":
        return any(isinstance(arguments.get(key), (str, list)) for key in NAMING_COMMANDS)
    return kind == "shell" or (
        kind == "edit" and bool(words & {"command", "bash"}) and not first_text(arguments, PATHS)
    )


def edits_of(path: str, arguments: dict[str, object], whole: bool = False) -> list[Write]:
    """The texts that an editing call puts into its file; `whole`: a text without the old one is the file's new text."""
    many = arguments.get("edits")
    if isinstance(many, list):
        return [write for one in many if isinstance(one, dict) for write in edits_of(path, one)]
    new, old = first_text(arguments, NEW_TEXTS), first_text(arguments, OLD_TEXTS)
    if not new and not old:
        return []
    part = bool(old) or "insert_line" in arguments or not whole
    appends = arguments.get("mode") == "append" or arguments.get("append") is True
    return [Write(path, new, "part" if part else "append" if appends else "whole", old)]

"""Profile: editor settings that make typing exact, and a window title that shows the editor's state."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from msgspec import Struct

from ...journal import write_whole

SEPARATOR = " | "
AUTOMATED = "automated by Interlock"
WINDOW_TITLE = "${separator}".join(
    (
        "${activeEditorLong}",
        "dirty=${dirty}",
        "view=${focusedView}",
        "state=${activeEditorState}",
        "${rootName}",
        AUTOMATED,
        "Visual Studio Code",
    )
)
"""File, dirty flag and focused view, and a note that nobody sits at the keyboard."""

_NO_SUGGESTIONS = {"other": "off", "comments": "off", "strings": "off"}

_EXACT_TYPING: dict[str, object] = {
    "editor.autoIndent": "none",
    "editor.insertSpaces": False,
    "editor.wordWrap": "off",
    "editor.quickSuggestions": _NO_SUGGESTIONS,
    "editor.wordBasedSuggestions": "off",
}
"""Also set per language: a language's own default is stronger than a general setting."""

_LANGUAGES = (
    "yaml", "dockercompose", "dockerfile", "json", "jsonc", "snippets", "markdown", "prompt", "instructions",
    "chatagent", "skill", "go", "makefile", "python",
)  # fmt: skip

_DISABLED = (
    "files.trimTrailingWhitespace", "files.insertFinalNewline", "files.trimFinalNewlines",
    "editor.acceptSuggestionOnCommitCharacter", "editor.codeLens", "editor.copyWithSyntaxHighlighting",
    "editor.detectIndentation", "editor.dropIntoEditor.enabled", "editor.emptySelectionClipboard",
    "editor.formatOnPaste", "editor.formatOnSave", "editor.formatOnType", "editor.inlineSuggest.enabled",
    "editor.linkedEditing", "editor.parameterHints.enabled", "editor.pasteAs.enabled", "editor.stickyTabStops",
    "editor.suggestOnTriggerCharacters", "editor.trimAutoWhitespace",
    "editor.unicodeHighlight.ambiguousCharacters", "editor.useTabStops", "html.autoClosingTags",
    "html.autoCreateQuotes", "javascript.autoClosingTags", "typescript.autoClosingTags",
    "javascript.suggest.enabled", "typescript.suggest.enabled", "extensions.autoCheckUpdates",
    "extensions.autoUpdate", "git.enabled", "search.seedWithNearestWord", "security.workspace.trust.enabled",
    "terminal.integrated.enablePersistentSessions", "update.showReleaseNotes", "workbench.editor.enablePreview",
    "workbench.enableExperiments", "workbench.tips.enabled", "workbench.welcomePage.walkthroughs.openOnInstall",
)  # fmt: skip
_NEVER = (
    "editor.autoClosingBrackets", "editor.autoClosingComments", "editor.autoClosingDelete",
    "editor.autoClosingOvertype", "editor.autoClosingQuotes", "editor.autoSurround",
    "editor.find.seedSearchStringFromSelection", "javascript.updateImportsOnFileMove.enabled",
    "markdown.editor.pasteUrlAsFormattedLink.enabled", "git.openRepositoryInParentFolders",
)  # fmt: skip
_OFF = (
    "files.autoSave", "editor.acceptSuggestionOnEnter", "editor.accessibilitySupport", "editor.tabCompletion",
    "editor.unusualLineTerminators", "telemetry.telemetryLevel",
)  # fmt: skip
_NONE = (
    "editor.snippetSuggestions", "update.mode", "workbench.startupEditor",
)  # fmt: skip

SETTINGS: dict[str, object] = {
    **_EXACT_TYPING,
    **dict.fromkeys(_DISABLED, False),
    **dict.fromkeys(_NEVER, "never"),
    **dict.fromkeys(_OFF, "off"),
    **dict.fromkeys(_NONE, "none"),
    "window.title": WINDOW_TITLE,
    "window.titleSeparator": SEPARATOR,
    "files.saveConflictResolution": "askUser",
    "chat.disableAIFeatures": True,
    "extensions.ignoreRecommendations": True,
    "workbench.reduceMotion": "on",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    **{f"[{language}]": _EXACT_TYPING for language in _LANGUAGES},
}

COMMANDS = {
    "quick_open": ("p", "workbench.action.quickOpen", ""),
    "go_to_line": ("g", "workbench.action.gotoLine", ""),
    "save": ("y", "workbench.action.files.save", ""),
    "revert": ("r", "workbench.action.files.revert", ""),
    "clear_notifications": ("n", "notifications.clearAll", ""),
    "focus_editor": ("e", "workbench.action.focusActiveEditorGroup", ""),
    "set_anchor": ("a", "editor.action.setSelectionAnchor", "editorTextFocus"),
    "select_from_anchor": ("s", "editor.action.selectFromAnchorToCursor", "editorTextFocus"),
    "delete": ("d", "deleteRight", "editorTextFocus && editorHasSelection && !editorReadonly"),
    "line_end": ("z", "cursorLineEnd", "editorTextFocus"),
    "accept": ("k", "workbench.action.acceptSelectedQuickOpenItem", "inQuickOpen && !inCommandsPicker"),
}
"""Commands on keys of their own (ctrl+alt+shift and a letter), and when they apply.

Typing a command's name into the palette finds the nearest, not it; and a Return that was meant for one box runs
a command when another has come up in between. The usual keys are the browser's too: ctrl+g, pressed while its own
dialog is up, opens its find bar, and the page does not get the keyboard back.
"""

INERT = {"\n": "l", "\t": "t", " ": "b"}
"""Line end, tab and blank on keys that only a text editor understands.

Return, Tab and the space bar answer dialogs, run commands in a palette and submit lines to a shell; these do not.
"""

PREFIX = ("ctrl", "alt", "shift")


def write_profile(user_data: Path) -> None:
    """Write settings and keys atomically: an open window reloads settings when their file changes."""
    folder = user_data / "User"
    folder.mkdir(parents=True, exist_ok=True)
    _put(folder / "settings.json", SETTINGS)
    keys: list[dict[str, object]] = [
        {"key": _chord(letter), "command": command, "when": when or "true"}
        for letter, command, when in COMMANDS.values()
    ]
    keys += [
        {"key": _chord(letter), "command": "type", "args": {"text": text}, "when": "editorTextFocus && !editorReadonly"}
        for text, letter in INERT.items()
    ]
    _put(folder / "keybindings.json", keys)


def write_defaults(user_data: Path) -> None:
    """Write empty settings and keys: the editor's defaults."""
    _put(user_data / "User" / "settings.json", {})
    _put(user_data / "User" / "keybindings.json", [])


def _put(path: Path, content: object) -> None:
    write_whole(path, json.dumps(content, indent=1).encode())


def _chord(letter: str) -> str:
    return "+".join((*PREFIX, letter))


TEXT_EDITOR, TERMINAL = "Text Editor", "Terminal"
"""Names of focused views; the view is empty while a dialog, the palette or the find box has keyboard focus."""

EDITORS = ("visual studio code", "code-server", "vscodium")

_TITLE = re.compile(
    r"(?:(?P<file>.*?) \| )?dirty=(?P<dirty>[^|]*?) \| view=(?P<view>[^|]*?) \| state=(?P<state>[^|]*?) \| "
    rf"(?:(?P<root>.*?) \| )?(?:{AUTOMATED} \| )?Visual Studio Code",
    re.DOTALL,
)


class TitleState(Struct, frozen=True):
    """The open file (absolute path where there is one), whether it has unsaved changes, and what has keyboard focus."""

    file: str
    dirty: bool
    view: str
    state: str = ""
    root: str = ""

    @property
    def is_file(self) -> bool:
        """Whether a file is open; welcome pages and settings are not files, and accept no text."""
        return self.file.startswith("/")


def is_editors(title: str) -> bool:
    """Whether a title is an editor's, with our template or without it."""
    return any(name in title.casefold() for name in EDITORS)


def parse_title(title: str) -> TitleState | None:
    """The state in a title; None if it does not follow our template. The editor abbreviates the home folder as ~."""
    found = _TITLE.search(title.replace("\u200e", ""))
    if found is None:
        return None
    return TitleState(
        os.path.expanduser((found["file"] or "").strip()),  # noqa: PTH111  a title's text, not a path yet
        bool(found["dirty"].strip()),
        found["view"].strip(),
        found["state"].strip(),
        (found["root"] or "").strip(),
    )

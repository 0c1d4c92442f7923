"""Buttons: which answer to a dialog is harmless, and which one needs leave."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

HARMLESS = (
    "Cancel", "Keep Editing", "Stay", "Close", "Dismiss", "Not Now", "Later", "Ask Me Later", "No", "Ignore", "OK",
    "Got it", "Never Mind",
)  # fmt: skip
"""Buttons that take nothing away, the best answer first."""

DANGEROUS = re.compile(
    r"\b(don.?t save|discard|delete|remove|overwrite|replace|leave|trust|revert|reset|erase|format|uninstall|install"
    r"|restart|shut ?down|quit|exit|kill|force|allow|grant|authori[sz]e|sign in|log ?in|run|execute|sync|publish|push"
    r"|empty|drop|terminate|truncate|accept|agree|enable|yes)",
    re.IGNORECASE,
)
"""Buttons that destroy, trust, run or agree; "I don't trust" is one of the few that are safe all the same."""

SAFE_ALL_THE_SAME = re.compile(r"don.?t (trust|allow|install|delete|remove|sync)|do not (trust|allow)", re.IGNORECASE)


def is_allowed(name: str, allowed: Iterable[str]) -> bool:
    """Whether a button may be pressed: harmless by its name, or named by the configuration."""
    plain = _plain(name)
    if any(plain == _plain(each) for each in allowed):
        return True
    return bool(SAFE_ALL_THE_SAME.search(plain)) or not DANGEROUS.search(plain)


def harmless(names: Sequence[str]) -> str | None:
    """The button that closes a dialog and takes nothing away; None if there is none."""
    by_name = {_plain(name).casefold(): name for name in names}
    for wanted in HARMLESS:
        if wanted.casefold() in by_name:
            return by_name[wanted.casefold()]
    return next((name for name in names if SAFE_ALL_THE_SAME.search(_plain(name))), None)


def _plain(name: str) -> str:
    """A name without mnemonics, curly quotes, look-alike and invisible letters and surrounding blanks."""
    folded = unicodedata.normalize("NFKC", name).replace("_", "").replace("&", "").replace("\u2019", "'")
    return "".join(c for c in folded if unicodedata.category(c) != "Cf").strip()

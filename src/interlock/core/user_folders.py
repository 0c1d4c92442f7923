"""Where our files of a user are. On Linux said here, as platformdirs would: to import it takes longer than to fork."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

LINUX_FOLDERS = {
    "cache": ("XDG_CACHE_HOME", ".cache"),
    "config": ("XDG_CONFIG_HOME", ".config"),
    "state": ("XDG_STATE_HOME", ".local/state"),
}


def user_folder(kind: Literal["cache", "config", "state"]) -> Path:
    """The folder of this kind; it need not exist."""
    if sys.platform == "linux":
        variable, below_home = LINUX_FOLDERS[kind]
        named, home = os.environ.get(variable, ""), os.environ.get("HOME", "")
        if named.startswith("/"):
            return Path(named, "interlock")
        if home.startswith("/"):
            return Path(home, below_home, "interlock")
    # Another system, or neither of them is said.
    import platformdirs

    folders = platformdirs.PlatformDirs("interlock")
    return {"cache": folders.user_cache_path, "config": folders.user_config_path, "state": folders.user_state_path}[
        kind
    ]

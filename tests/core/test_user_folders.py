"""Our folders are where platformdirs says, without asking it."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from interlock.core import user_folder


@pytest.mark.parametrize("named", [None, "", "/elsewhere", "/with/end/", "relative", " /blank", "~/x"])
@pytest.mark.parametrize("home", ["/home/somebody", "/home/somebody/", "/", "", "relative", None])
def test_where_platformdirs_says(named: str | None, home: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("HOME", home), *((f"XDG_{kind}_HOME", named) for kind in ("CACHE", "CONFIG", "STATE"))):
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
    folders = platformdirs.PlatformDirs("interlock")
    assert user_folder("cache") == Path(folders.user_cache_dir)
    assert user_folder("config") == Path(folders.user_config_dir)
    assert user_folder("state") == Path(folders.user_state_dir)

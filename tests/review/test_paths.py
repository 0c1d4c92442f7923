"""Where a path lies."""

from __future__ import annotations

import pytest

from interlock.review.paths import ZONES, zones

WORK = "/home/me/project"


@pytest.mark.parametrize(
    ("path", "zone"),
    [
        ("/", "root"),
        ("//", "root"),
        ("/*", "root"),
        ("/etc/..", "root"),
        ("/etc/passwd", "vital"),
        ("/usr", "vital"),
        ("/usr/local/bin/x", "system"),
        ("/opt/app", "system"),
        ("~", "home"),
        ("~/", "home"),
        ("~/*", "home"),
        ("/home/me", "home"),
        ("/Users/me", "home"),
        ("~/notes.txt", "under_home"),
        ("..", "parent"),
        ("../x", "parent"),
        ("a/../../x", "parent"),
        (".", "everything"),
        ("./*", "everything"),
        ("*", "everything"),
        ("build", "inside"),
        ("./build/x", "inside"),
        ("/workspace/app/x", "inside"),
        ("/tmp/x", "temp"),
        ("/var/tmp/x", "temp"),
        ("/dev/null", "temp"),
        ("/data/x", "elsewhere"),
        ("$X", "unknown"),
        ("$X/", "unset"),
        ("$X/*", "unset"),
        ("/dev/sda", "device"),
        ("/dev/nvme0n1p2", "device"),
        ("~/.ssh/id_ed25519", "credential"),
        ("~/.aws/credentials", "credential"),
        ("/etc/shadow", "credential"),
        (".env", "dotenv"),
        (".env.production", "dotenv"),
        ("~/.bash_history", "history"),
        ("$HISTFILE", "history"),
        ("/var/log/syslog", "log"),
        ("/var/mail/me", "log"),
        ("~/.bashrc", "startup"),
        ("/etc/cron.d/x", "startup"),
        (".git", "repository"),
        ("lib/.git/config", "repository"),
        ("me@web:/etc/x", "remote_system"),
        ("web:/", "remote_root"),
    ],
)
def test_a_path_lies_in_its_zone(path: str, zone: str) -> None:
    assert zone in ZONES
    assert zone in zones(path)


@pytest.mark.parametrize(
    ("path", "zone"),
    [
        ("~/.ssh/id_rsa.pub", "credential"),
        (".env.example", "dotenv"),
        (".gitignore", "repository"),
        (".github/x", "repository"),
        ("/tmp/etc/passwd", "system"),
        ("/etcetera", "system"),
        ("/home/me/x", "home"),
        ("https://example.com/etc/x", "remote"),
        ("logs/app.log", "log"),
    ],
)
def test_a_path_does_not_lie_in_a_zone_that_looks_like_it(path: str, zone: str) -> None:
    assert zone not in zones(path)


def test_a_workspace_decides_what_is_inside() -> None:
    assert zones(f"{WORK}/a", None, WORK) == {"inside"}
    assert zones("a", WORK, WORK) == {"inside"}
    assert zones(WORK, None, WORK) == {"everything"}
    assert "everything" in zones("*", WORK, WORK)
    assert "outside" in zones("/data/x", None, WORK)
    assert {"outside", "parent", "home"} <= zones("/home/me", None, WORK)
    assert "outside" in zones("../other", WORK, WORK)


def test_a_workspace_that_is_a_home_or_the_root_protects_nothing() -> None:
    assert "vital" in zones("/etc/passwd", None, "/")
    assert "home" in zones("~", None, "~")


def test_the_working_directory_counts() -> None:
    assert "vital" in zones("x", "/etc")
    assert "temp" in zones("*", "/tmp")
    assert "credential" in zones("id_rsa", "~/.ssh")

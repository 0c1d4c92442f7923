"""Long scripts and code: what acts is found wherever it is, and what cannot be read is not allowed."""

from __future__ import annotations

import pytest

from interlock.review import review_command

PADS = [f"echo line{number} && mkdir -p d{number}" for number in range(1500)]
CODE = [f"x{number} = {number}" for number in range(3000)]


def with_line(lines: list[str], line: str, where: str) -> str:
    at = {"start": 0, "middle": len(lines) // 2, "end": len(lines)}[where]
    return "\n".join((*lines[:at], line, *lines[at:]))


@pytest.mark.parametrize("where", ["start", "middle", "end"])
@pytest.mark.parametrize("feeds", ["bash <<'E'\n{}\nE", "cd x && cat <<'E' | sh\n{}\nE", "bash -c '{}'", "{}"])
def test_a_long_script_that_deletes_a_home_is_blocked(feeds: str, where: str) -> None:
    found = review_command(feeds.format(with_line(PADS, "rm -rf ~", where)))
    assert found.verdict == "block"


@pytest.mark.parametrize("where", ["start", "middle", "end"])
@pytest.mark.parametrize("feeds", ["python3 - <<'E'\n{}\nE", 'python3 -c "{}"'])
@pytest.mark.parametrize(
    "line", ["import shutil; shutil.rmtree('/home')", "home = '/home'; import shutil; shutil.rmtree(home)"]
)
def test_long_code_that_deletes_homes_is_blocked(line: str, feeds: str, where: str) -> None:
    assert review_command(feeds.format(with_line(CODE, line, where))).verdict == "block"


@pytest.mark.parametrize("feeds", ["cat > notes.txt <<'E'\n{}\nE", "tee log.txt <<'E'\n{}\nE"])
def test_a_long_text_that_only_mentions_it_is_allowed(feeds: str) -> None:
    assert review_command(feeds.format(with_line(PADS, "rm -rf ~", "middle"))).verdict == "allow"


@pytest.mark.parametrize("feeds", ["bash <<'E'\n{}\nE", "python3 - <<'E'\n{}\nE"])
def test_long_harmless_texts_are_allowed(feeds: str) -> None:
    assert review_command(feeds.format("\n".join(CODE if "python" in feeds else PADS))).verdict == "allow"


def test_code_with_more_that_acts_than_can_be_read_is_not_allowed() -> None:
    acting = [f"os.remove('build/{number}.o')" for number in range(2000)]
    assert review_command("python3 - <<'E'\nimport os\n" + "\n".join(acting) + "\nE").verdict != "allow"

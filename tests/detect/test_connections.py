"""Which changed files have to do with what a task names: by names, by symbols, and by the files between them."""

from __future__ import annotations

import pytest

from interlock.detect.connections import path_words, read_named, unconnected

THERE = {"src/cart.py": "file", "src/shipping": "folder", "README.md": "file", "pyproject.toml": "file"}
TEXTS = {
    "src/cart.py": b"class Cart:\n    def add_item(self, item):\n        return price_of(item)\n",
    "src/prices.py": b"def price_of(item):\n    return lookup_rate(item)\n",
    "src/rates.py": b"def lookup_rate(item):\n    return 1\n",
    "src/shipping/post.py": b"def send_parcel():\n    pass\n",
    "src/login.py": b"def check_password(user):\n    return True\n",
    "src/colours.py": b"PALETTE = ['red']\n",
}
CHANGED = [path for path in TEXTS if path != "src/cart.py"]


@pytest.mark.parametrize(
    ("task", "left"),
    [
        ("Fix `src/cart.py`.", ["src/shipping/post.py", "src/login.py", "src/colours.py"]),
        ("Fix everything in src/shipping.", ["src/prices.py", "src/rates.py", "src/login.py", "src/colours.py"]),
        ("Rename check_password.", ["src/prices.py", "src/rates.py", "src/shipping/post.py", "src/colours.py"]),
        ("Fix src/cart.py and mind the login.", ["src/shipping/post.py", "src/colours.py"]),
        ("Tidy up.", []),
        ("See README.md and pyproject.toml.", []),
    ],
)
def test_what_nothing_connects_with_the_task_is_left(task: str, left: list[str]) -> None:
    assert unconnected(read_named(task, THERE), TEXTS, CHANGED) == left


def test_usual_names_connect_nothing() -> None:
    texts = {
        "src/cart.py": b"def main():\n    load()\n",
        "src/other.py": b"def main():\n    pass\n\ndef load():\n    pass\n",
    }
    assert unconnected(read_named("Fix src/cart.py", THERE), texts, ["src/other.py"]) == ["src/other.py"]


def test_the_words_of_a_task_that_may_be_paths() -> None:
    task = "See `./src/cart.py`, (docs/), ~/x.py, /etc/hosts and --a.b. Nothing else."
    assert path_words(task) == ["src/cart.py", "docs/"]

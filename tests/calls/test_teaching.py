"""A user's own table: its rows are used beside the shipped ones, and its documentation names every key."""

import re
from pathlib import Path
from typing import get_args

import pytest

from interlock.calls import Verb, Zone, read_script, teach
from interlock.calls.rows import KEYS
from interlock.calls.table import _in_use
from interlock.config import Review
from interlock.core import BadInput
from interlock.review import CommandReviewer

PAGE = (Path(__file__).parents[2] / "docs" / "programs.md").read_text()


@pytest.fixture(autouse=True)
def untaught():
    yield
    _in_use.clear()


def test_a_program_that_the_configuration_teaches_is_known(tmp_path: Path) -> None:
    assert [effect.verb for effect in read_script("dbtool -d shop wipe").effects] == ["execute"]
    path = tmp_path / "programs.yaml"
    path.write_text("dbtool: {does: fetch service database, options: -d, when: {wipe: delete service all database}}\n")
    CommandReviewer(Review(programs_path=str(path)))
    (effect,) = read_script("dbtool -d shop wipe").effects
    assert (effect.verb, effect.target, effect.extent) == ("delete", "database", "all")
    assert [effect.verb for effect in read_script("rm a").effects] == ["delete"], "the shipped rows stay"


def test_a_wrong_table_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "programs.yaml"
    path.write_text("dbtool: {does: wreck service database}\n")
    with pytest.raises(BadInput, match="'wreck' is not one of") as error:
        teach(str(path))
    assert str(path) in str(error.value)


def test_the_examples_of_the_page_are_read_as_it_says(tmp_path: Path) -> None:
    path = tmp_path / "programs.yaml"
    path.write_text(next(block for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "shopctl" in block))
    teach(str(path))
    assert [effect.verb for effect in read_script("shopctl --shop eu orders list").effects] == ["fetch"]
    assert [effect.verb for effect in read_script("shopctl --shop eu orders delete").effects] == ["delete"]
    assert [(e.verb, e.target) for e in read_script("mkthumbs a.png b.png out.png").effects] == [
        ("read", "a.png"), ("read", "b.png"), ("write", "out.png"),
    ]  # fmt: skip
    assert read_script("dbtool load --force x").effects[0].extent == "many"
    assert read_script("shipit now").programs[0].act == "deploy"
    assert [check.kind for check in read_script("checkall -k x").checks] == ["tests"]
    assert read_script("checkall --list").checks == ()


def test_the_page_names_every_key_verb_and_zone() -> None:
    assert [key for key in KEYS - {"examples"} if f"| `{key}` |" not in PAGE] == []
    assert [word for word in (*get_args(Verb), *get_args(Zone)) if f"`{word}`" not in PAGE and word != "unknown"] == []

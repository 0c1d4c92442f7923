"""A folder is no program, also where it is the one that we are in."""

from tests.cli.calling import interlock


def test_the_folder_itself_is_not_taken_for_a_folder_that_is_missing(tmp_path):
    done = interlock("run", "--", str(tmp_path), home=tmp_path)
    assert done.returncode == 126
    assert "Specify a program, not a folder." in done.stderr

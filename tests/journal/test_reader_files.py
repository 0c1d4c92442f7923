"""A reader that nobody closes gives its files back."""

from pathlib import Path

from interlock.core import RunSpec
from interlock.journal import Journal, Store


def open_files(path: Path) -> int:
    found = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            found += str(descriptor.readlink()).startswith(str(path))
        except OSError:
            continue
    return found


def test_a_reader_that_is_only_dropped_keeps_no_file_open(tmp_path: Path) -> None:
    folder = Store(tmp_path).create(RunSpec(run_id="1nfq0000dropped0", name="r", adapter="test"))
    with_writer = Journal.open(folder)
    with_writer.reader().summary()
    before = open_files(folder.path)
    for _ in range(5):
        reader = with_writer.reader()
        reader.search(text="anything")
        del reader
    assert open_files(folder.path) == before
    with_writer.close()
    assert open_files(folder.path) == 0

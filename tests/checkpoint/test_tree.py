"""Trees and deltas: applying two in a row, folding them, writing and reading them."""

from __future__ import annotations

import stat

from hypothesis import given
from hypothesis import strategies as st

from interlock.checkpoint.entry import TreeEntry
from interlock.checkpoint.tree import Delta, WorkspaceTree, decode_delta, encode_delta, fold, join

NAMES = st.sampled_from(["a", "b", "c", "\udcff"])


def file(number: int) -> TreeEntry:
    return TreeEntry(stat.S_IFREG | 0o644, number, number, number, number, 0, bytes([number]))


FOLDER = TreeEntry(stat.S_IFDIR | 0o755, 0, 0, 0, 0, 0)


@st.composite
def changes(draw: st.DrawFn) -> list[tuple[str, int]]:
    """Paths to write (a number) or to remove (0)."""
    paths = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
    return draw(st.lists(st.tuples(paths, st.integers(0, 9)), max_size=8))


def make_delta(tree: WorkspaceTree, wanted: list[tuple[str, int]]) -> Delta:
    """The delta of some writes and removals, as a walk would find it."""
    after = dict(tree.below(""))
    for path, number in wanted:
        for known in [known for known in after if known == path or known.startswith(f"{path}/")]:
            del after[known]
        if number:
            above = ""
            for name in path.split("/")[:-1]:
                above = join(above, name)
                after[above] = FOLDER
            after[path] = file(number)
    delta = Delta()
    before = dict(tree.below(""))
    for path in before.keys() | after.keys():
        old, new = before.get(path), after.get(path)
        if old is not None and old.is_folder and (new is None or not new.is_folder):
            delta.wiped.add(path)
        if old != new:
            folder, _, name = path.rpartition("/")
            delta.put(folder, name, new)
    for folder in list(delta.changed):
        if folder in delta.wiped:
            del delta.changed[folder]
    return delta


def listing(tree: WorkspaceTree) -> dict[str, TreeEntry]:
    return dict(tree.below(""))


@given(st.lists(changes(), min_size=2, max_size=6), st.integers(1, 5))
def test_folded_deltas_lead_to_the_same_tree(rounds: list[list[tuple[str, int]]], at: int) -> None:
    tree = WorkspaceTree()
    deltas = []
    for wanted in rounds:
        deltas.append(make_delta(tree, wanted))
        tree.apply(deltas[-1])
    at = min(at, len(deltas) - 1)
    deltas[at - 1 : at + 1] = [fold(deltas[at - 1], deltas[at])]
    folded = WorkspaceTree()
    for delta in deltas:
        folded.apply(decode_delta(encode_delta(delta)))
    assert listing(folded) == listing(tree)
    assert folded.folders == tree.folders
    assert (folded.files, folded.bytes) == (tree.files, tree.bytes)


@given(st.lists(changes(), max_size=4))
def test_a_whole_tree_is_read_as_it_was_written(rounds: list[list[tuple[str, int]]]) -> None:
    tree = WorkspaceTree()
    for wanted in rounds:
        tree.apply(make_delta(tree, wanted))
    again = WorkspaceTree.from_whole(decode_delta(encode_delta(tree.whole())))
    assert again.folders == tree.folders
    assert (again.files, again.bytes) == (tree.files, tree.bytes)

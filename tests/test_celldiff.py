"""Two notebooks side by side: nothing lost, nothing twice, in order, the targets together, and never for minutes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crane_core.celldiff import (
    CellPair,
    LinePair,
    NumberedLine,
    align_cells,
    align_lines,
)
from tests.examples import examples

CELLS = st.lists(
    st.sampled_from(
        [
            "import a",
            "x = 1",
            "x = 1\ny = 2",
            "x = 1\ny = 3",
            "",
            "   ",
            "plot(x)",
        ]
    ),
    max_size=6,
)
TEXTS = st.text("ab \n\t", max_size=30)


@given(left=CELLS, right=CELLS)
def test_every_cell_stands_once_and_in_order(
    left: list[str], right: list[str]
) -> None:
    pairs = align_cells(left, right)
    assert [pair.left for pair in pairs if pair.left is not None] == list(
        range(len(left))
    )
    assert [pair.right for pair in pairs if pair.right is not None] == list(
        range(len(right))
    )
    assert CellPair(None, None) not in pairs


@given(left=CELLS.filter(bool), right=CELLS.filter(bool), data=st.data())
def test_the_targets_stand_together_whatever_they_hold(
    left: list[str], right: list[str], data: st.DataObject
) -> None:
    pinned = CellPair(
        data.draw(st.integers(0, len(left) - 1)),
        data.draw(st.integers(0, len(right) - 1)),
    )
    pairs = align_cells(left, right, pinned=pinned)
    assert pinned in pairs
    assert [pair.left for pair in pairs if pair.left is not None] == list(
        range(len(left))
    )
    assert [pair.right for pair in pairs if pair.right is not None] == list(
        range(len(right))
    )


@given(cells=CELLS)
def test_same_notebooks_align_cell_by_cell(cells: list[str]) -> None:
    assert align_cells(cells, cells) == [
        CellPair(i, i) for i in range(len(cells))
    ]


def test_an_inserted_and_a_changed_cell() -> None:
    left = [
        "import numpy as np",
        "lanes = np.array([1, -1, 2])",
        "np.bincount(lanes)",
    ]
    right = [
        "import numpy as np",
        "lanes = np.array([1, 2])",
        "print(len(lanes))",
        "np.bincount(lanes)",
    ]
    assert align_cells(left, right) == [
        CellPair(0, 0),
        CellPair(1, 1),
        CellPair(None, 2),
        CellPair(2, 3),
    ]


def test_cells_with_nothing_in_common_are_not_matched() -> None:
    assert set(align_cells(["import os"], ["x == 17.25"])) == {
        CellPair(0, None),
        CellPair(None, 0),
    }


def test_one_side_alone() -> None:
    assert align_cells([], ["a", "b"]) == [CellPair(None, 0), CellPair(None, 1)]
    assert align_cells(["a"], [], pinned=CellPair(0, None)) == [
        CellPair(0, None)
    ]


def written(text: str) -> list[NumberedLine]:
    """The lines that are not empty, with their numbers."""
    return [
        NumberedLine(i, line.rstrip())
        for i, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    ]


@given(left=TEXTS, right=TEXTS)
def test_every_line_stands_once_and_same_lines_are_the_same(
    left: str, right: str
) -> None:
    rows = align_lines(left, right)
    assert [row.left for row in rows if row.left is not None] == written(left)
    assert [row.right for row in rows if row.right is not None] == written(
        right
    )
    assert all(
        (row.left and row.right and row.left.text == row.right.text)
        or not row.same
        for row in rows
    )
    assert all(row.left is not None or row.right is not None for row in rows)


def test_changed_lines_stand_beside_each_other() -> None:
    left, right = "a = 1\nb = 2\nc = 3", "a = 1\nb = 20\nb += 1\nc = 3  "
    assert align_lines(left, right) == [
        LinePair(NumberedLine(1, "a = 1"), NumberedLine(1, "a = 1"), True),
        LinePair(NumberedLine(2, "b = 2"), NumberedLine(2, "b = 20"), False),
        LinePair(None, NumberedLine(3, "b += 1"), False),
        LinePair(NumberedLine(3, "c = 3"), NumberedLine(4, "c = 3"), True),
    ]


def test_empty_lines_are_not_paired_with_code_and_numbers_stay() -> None:
    rows = align_lines("x = 1\n\n\ny = 2", "x = 1\n\ny = 3\n \nz = 4")
    assert rows == [
        LinePair(NumberedLine(1, "x = 1"), NumberedLine(1, "x = 1"), True),
        LinePair(NumberedLine(4, "y = 2"), NumberedLine(3, "y = 3"), False),
        LinePair(None, NumberedLine(5, "z = 4"), False),
    ]


def test_another_indentation_is_a_change() -> None:
    assert align_lines("    x = 1", "x = 1") == [
        LinePair(NumberedLine(1, "    x = 1"), NumberedLine(1, "x = 1"), False)
    ]


def test_many_equal_lines_and_huge_cells_are_aligned_to_the_last() -> None:
    """Sizes at which plain difflib does not come back."""
    rows = align_lines(
        "x = 1\n" * 20_000 + "y\n" + "z = 1\n" * 9_999,
        "w\n" + "x = 1\n" * 19_000 + "z = 1\n" * 9_000,
    )
    assert sum(row.left is not None for row in rows) == 30_000
    many = [f"x{i} = {i}\n" * 20 for i in range(120)]
    assert len(align_cells(many, [cell + "z" for cell in many])) >= 120
    assert len(align_cells(["a" * 3_000_000], ["b" * 3_000_000])) == 2


@examples(30)
@given(left=CELLS, right=CELLS)
def test_alignment_does_not_depend_on_which_side_is_left(
    left: list[str], right: list[str]
) -> None:
    n_pairs = sum(None not in pair for pair in align_cells(left, right))
    assert n_pairs == sum(None not in pair for pair in align_cells(right, left))

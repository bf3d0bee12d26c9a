"""Both notebooks as one table: the target marked, changes signed, equal cells folded, hostile code harmless."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from crane_core.domain import CellRole
from crane_core.ui.pair_diff import MAX_LINES, ShownCell, pair_html

TextOf = Callable[[str], str]


def cell(
    code: str,
    number: str = "1",
    role: CellRole = CellRole.EXECUTED,
    crash_line: int | None = None,
) -> ShownCell:
    return ShownCell(number, role, code, crash_line)


TARGET = CellRole.TARGET


def test_target_and_crash_line_are_marked(text_of: TextOf) -> None:
    html = pair_html(
        [cell("import a"), cell("x = [1]\nx[3]", "2", TARGET, crash_line=2)],
        [cell("import a"), cell("x = [1]\nx[0]", "2", TARGET)],
    )
    text_of(html)
    assert html.count("cw-target") == 1
    assert html.count("cw-crash") == 1
    crash = html[html.index("cw-crash") :]
    assert '<i>2</i><b title="the crash is raised here">▶</b>' in crash
    assert "Target cell" in html


def test_equal_cells_fold_and_tell_how_long_they_are(text_of: TextOf) -> None:
    html = pair_html(
        [cell("a = 1\nb = 2"), cell("x", "2", TARGET)],
        [cell("a = 1\nb = 2"), cell("y", "2", TARGET)],
    )
    assert html.count("<details") == 1
    assert "2 lines, unchanged" in text_of(html)


def test_unchanged_cells_in_a_row_fold_into_one_line(text_of: TextOf) -> None:
    cells = [cell(f"a{i} = {i}", str(i)) for i in (1, 2, 3)]
    html = pair_html(
        [*cells, cell("x", "4", TARGET)], [*cells, cell("y", "4", TARGET)]
    )
    assert "3 unchanged cells: Cell 1 to 3" in text_of(html)
    assert html.count("<details") == 4


def test_a_cell_of_one_side_says_so(text_of: TextOf) -> None:
    html = pair_html(
        [cell("t", "1", TARGET)],
        [cell("total = compute(everything)", "1"), cell("t", "2", TARGET)],
    )
    assert "only in the fixed notebook" in text_of(html)
    html = pair_html(
        [cell("total = compute(everything)"), cell("t", "2", TARGET)],
        [cell("t", "1", TARGET)],
    )
    assert "only in the crashing notebook" in text_of(html)


def test_an_unchanged_line_has_its_number_in_each_notebook() -> None:
    html = pair_html(
        [cell("a = 1\nb = 2", "1", TARGET)],
        [cell("import numpy\na = 1\nb = 2", "1", TARGET)],
    )
    assert html.count("cw-other") == 2
    assert '<i>1</i><i class="cw-other">2</i>' in html
    assert '<i>2</i><i class="cw-other">3</i>' in html


def test_changed_lines_have_their_numbers_and_signs(text_of: TextOf) -> None:
    html = pair_html(
        [cell("a = 1\nb = 2\nc = 3", "1", TARGET)],
        [cell("a = 1\nb = 20\nc = 3", "1", TARGET)],
    )
    text_of(html)
    assert 'cw-changed-0"><i>2</i><b>−</b>' in html
    assert 'cw-changed-1"><i>2</i><b>+</b>' in html
    assert html.count("cw-changed") == 2


def test_cells_that_ran_in_one_version_only(text_of: TextOf) -> None:
    html = pair_html([cell("x = 1", role=CellRole.NOT_RUN)], [cell("x = 1")])
    assert "not run | ran" in text_of(html)


def test_line_numbers_count_blank_lines(text_of: TextOf) -> None:
    html = pair_html(
        [cell("a = 1\n\n\nb = 2", "1", TARGET, 4)],
        [cell("a = 1\n\n\nb = 3", "1", TARGET)],
    )
    text_of(html)
    assert (
        'title="2 empty lines above not shown">4</i><b title="the crash is raised here">▶</b>'
        in html
    )


def test_another_line_number_in_the_traceback_is_told(text_of: TextOf) -> None:
    left = ShownCell("1", TARGET, "a\nb", crash_line=2, recorded_line=7)
    assert "line 7 in the traceback" in text_of(
        pair_html([left], [cell("a\nb", "1", TARGET)])
    )


def test_words_that_differ_are_marked_within_changed_lines(
    text_of: TextOf,
) -> None:
    html = pair_html(
        [cell("x = f(a, b)", "1", TARGET)],
        [cell("x = f(a, b, c)", "1", TARGET)],
    )
    assert "".join(re.findall(r'cw-word">(.*?)<', html)) == ", c"
    text_of(html)


def test_a_wrapped_line_hangs_below_its_indentation() -> None:
    assert '<code style="--in:8">' in pair_html(
        [cell("        x = 1", "1", TARGET)], []
    )


def test_long_unchanged_stretches_collapse_but_not_beside_a_change_or_the_crash(
    text_of: TextOf,
) -> None:
    code = [f"x{i} = {i}" for i in range(40)]
    changed = [*code[:20], "x20 = 200", *code[21:]]
    html = pair_html(
        [cell("\n".join(code), "1", TARGET, 31)],
        [cell("\n".join(changed), "1", TARGET)],
    )
    shown = text_of(html)
    assert "17 unchanged lines" in shown
    assert "6 unchanged lines" in shown
    assert html.count('<details class="cw-unchanged">') == 2
    whole = pair_html(
        [cell("\n".join(code), "1", TARGET)],
        [cell("\n".join(code), "1", TARGET)],
    )
    assert "cw-unchanged" not in whole


@pytest.mark.parametrize("role", CellRole)
def test_hostile_code_is_text_and_bounded(
    text_of: TextOf, hostile: str, role: CellRole
) -> None:
    left = [cell(hostile, hostile[:50], role), cell("x", "2", TARGET)]
    html = pair_html(
        left, [cell(hostile + "x", "1", role), cell("x", "2", TARGET)]
    )
    text_of(html)
    assert "<script" not in html
    assert len(html) < 2_000_000


def test_a_huge_cell_is_cut_and_counted(text_of: TextOf) -> None:
    code = "\n".join(f"x{i} = {i}" for i in range(MAX_LINES + 500))
    shown = text_of(
        pair_html([cell(code, "1", TARGET)], [cell(code, "1", TARGET)])
    )
    assert "… 500 more lines" in shown
    assert f"x{MAX_LINES}" not in shown


@pytest.mark.parametrize(
    "sides", [([], []), ([cell("x")], []), ([], [cell("x", "1", TARGET)])]
)
def test_a_missing_notebook_is_an_empty_side(
    text_of: TextOf, sides: tuple[list[ShownCell], list[ShownCell]]
) -> None:
    assert text_of(pair_html(*sides)).startswith("− crashing+ fixed")

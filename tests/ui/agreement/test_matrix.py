"""The confusion matrix as HTML: counts, margins and shares, names of annotators that cannot do harm."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd

from crane_core.annotation.label_set import study_labels
from crane_core.domain import Label
from crane_core.ui.agreement.coefficients import MAX_NAME, matrix_html

SCALE = [Label.CORRECT, Label.PARTIAL, Label.WRONG]


def matrix(
    counts: list[list[int]], first: str = "ana", second: str = "ben"
) -> str:
    frame = pd.DataFrame(
        counts,
        index=pd.Index(SCALE, name=first),
        columns=pd.Index(SCALE, name=second),
    )
    return matrix_html(frame, "diagnoses", study_labels())


def cells(html: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]


def test_rows_are_the_first_annotators_and_have_their_sums(
    text_of: Callable[[str], str],
) -> None:
    html = matrix([[1200, 40, 0], [6, 4, 0], [9, 6, 1]])
    assert cells(html)[2:] == [
        ["1,200", "40", "0", "1,240"],
        ["6", "4", "0", "10"],
        ["9", "6", "1", "16"],
        ["1,215", "50", "1", "1,266"],
    ]
    assert "1,266 diagnoses" in text_of(html)
    above, beside = re.findall(r"<th[^>]*>(\w+ says)</th>", html)
    assert (above, beside) == ("ben says", "ana says")
    assert '<th scope="colgroup" colspan="3">ben says' in html
    # The name of the first annotator heads the column of row names.
    assert html.count('scope="col"') == html.count('scope="row"') + 1 == 5


def test_the_shade_is_the_share_of_the_row_and_the_title_says_both_shares() -> (
    None
):
    html = matrix([[3, 1, 0], [0, 0, 0], [0, 0, 4]])
    assert re.findall(r"--share: ([\d.]+)", html) == [
        "0.750",
        "0.250",
        "0.000",
        *["0.000"] * 5,
        "1.000",
    ]
    assert (
        'title="ana: correct; ben: partial: 1 (25.0% of the row, 12.5% of all)"'
        in html
    )
    assert html.count("cw-same") == 3


def test_nothing_in_common_is_a_matrix_of_zeros(
    text_of: Callable[[str], str],
) -> None:
    html = matrix([[0] * 3] * 3)
    assert {cell for row in cells(html)[2:] for cell in row} == {"0"}
    assert "nan" not in text_of(html)


def test_a_hostile_name_is_text(
    hostile: str, text_of: Callable[[str], str]
) -> None:
    html = matrix([[1, 0, 0], [0, 1, 0], [0, 0, 1]], first=hostile)
    assert len(html) < 40 * 6 * MAX_NAME
    assert "ben says" in text_of(html)

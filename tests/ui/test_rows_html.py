"""Tables that a phone shows as cards: texts escaped, numbers to the right, boxes and links where they are wanted."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from crane_core.ui.rows_html import rows_html

TextOf = Callable[[str], str]
TABLE = pd.DataFrame(
    {"Run": ["one", "two"], "Answers": ["1,110", "–"], "Cost": ["", None]}
)


def test_a_cell_names_its_column_and_numbers_stand_to_the_right() -> None:
    html = rows_html(TABLE)
    assert '<th scope="col" class="cw-number">Answers</th>' in html
    assert '<td data-head="Answers" class="cw-number">1,110</td>' in html
    assert '<td data-head="Answers" class="cw-number cw-empty">–</td>' in html
    assert html.count('<td data-head="Cost" class="cw-empty">–</td>') == 2
    assert "checkbox" not in html
    assert "<a " not in html


def test_rows_have_links_and_boxes_of_their_own() -> None:
    html = rows_html(
        TABLE,
        links=["?run=1", "?run=2"],
        ticks=[("a~b", "Compare one"), ("c~d", "Compare two")],
        about={"Answers": "how many"},
        looks={"Answers": ["--at: 50%", ""]},
    )
    assert '<a href="?run=2">two</a>' in html
    assert 'value="a~b" aria-label="Compare one"' in html
    assert html.count('class="cw-tick"') == 3, "one of the head, one a row"
    assert 'title="how many"' in html
    assert html.count("style=") == 1
    assert 'style="--at: 50%">1,110</td>' in html


@pytest.mark.parametrize("place", ["Run", "Answers"])
def test_texts_of_others_stay_text(
    place: str, hostile: str, text_of: TextOf
) -> None:
    html = rows_html(TABLE.assign(**{place: hostile}))
    assert "Answers" in text_of(html)
    assert html.count("<th ") == 5

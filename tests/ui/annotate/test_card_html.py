"""An item's first screen: the crashing line is marked, texts are counted, nothing of a notebook gets through raw."""

from __future__ import annotations

from collections.abc import Callable

from crane_core.pipeline.cards import Card, Text
from crane_core.ui.annotate.card_html import MAX_LINES, MAX_TEXT, card_html

TextOf = Callable[[str], str]
CODE = "total = frame['price'].sum()\nprint(total)"


def card(
    *texts: Text, code: str | None = CODE, crash_line: int | None = 1, truth: str | None = "No such column."
) -> Card:
    return Card("k3", "pandas", code, crash_line, 4, truth, "keyerror", "'price'", texts)


def test_the_crashing_line_is_marked_and_the_ground_truth_stands_above_the_diagnosis(text_of: TextOf) -> None:
    html = card_html(card(Text("The column is missing.", 5)))
    text = text_of(html)
    assert html.count("cw-crash") == 1
    assert html.index("▶") < html.index("print")
    assert text.index("No such column.") < text.index("The column is missing.")
    assert "keyerror: 'price'" in text
    assert "after 4 executed cells" in text


def test_distinct_texts_are_counted_and_one_text_alone_is_not(text_of: TextOf) -> None:
    several = text_of(card_html(card(Text("One.", 3), Text("Other.", 2))))
    assert "5 runs, 2 texts" in several
    assert "3×One." in several and "2×Other." in several
    alone = text_of(card_html(card(Text("One.", 1))))
    assert "1 run, one text" in alone
    assert "×" not in alone


def test_where_counts_are_hidden_none_is_shown(text_of: TextOf) -> None:
    text = text_of(card_html(card(Text("One.", None))))
    assert "One." in text
    assert "run" not in text and "×" not in text


def test_a_case_without_diagnosis_or_code_says_so(text_of: TextOf) -> None:
    text = text_of(card_html(card(Text("One.", 1), code=None, truth=None)))
    assert "is not loaded" in text
    assert "gives no diagnosis" in text


def test_the_crashing_line_of_a_huge_cell_is_among_those_shown(text_of: TextOf) -> None:
    html = card_html(card(Text("One.", 1), code="\n".join(f"x{i} = {i}" for i in range(5_000)), crash_line=4_321))
    assert html.count("cw-side") == MAX_LINES
    assert "x4320" in text_of(html)
    assert "4,600 more lines are not shown" in text_of(html)


def test_hostile_texts_are_escaped_and_bounded(hostile: str, text_of: TextOf) -> None:
    html = card_html(card(Text(hostile, 1), code=hostile, truth=hostile))
    text_of(html)
    assert len(html) < 6 * 2 * MAX_TEXT + MAX_LINES * 3_000

"""An item's first screen: the crashing line is marked, texts are counted, nothing of a notebook gets through raw."""

from __future__ import annotations

from collections.abc import Callable

from crane_core.pipeline.campaigns.cards import NO_CRASH, Card, Text
from crane_core.ui.annotate.card_html import MAX_LINES, MAX_TEXT, card_html

TextOf = Callable[[str], str]
CODE = "total = frame['price'].sum()\nprint(total)"


def card(
    *texts: Text,
    code: str | None = CODE,
    crash_line: int | None = 1,
    truth: str | None = "No such column.",
) -> Card:
    return Card(
        "k3", "pandas", code, crash_line, 4, truth, "keyerror", "'price'", texts
    )


def test_the_crashing_line_is_marked_and_the_ground_truth_stands_above_the_diagnosis(
    text_of: TextOf,
) -> None:
    html = card_html(card(Text("The column is missing.", 5)))
    text = text_of(html)
    assert html.count("cw-crash") == 1
    assert html.index("▶") < html.index("print")
    assert text.index("No such column.") < text.index("The column is missing.")
    assert "KeyError: 'price'" in text
    assert "after 4 executed cells" in text


def test_distinct_texts_are_counted_and_one_text_alone_is_not(
    text_of: TextOf,
) -> None:
    several = text_of(card_html(card(Text("One.", 3), Text("Other.", 2))))
    assert "5 answers, 2 texts" in several
    assert "3×One." in several and "2×Other." in several
    alone = text_of(card_html(card(Text("One.", 1))))
    assert "1 answer, one text" in alone
    assert "×" not in alone


def test_where_counts_are_hidden_none_is_shown(text_of: TextOf) -> None:
    text = text_of(card_html(card(Text("One.", None))))
    assert "One." in text
    assert "run" not in text and "×" not in text


def test_a_case_without_diagnosis_or_code_says_so(text_of: TextOf) -> None:
    text = text_of(card_html(card(Text("One.", 1), code=None, truth=None)))
    assert "is not loaded" in text
    assert "gives no diagnosis" in text


def test_the_crashing_line_of_a_huge_cell_is_among_those_shown(
    text_of: TextOf,
) -> None:
    html = card_html(
        card(
            Text("One.", 1),
            code="\n".join(f"x{i} = {i}" for i in range(5_000)),
            crash_line=4_321,
        )
    )
    assert html.count("cw-side") == MAX_LINES
    assert "x4320" in text_of(html)
    assert "4,600 more lines are not shown" in text_of(html)


def test_hostile_texts_are_escaped_and_bounded(
    hostile: str, text_of: TextOf
) -> None:
    html = card_html(card(Text(hostile, 1), code=hostile, truth=hostile))
    text_of(html)
    assert len(html) < 6 * 2 * MAX_TEXT + MAX_LINES * 3_000


def test_a_text_that_is_nearly_the_first_is_shown_as_its_differences(
    text_of: TextOf,
) -> None:
    first = Text("The column `price` is missing in `df`.", 3)
    html = card_html(
        card(
            first,
            Text("The column `cost` is missing in `df`, twice.", 1),
            Text("Other words.", 1),
        )
    )
    text_of(html)
    assert "<del><code>price</code></del><ins><code>cost</code></ins>" in html
    assert "<ins>, twice</ins>" in html
    assert html.count("as the first, but for what is marked") == 1
    assert "<p>Other words.</p>" in html


def test_the_exception_that_a_text_names_stands_beside_the_true_one(
    text_of: TextOf,
) -> None:
    text = text_of(card_html(card(Text("It ends in a KeyError.", None))))
    assert "Names KeyError, the exception that is raised." in text
    text = text_of(
        card_html(
            card(Text("A `ValueError` or pandas.errors.MergeError.", None))
        )
    )
    assert "Names ValueError, MergeError; KeyError is raised." in text
    assert "Names" not in text_of(
        card_html(card(Text("The column is missing. An Error.", None)))
    )


def test_what_is_named_where_nothing_is_raised_is_said(text_of: TextOf) -> None:
    false_alarm = card(
        Text("It ends in a KeyError.", None), truth=NO_CRASH
    )._replace(exception=None, message=None)
    assert "Names KeyError; nothing is raised." in text_of(
        card_html(false_alarm)
    )
    unknown = card(
        Text("It ends in a KeyError.", None), truth="Wrong name."
    )._replace(exception=None, message=None)
    assert "Names" not in text_of(card_html(unknown))


def test_code_in_backticks_is_code_and_no_markup_of_a_text_works(
    text_of: TextOf,
) -> None:
    html = card_html(
        card(
            Text("`<b>x</b>` **bold** [a](b) <i>y</i>", 1),
            Text("`<b>x</b>` **bold** [a](b) <i>z</i>", 1),
        )
    )
    text_of(html)
    assert "<code>&lt;b&gt;x&lt;/b&gt;</code> **bold** [a](b) &lt;i&gt;" in html
    assert "<i>y" not in html and "<b>x" not in html


def test_names_of_the_error_are_marked_in_a_long_cell_where_a_diagnosis_uses_them(
    text_of: TextOf,
) -> None:
    lines = ["frame = load()", *["step()"] * 30, "total = frame['price'].sum()"]
    told = Text("`frame` has no column price; if it had, it would be fine.", 1)
    html = card_html(card(told, code="\n".join(lines), crash_line=32))
    marked = [part.partition("<")[0] for part in html.split('cw-word">')[1:]]
    assert marked == ["frame", "frame", "price"]
    assert "Marked: names of the error" in text_of(html)


def test_nothing_is_marked_in_a_short_cell_or_without_a_shared_name(
    text_of: TextOf,
) -> None:
    told = Text("`frame` has no column price.", 1)
    assert "cw-word" not in card_html(card(told))
    long = "\n".join(["step()"] * 40)
    html = card_html(card(told, code=long, crash_line=1))
    assert "cw-word" not in html and "Marked" not in text_of(html)

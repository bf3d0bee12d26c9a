"""Charts are made once for the same input, and again for another."""

import altair as alt
import pandas as pd

from crane_core.ui.chart_box import finished

MADE: list[int] = []


def points(table: pd.DataFrame, *, colour: str) -> alt.Chart:
    MADE.append(len(table))
    return alt.Chart(table).mark_point(color=colour).encode(x="a:Q")


def test_a_chart_is_made_once_for_the_same_tables_and_words() -> None:
    MADE.clear()
    table = pd.DataFrame({"a": [1, 2]})
    first = finished(points, table, colour="red")
    assert finished(points, table.copy(), colour="red") == first
    assert MADE == [2]
    assert finished(points, table, colour="blue")["mark"]["color"] == "blue"
    assert finished(points, table.assign(a=[1, 3]), colour="red") != first
    assert MADE == [2, 2, 2]


def test_a_finished_chart_is_what_altair_writes_with_its_checks() -> None:
    table = pd.DataFrame({"a": [3]})
    assert finished(points, table, colour="green") == points(
        table, colour="green"
    ).to_dict(validate=True)

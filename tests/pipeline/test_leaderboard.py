"""A board ranks what answered the same instances, and says why the others have no rank."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from crane_core.charts.theme import detector_colours
from crane_core.domain import DetectorKind
from crane_core.pipeline.export.leaderboard_formats import render_boards
from crane_core.pipeline.results.leaderboard import (
    Board,
    BoardPolicy,
    leaderboard,
)
from crane_core.pipeline.results.measures import Credit
from crane_core.pipeline.study.table_formats import Format
from crane_core.ui.board_html import board_table, is_all_labelled, lead_words

N = 40


def answers(
    detector: str, right: int, n: int = N, label: str | None = "correct"
) -> pd.DataFrame:
    """Crashing instances, of which the first `right` of n are found."""
    found = [place < right for place in range(n)]
    return pd.DataFrame(
        {
            "benchmark": "b",
            "case_id": [f"c{place}" for place in range(n)],
            "instance_id": [f"i{place}" for place in range(n)],
            "truth": True,
            "detector": detector,
            "detector_title": detector.upper(),
            "detector_kind": str(DetectorKind.ANALYZER),
            "setting": "code",
            "experiment": "e",
            "n_crash": [int(one) for one in found],
            "n_safe": [int(not one) for one in found],
            "n_unanswered": 0,
            "human": [label if one else None for one in found],
            "label_stratum": None,
        }
    )


RUNS = pd.DataFrame(
    {
        "benchmark": "b",
        "experiment": "e",
        "detector": ["good", "near", "bad"],
        "setting": "code",
        "is_job": [False, True, False],
        "n_answers": N,
        "agreement": float("nan"),
        "n_flips": 0,
        "input_tokens": float("nan"),
        "output_tokens": float("nan"),
        "usd": float("nan"),
        "seconds_median": [float("nan"), 1.5, float("nan")],
    }
)


def board(*frames: pd.DataFrame, credit: Credit = Credit.DETECTION) -> Board:
    return leaderboard(
        pd.concat(frames, ignore_index=True),
        RUNS,
        BoardPolicy("b", credit=credit, annotator="ann"),
    )


@pytest.fixture
def three() -> Board:
    return board(answers("bad", 4), answers("good", 38), answers("near", 36))


def test_rows_share_a_rank_where_no_test_separates_them(three: Board) -> None:
    rows = three.rows
    assert rows["detector"].tolist() == ["good", "near", "bad"]
    assert rows["value"].tolist() == [0.95, 0.9, 0.1]
    assert rows["best"].tolist() == [1, 1, 3]
    assert rows["worst"].tolist() == [2, 2, 3]
    assert rows["groups"].tolist() == [(0,), (0,), (1,)]
    assert lead_words(three) == (
        "GOOD −RT has the highest accuracy (95.0%); the tests do not separate it from NEAR −RT"
    )


def test_a_figure_names_its_column_and_marks_have_the_colours_of_charts(
    three: Board,
) -> None:
    html = board_table(three)
    # On a phone no heading is above a figure.
    heads = ("Precision", "Recall", "F1", "Seconds")
    assert all(html.count(f'data-head="{head}"') == 3 for head in heads)
    colours = detector_colours(three.rows["detector_title"].tolist())
    assert [f"--mark: {colour}" in html for colour in colours.values()] == [
        True
    ] * 3
    # All of them saw the code only, which is hollow on every chart.
    assert html.count('class="cw-open"') == 3


def test_what_answered_too_few_instances_is_listed_without_a_rank() -> None:
    found = board(answers("good", 30), answers("few", 5, n=5)).rows
    assert found["detector"].tolist() == ["good", "few"]
    assert found["why_unranked"].dropna().tolist() == [
        "answers 5 of 40 instances"
    ]
    assert found["best"].isna().tolist() == [False, True]


def test_without_labels_a_strict_board_shows_no_rate() -> None:
    unlabelled = answers("dark", 20, label=None)
    found = board(answers("good", 30), unlabelled, credit=Credit.STRICT).rows
    assert found["why_unranked"].tolist()[1] == (
        "0 of 20 detected crashes have a label by ann"
    )
    assert found["value"].isna().tolist() == [False, True]


def test_rows_without_labels_are_one_line_that_opens_each_of_them() -> None:
    dark = [answers(name, 20, label=None) for name in ("dark", "<b>dim")]
    found = board(answers("good", 30), *dark, credit=Credit.STRICT)
    html = board_table(found)
    assert html.count("<tr") == 1 + 1 + 1
    # The one row with labels has all of them, which the caption says.
    assert is_all_labelled(found)
    assert "Labelled" not in html
    assert "2 not ranked: no labels by ann. " in html
    assert html.count('data-place="1"') == html.count('data-place="2"') == 1
    assert 'title="0 of 20 detected crashes have a label by ann"' in html
    assert "&lt;B&gt;DIM −RT</a>" in html
    assert "dark" in board_table(found, kind="analyzer")
    assert "cw-all" not in board_table(found, is_linked=False)


def test_what_was_executed_is_on_no_board() -> None:
    executed = answers("ran", 40).assign(
        detector_kind=str(DetectorKind.REHEARSAL)
    )
    assert board(executed).rows.empty
    found = board(executed, answers("good", 30)).rows
    assert found["detector"].tolist() == ["good"]


def test_files_hold_configuration_and_the_way_to_the_answers(
    three: Board,
) -> None:
    (told,) = json.loads(render_boards([three], Format.JSON, {"b": "Bench"}))[
        "leaderboards"
    ]
    assert told["title"].startswith("Leaderboard of Bench:")
    near = told["rows"][1]
    assert near["is_own"]
    assert (near["vote"], near["credit"]) == ("majority", "detection only")
    assert near["answers"] == (
        "runs?benchmark=b&experiment=e&detector=near&setting=code"
    )
    assert near["seconds_per_answer"] == 1.5
    csv = render_boards([three], Format.CSV, {"b": "Bench"}).splitlines()
    assert len(csv) == 4
    latex = render_boards([three], Format.LATEX, {"b": "Bench"})
    assert "\\toprule" in latex
    assert f"\n% NEAR (code, e): {near['answers']}\n" in latex
    markdown = render_boards([three], Format.MD, {"b": "Bench"})
    assert "| 1–2 | a | NEAR (own) | code | 90.0% |" in markdown
    assert f"- NEAR (code, e): `{near['answers']}`" in markdown


def test_a_name_of_two_lines_stays_in_its_comment() -> None:
    hostile = board(answers("x\n\\input{y}", 3))
    latex = render_boards([hostile], Format.LATEX, {"b": "Bench"})
    commented = latex.split("\\begin")[0].splitlines()
    assert {line[0] for line in commented if line} == {"%"}


def test_the_table_marks_own_rows_sorts_and_escapes(three: Board) -> None:
    html = board_table(three)
    assert html.count('scope="row"') == 3
    assert html.count("yours") == 1
    assert (
        '"cases?benchmark=b&amp;experiment=e&amp;detector=near&amp;setting=code"'
        in html
    )
    assert "data-page" not in board_table(three, is_linked=False)
    html = board_table(three, sort="accuracy")
    assert 'aria-sort="ascending"' in html
    assert html.index(">BAD") < html.index(">NEAR −RT</a>")
    hostile = board(answers("<b>x", 3))
    assert "<b>x" not in board_table(hostile).lower().replace("<b style", "")
    assert "data-sort" not in board_table(three, is_linked=False)


def test_a_column_that_nothing_is_known_of_is_not_shown(three: Board) -> None:
    assert "Seconds" in board_table(three)
    untimed = three.rows.assign(seconds=float("nan"))
    assert "Seconds" not in board_table(three._replace(rows=untimed))

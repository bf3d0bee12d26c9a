"""Leaderboards as files: CSV, JSON, Markdown, LaTeX with booktabs. Each row has its configuration and its answers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from crane_core.pipeline import frame_formats
from crane_core.pipeline.results.leaderboard import Board, rank_words
from crane_core.pipeline.results.measures import Credit
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.sheet_text import csv_of
from crane_core.pipeline.study.table_formats import Format, json_text
from crane_core.rounding import digits

Titles = Mapping[str, str]
COPIED = {
    "name": "detector_title",
    "model": "detector",
    "kind": "detector_kind",
    "experiment": "experiment",
    "setting": "setting",
    "is_own": "is_own",
    "k": "k",
    "accuracy": "value",
    "low": "low",
    "high": "high",
    "precision": "precision",
    "recall": "recall",
    "f1": "f1",
    "n": "n",
    "n_cases": "n_cases",
    "n_changed": "n_flips",
    "tokens_per_answer": "tokens",
    "usd_per_1000": "usd",
    "is_input_only": "is_input_only",
    "seconds_per_answer": "seconds",
    "why_unranked": "why_unranked",
}
"""Columns of the files, and of the board."""
PRINTED = ("Rank", "Groups", "Detector", "Input", "Accuracy", "95% interval")
MORE = ("Precision", "Recall", "F1", "Changed", "n", "k")


def render_boards(boards: Iterable[Board], form: Format, titles: Titles) -> str:
    """The boards as one text in one form, ending in a line feed; titles: of benchmarks, by id."""
    return _WRITERS[form](list(boards), titles)


def board_frame(board: Board) -> pd.DataFrame:
    """A board as its files hold it: a row per detector and input, with its policy and the address of its answers."""
    policy = board.policy
    rows = [
        {
            "benchmark": policy.benchmark,
            "rank_best": row["best"],
            "rank_worst": row["worst"],
            "groups": letters(row["groups"]),
            **{name: row[source] for name, source in COPIED.items()},
            "vote": str(policy.rule),
            "credit": str(policy.credit),
            "judged_by": policy.annotator or None,
            "answers": answers_address(policy.benchmark, row),
        }
        for row in as_rows(board.rows)
    ]
    return pd.DataFrame(rows)


def letters(groups: Sequence[int]) -> str:
    """Groups as a compact letter display names them: a, b ... z, then by number."""
    return " ".join(
        chr(ord("a") + group) if group < 26 else str(group + 1)
        for group in groups
    )


def answers_address(benchmark: str, row: dict[str, Any]) -> str:
    """Where the app shows the answers behind a row, within its address."""
    return _address("runs", benchmark, row)


def cases_address(benchmark: str, row: dict[str, Any]) -> str:
    """Where the app lists the cases with the outcomes of a row, within its address."""
    return _address("cases", benchmark, row)


def _address(page: str, benchmark: str, row: dict[str, Any]) -> str:
    names = ("experiment", "detector", "setting")
    of_row = {name: str(row[name]) for name in names}
    return f"{page}?{urlencode({'benchmark': benchmark} | of_row)}"


def title_of(board: Board, titles: Titles) -> str:
    """What the board is of and how it counts; titles: of benchmarks, by id."""
    policy = board.policy
    name = titles.get(policy.benchmark, policy.benchmark)
    judged = f", diagnoses judged by {policy.annotator}"
    return f"Leaderboard of {name}: {policy.credit}, {policy.rule}" + (
        judged if policy.credit is not Credit.DETECTION else ""
    )


def method_of(board: Board) -> str:
    """How ranks and groups are found, with the numbers of rows, pairs and instances."""
    return (
        f"{len(board.ranked)} ranked rows, {len(board.tests)} pairs, {board.n_instances} instances. One row is better"
        " than another if the exact McNemar test (where an outcome is right or wrong) and the sign-flip test by case"
        " both find it at the 5% level after Holm over all pairs. Rows that share a group are not shown to differ."
    )


def _records(boards: list[Board]) -> pd.DataFrame:
    return pd.concat([board_frame(board) for board in boards])


def _csv(boards: list[Board], _: Titles) -> str:
    return csv_of(_records(boards))


def _json(boards: list[Board], titles: Titles) -> str:
    written = [
        {
            "title": title_of(board, titles),
            "method": method_of(board),
            "rows": as_rows(board_frame(board)),
        }
        for board in boards
    ]
    return json_text({"leaderboards": written})


def _markdown(boards: list[Board], titles: Titles) -> str:
    return "\n".join(_markdown_board(board, titles) for board in boards)


def _markdown_board(board: Board, titles: Titles) -> str:
    table = frame_formats.frame_markdown(printed_frame(board))
    lines = [f"## {title_of(board, titles)}", "", table.rstrip("\n")]
    answers = [f"- {name}: `{place}`" for name, place in _answers(board)]
    notes = [method_of(board), *unranked_notes(board)]
    behind = ["", "Answers behind the rows, within the app's address:", ""]
    return "\n".join([*lines, "", *notes, *behind, *answers, ""])


def _answers(board: Board) -> list[tuple[str, str]]:
    """Each row with its input and experiment, on one line, and where the app shows its answers."""
    found = []
    for row in as_rows(board.rows):
        configured = f"({row['setting']}, {row['experiment']})"
        # A line feed in a name would end a comment of LaTeX.
        name = " ".join(f"{row['detector_title']} {configured}".split())
        found.append((name, answers_address(board.policy.benchmark, row)))
    return found


def printed_frame(board: Board) -> pd.DataFrame:
    """A board as people read it: rates in percent, a row per detector and input."""
    rows = [_cells(row) for row in as_rows(board.rows)]
    return pd.DataFrame(rows, columns=[*PRINTED, *MORE])


def unranked_notes(board: Board) -> list[str]:
    """Why rows have no rank, a line each."""
    return [
        f"Not ranked: {row['detector_title']} ({row['setting']}): {row['why_unranked']}."
        for row in as_rows(board.rows)
        if row["why_unranked"]
    ]


def _cells(row: dict[str, Any]) -> list[str]:
    best, worst = (row[name] or float("nan") for name in ("best", "worst"))
    name = row["detector_title"] + (" (own)" if row["is_own"] else "")
    accuracy = _percent(row["value"])
    low, high = _percent(row["low"], ""), _percent(row["high"])
    return [
        rank_words(best, worst),
        letters(row["groups"]),
        name,
        row["setting"],
        accuracy,
        f"{low} to {high}" if accuracy else "",
        *(_percent(row[name]) for name in ("precision", "recall", "f1")),
        "" if row["n_flips"] is None else f"{row['n_flips']:.0f}",
        f"{row['n']:.0f}" if accuracy else "",
        f"{row['k']:.0f}",
    ]


def _percent(share: float | None, sign: str = "%") -> str:
    return "" if share is None else digits(share * 100, 1) + sign


def _latex(boards: list[Board], titles: Titles) -> str:
    return "\n".join(_latex_board(board, titles) for board in boards)


def _latex_board(board: Board, titles: Titles) -> str:
    title = title_of(board, titles)
    notes = unranked_notes(board)
    policy = board.policy
    # A comment, as no column of a page has room for an address.
    answers = [f"% {name}: {place}\n" for name, place in _answers(board)]
    return "".join(answers) + frame_formats.frame_latex(
        printed_frame(board),
        title=title,
        caption=" ".join([f"{title}.", method_of(board), *notes]),
        label=f"leaderboard-{policy.benchmark}-{policy.credit}",
        numeric=("Accuracy", "95% interval", *MORE),
    )


_WRITERS: dict[Format, Callable[[list[Board], Titles], str]] = {
    Format.MD: _markdown,
    Format.CSV: _csv,
    Format.JSON: _json,
    Format.LATEX: _latex,
}

"""What each input changes, in words and as the chart takes it; printed values stand in for runs that are not here.

Knows no page.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.results.measures import YES_OR_NO
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.study import table_cells
from crane_core.stats.outcome import DIRECTED, Outcome
from crane_core.ui import words
from crane_core.ui.breakdown_words import GROUPINGS
from crane_core.ui.outcome_words import named, of_comparisons

REFERENCE = "+RT"
RECOMPUTED = "recomputed"
PRINTED = "printed in the paper"
MOST_IN_TITLE = 2
"""Detectors that a title names."""
_COLUMN = re.compile(r"^(?P<rate>\S+) \((?P<setting>[^)]+)\)$")


def _sign(setting: str) -> str:
    return setting.replace("-", "−")


def ablation_values(table: table_cells.StudyTable, rate: str) -> pd.DataFrame:
    """A value per detector and setting: ours, unrounded, where the runs are here, else what the paper prints.

    Columns: detector_title, setting, rate, value and printed (shares in 0..1), source (which of both `value` is), n
    (instances behind a recomputed value).
    """
    rows = []
    for cell in table.cells:
        match = _COLUMN.match(cell.column)
        if not match or match["rate"] != rate:
            continue
        printed = (
            None
            if cell.printed is None
            else table_cells.printed_value(cell.printed)
        )
        value, source = (
            (printed, PRINTED) if cell.ours is None else (cell.ours, RECOMPUTED)
        )
        share, printed_share = (
            None if one is None else float(one / table_cells.PERCENT)
            for one in (value, printed)
        )
        setting = _sign(match["setting"])
        rows.append(
            (cell.row, setting, rate, share, source, printed_share, cell.n)
        )
    columns = [
        "detector_title",
        "setting",
        "rate",
        "value",
        "source",
        "printed",
        "n",
    ]
    return pd.DataFrame(rows, columns=columns).astype(
        {"printed": "float64", "n": "Int64"}
    )


PHRASES: dict[str, str] = {
    Setting.CODE: "with code only",
    Setting.RUNTIME: "with runtime state",
    Setting.RUNTIME_WITHOUT_S: "without structure",
    Setting.RUNTIME_WITHOUT_R: "without representation",
    Setting.RUNTIME_WITHOUT_V: "without values",
    Setting.RUNTIME_DOCS: "with API documentation",
    Setting.RUNTIME_PLUS: "with the extended state",
}


def apart(measured: pd.DataFrame) -> str:
    """Which rows have an interval and tests that lead to different conclusions, and why."""
    tested = measured[measured["p_holm"].notna()]
    is_apart = tested["outcome"].isin(DIRECTED) != (
        (tested["low"] > 0) | (tested["high"] < 0)
    )
    names = [
        f"{row['detector_title']} {PHRASES[row['setting']]}"
        for row in as_rows(tested[is_apart])
    ]
    if not names:
        return ""
    return (
        f" {', '.join(names)}: the interval leads to another conclusion than the tests, which decide the outcome. It "
        "is of this row alone and goes by cases; p is adjusted for all rows."
    )


def about_tests(rate: str, n_rows: int) -> str:
    """Which tests decide the outcomes of the table, and over which family they are adjusted."""
    tests = (
        "p: exact McNemar test on the instances that only one input has right; by case: sign flips of whole cases. A "
        "gain or a loss is what both find at the 5% level"
    )
    if rate not in YES_OR_NO:
        tests = f"p: permutation test of {rate}, the two inputs swapped for whole cases, at the 5% level"
    return f"{tests}, Holm-adjusted over all rows ({words.count(n_rows)}), because which input matters is one question."


def printed_drops(
    tables: list[table_cells.StudyTable], rate: str, measured: pd.DataFrame
) -> pd.DataFrame:
    """What the paper prints of settings that were not measured here: detector_title, setting, difference."""
    known = set(
        zip(measured["detector_title"], measured["setting"], strict=True)
    )
    setting_of = {
        words.setting_short(setting): str(setting) for setting in Setting
    }
    rows = []
    for table in tables:
        of = ablation_values(table, rate).dropna(subset="printed")
        full = of[of["setting"] == REFERENCE].set_index("detector_title")[
            "printed"
        ]
        for row in as_rows(of[of["setting"] != REFERENCE]):
            who = row["detector_title"], setting_of[row["setting"]]
            if who not in known:
                rows.append(
                    (*who, row["printed"] - full[row["detector_title"]])
                )
    return pd.DataFrame(
        rows, columns=["detector_title", "setting", "difference"]
    )


def finding(
    measured: pd.DataFrame, printed: pd.DataFrame, rate: str, reference: Setting
) -> str:
    """The answer in a few sentences: how many inputs gain and lose, which they are, and what is only printed."""
    rows = as_rows(measured)
    said = f"{_against(rows, rate, reference)}. {named(rows, _name)}"
    told = f"**{said.rstrip()}**"
    if printed.empty:
        return told
    least = as_rows(printed.sort_values("difference"))[0]
    return (
        f"{told} Among the changes that are only printed, the largest is {words.points(least['difference'])} for "
        f"{least['detector_title']} {PHRASES[least['setting']]}; without its runs it has no interval."
    )


def title(measured: pd.DataFrame, rate: str, reference: Setting) -> str:
    """The page's title: who gains and loses with the one other input, or how many comparisons find what.

    measured: of `setting_drops.drop_table`; rate: within a sentence.
    """
    rows = as_rows(measured)
    inputs = {row["setting"] for row in rows}
    found = [row for row in rows if row["outcome"] in DIRECTED]
    if not rows:
        return "No detector has answered with two inputs yet"
    if len(inputs) > 1 or not found or len(found) > MOST_IN_TITLE:
        return _against(rows, rate, reference)
    said = [
        f"{row['detector_title']} {'gains' if row['outcome'] == Outcome.GAIN else 'loses'} "
        f"{words.points(abs(row['difference'])).removeprefix('+').removesuffix(' pp')} points of {rate}"
        for row in found
    ]
    others = [row["outcome"] for row in rows if row not in found]
    rest = "".join(
        f"; {name} for {words.count(n)} {'other' if n == 1 else 'others'}"
        for name, n in Counter(others).items()
    )
    return f"{words.listed(said)} {PHRASES[rows[0]['setting']]}{rest}"


def _against(
    rows: Sequence[Mapping[str, Any]], rate: str, reference: Setting
) -> str:
    decided = of_comparisons([row["outcome"] for row in rows], f" of {rate}")
    return f"Against {PHRASES[reference].removeprefix('with ')}, {decided}"


def _name(row: Mapping[str, Any]) -> str:
    where = words.points_interval(row["low"], row["high"])
    return f"{words.points(row['difference'])} for {row['detector_title']} {PHRASES[row['setting']]} ({where})"


def finding_by(table: pd.DataFrame, by: str, setting: Setting) -> str:
    """For which groups one input gains and loses; table: of `setting_drops.drops_by`."""
    rows = as_rows(table)
    decided = of_comparisons(
        [row["outcome"] for row in rows], f" by {GROUPINGS[by]}"
    )
    names = named(
        rows,
        lambda row: (
            f"{words.literal(str(row[by]))} ({words.points(row['difference'])}, {row['detector_title']})"
        ),
    )
    return f"**{words.sentence_case(PHRASES[setting])}, {decided}.** {names}".rstrip()


def base_words(reference: Setting) -> str:
    """The reference in words, for use after "against"."""
    return words.setting_words(reference).removeprefix("with ")


def drawn_drops(measured: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Measured and printed differences in the columns of the chart."""
    shown = measured.assign(is_printed=False)
    only = printed.assign(
        label=printed["setting"].map(PHRASES),
        is_printed=True,
        n=None,
        n_cases=None,
    )
    both = pd.concat(
        [shown, only.reindex(columns=shown.columns)], ignore_index=True
    )
    both["text"] = [
        words.points(row["difference"]).removesuffix(" pp")
        for row in as_rows(both)
    ]
    columns = [
        "label",
        "detector_title",
        "setting",
        "difference",
        "low",
        "high",
        "text",
        "n",
        "n_cases",
    ]
    return both[[*columns, "is_printed"]].astype(
        {"n": "Int64", "n_cases": "Int64", "is_printed": bool}
    )


def chart_rows(measured: pd.DataFrame, printed: pd.DataFrame) -> list[str]:
    """The rows of the chart from top to bottom: what is measured, then what is only printed."""
    known = set(measured["setting"].unique())
    only_printed = set(printed["setting"]) - known
    return [
        PHRASES[setting]
        for of in (known, only_printed)
        for setting in Setting
        if setting in of
    ]


def left_out_words(n: int) -> str:
    """How many local runs are left out, and why."""
    are = "run is" if n == 1 else "runs are"
    return f"{words.count(n)} own {are} left out: a larger or later one has the same detector and input."


def drop_marks(drawn: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """What a click on each measured mark of the chart of drops selects, by the words of the mark."""
    return {
        f"{row['label']}, {row['detector_title']}": {
            name: row[name] for name in ("label", "detector_title")
        }
        for row in as_rows(drawn[~drawn["is_printed"]])
    }

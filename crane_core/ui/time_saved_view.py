"""Does it save time to ask first? What alarms are worth in a day, then each detector that was timed.

The worth: precision at a share of cells that crash, and the decision curve. The page and the site have its words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from crane_core import rounding
from crane_core.charts.decision_curve import decision_curve as curve_chart
from crane_core.charts.time_saved import SHORTEST
from crane_core.charts.time_saved import time_saved as time_chart
from crane_core.domain import PAPER_GROUPS
from crane_core.pipeline.results.time_saved import (
    Account,
    TimeSaved,
    time_saved,
    times_of,
)
from crane_core.pipeline.results.worth import (
    ALL,
    BASE_RATES,
    LIBRARY,
    NONE,
    Day,
    decision_curve,
    worth,
)
from crane_core.pipeline.rows import as_rows
from crane_core.rounding import digits
from crane_core.stats.prevalence import check_all
from crane_core.ui import data, keys, url_state, words
from crane_core.ui.caption import captioned
from crane_core.ui.chart_box import draw_figure, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.rows_html import rows_html
from crane_core.ui.words import NOTHING, count, percent, setting_short

ABOUT = (
    f"Filled: predicted; hollow: missed. Dashed: a query, on average. What took less than {SHORTEST} s stands at "
    f"{SHORTEST} s.\n\n"
    "A predicted crash saves the cells before it, which would have to run again in a new kernel. Left out: the "
    "restart itself, the target cell's own time until it crashes, the look at the kernel, false alarms, and "
    "the queries about cells that do not crash. JunoBench cuts down data and training, so its cells are "
    "quicker than those that it was made from."
)
EVERY_LIBRARY = "all"
CRASH_S = {"600": "10 min", "60": "1 min", "3600": "1 h"}
LOOK_S = {"30": "30 s", "5": "5 s"}
CELLS = ("100", "30", "300")
PER_100 = 100
ABOUT_WORTH = (
    "Dotted: a look at every cell. 0: a look at no cell. Upright: the cost of a look that is chosen here. A detector "
    "is useful where it is above both; lines below the chart cost more than they prevent.\n\n"
    "Precision: the share of alarms that are real if so many cells crash; the detector's rates among crashes and among "
    "other cells are those of the benchmark, and its interval is by case. Net benefit: crashes that are prevented, "
    "less looks at false alarms in the worth of a crash (Vickers and Elkin 2006). Saved: prevented crashes less all "
    "looks and, where they were timed, queries. A tie raises no alarm."
)


@data.kept(data.answers, 16, copied=True)
def _saved(chosen: ResultChoice) -> list[TimeSaved]:
    rows = chosen.rows()
    own = rows[rows["experiment"] == chosen.experiment]
    return time_saved(
        own,
        times_of(data.store(), chosen.benchmark, chosen.experiment),
        rule=chosen.rule,
    )


def draw_time_saved(chosen: ResultChoice) -> None:
    """Both sections; a sentence where no answer was timed."""
    draw_worth(chosen)
    found = _saved(chosen)
    if not found:
        st.info(
            "No answer of this experiment was timed together with the cells before its target."
        )
        return
    st.header("Does it save time to ask first?", anchor="time")
    for one, figure in zip(found, time_figures(chosen), strict=True):
        st.markdown(finding(one))
        draw_figure(figure)


def time_figures(chosen: ResultChoice) -> list[ChartFigure]:
    """A figure per detector and input that was timed."""
    return [_figure(chosen, one) for one in _saved(chosen)]


def _figure(chosen: ResultChoice, one: TimeSaved) -> ChartFigure:
    query = float(one.by_case["seconds_of_query"].mean())
    return ChartFigure(
        f"time_saved_{one.detector}_{one.setting}",
        [finished(time_chart, one.by_case, one.detector_title, query)],
        shown=readable_time(one),
        numbers=one.by_case,
        caption=captioned(
            f"{one.detector_title} {setting_short(one.setting)}: does it save time to ask first?",
            [finding(one), ABOUT, f"n: {count(len(one.by_case))} crashes."],
            source=chosen._replace(beside=()).source,
        ),
        note=ABOUT,
    )


def finding(one: TimeSaved) -> str:
    """What is saved in total and for how many crashes, and how many other queries that pays for."""
    every, predicted = (
        next(row for row in as_rows(one.accounts) if row["account"] == account)
        for account in (Account.EVERY_CRASH, Account.PREDICTED)
    )
    pays = (
        f" A crash pays for {rounding.digits(predicted['pays_for'], 1)} queries about cells that do not crash."
        if predicted["pays_for"] > 0
        else ""
    )
    total = f"{_verb(predicted['total'])} {seconds(abs(predicted['total']))}"
    return (
        f"**{one.detector_title} {setting_short(one.setting)} {total} over "
        f"{count(predicted['n'])} crashes** ({seconds(every['total'])} if it predicted every one of them), yet only "
        f"{count(predicted['n_saving'])} of them save any: the median crash {_verb(predicted['median'])} "
        f"{seconds(abs(predicted['median']))}. On average a crash {_verb(predicted['mean'])} "
        f"{seconds(abs(predicted['mean']))} ({_interval(predicted)}).{pays}"
    )


def _interval(account: dict[str, Any]) -> str:
    """Of the mean; a single crash has none."""
    if account["low"] is None or pd.isna(account["low"]):
        return "one crash gives no interval"
    return f"95% interval {_ends(account)}"


def _ends(account: dict[str, Any]) -> str:
    return f"{seconds(account['low'])} to {seconds(account['high'])}"


def _verb(value: float) -> str:
    return "saves" if value >= 0 else "loses"


def seconds(value: float) -> str:
    """Seconds with a decimal below a hundred: "−0.6 s", "1,103 s"."""
    said = (
        f"{float(rounding.rounded(value, 0)):,.0f}"
        if abs(value) >= 100
        else rounding.digits(value, 1)
    )
    return f"{said} s".replace("-", "−")


def readable_time(one: TimeSaved) -> pd.DataFrame:
    """The table of time saved with a row per way of counting: seconds in words, intervals, counts."""
    return pd.DataFrame(
        {
            "Counted": row["account"],
            "Saved in total": seconds(row["total"]),
            "Per crash": seconds(row["mean"]),
            "95% interval": NOTHING if pd.isna(row["low"]) else _ends(row),
            "Median": seconds(row["median"]),
            "Save time": row["n_saving"],
            "Crashes": row["n"],
        }
        for row in as_rows(one.accounts)
    )


def draw_worth(chosen: ResultChoice) -> None:
    """The section: what is assumed of a day, a row per detector and input, and the curve."""
    st.header("What are its alarms worth in a day?", anchor="worth")
    rows = _own(chosen)
    groups = [group for group in PAPER_GROUPS if group in set(rows[LIBRARY])]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        day, group = _assumed(groups)
    if group != EVERY_LIBRARY:
        rows = rows[rows[LIBRARY] == group]
    found = worth(rows, day, rule=chosen.rule, query_s=_query_s(chosen))
    if found.empty:
        st.info(
            "No detector was asked about crashes and about notebooks that run."
        )
        return
    st.markdown(worth_finding(found, day))
    st.html(rows_html(readable_worth(found)))
    draw_figure(_worth_figure(chosen, rows, day, group))


def _own(chosen: ResultChoice) -> pd.DataFrame:
    rows = chosen.rows()
    return rows[rows["setting"].isin(chosen.inputs)]


def _assumed(groups: Sequence[str]) -> tuple[Day, str]:
    def one(
        label: str,
        options: Sequence[str],
        key: str,
        words: Callable[[str], object] = str,
    ) -> str:
        looks = {"format_func": words, "width": 150}
        return str(
            url_state.one_of(
                st.selectbox,
                label,
                options,
                key=key,
                default=options[0],
                **looks,
            )
        )

    rates = [f"{100 * rate:g}" for rate in BASE_RATES]
    day = Day(
        base_rate=float(
            one("Cells that crash", rates, keys.BASE_RATE, "{}%".format)
        )
        / 100,
        crash_s=float(
            one("A crash costs", list(CRASH_S), keys.CRASH_S, CRASH_S.get)
        ),
        look_s=float(
            one("A look costs", list(LOOK_S), keys.LOOK_S, LOOK_S.get)
        ),
        cells=int(one("Cells a day", CELLS, keys.CELLS)),
    )
    return day, one("Library", [EVERY_LIBRARY, *groups], keys.WORTH_OF)


def _query_s(chosen: ResultChoice) -> pd.Series[float] | None:
    times = times_of(data.store(), chosen.benchmark, chosen.experiment)
    if times.empty:
        return None
    return times.groupby(["detector", "setting"])["seconds_of_query"].mean()


def worth_figure(chosen: ResultChoice) -> ChartFigure | None:
    """The decision curve of what is assumed at first; None where nothing can be drawn."""
    rows, day = _own(chosen), Day()
    if worth(rows, day, rule=chosen.rule).empty:
        return None
    return _worth_figure(chosen, rows, day, EVERY_LIBRARY)


def _worth_figure(
    chosen: ResultChoice,
    rows: pd.DataFrame,
    day: Day,
    group: str,
) -> ChartFigure:
    """The decision curve of these rows."""
    curve = decision_curve(rows, day.base_rate, rule=chosen.rule)
    drawn = drawn_curve(curve)
    share = f"{100 * day.base_rate:g}% of cells crash"
    of_group = "" if group == EVERY_LIBRARY else f", {group}"
    return ChartFigure(
        f"decision_curve_{chosen.kind}",
        [finished(curve_chart, drawn, everywhere=ALL, threshold=day.threshold)],
        shown=_readable_curve(drawn),
        numbers=curve,
        caption=captioned(
            f"Net benefit of a look at alarms, if {share}{of_group}",
            [
                ABOUT_WORTH,
                f"n: {count(rows['instance_id'].nunique())} instances.",
            ],
            source=chosen.source,
        ),
        note=ABOUT_WORTH,
    )


def _readable_curve(drawn: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            "Input": row["setting"] or NOTHING,
            "Cost of a look": percent(row["threshold"], 0),
            "Net benefit per 100 cells": digits(row["value"], 2),
            "95% interval": NOTHING
            if row["low"] is None
            else f"{digits(row['low'], 2)} to {digits(row['high'], 2)}",
        }
        for row in as_rows(drawn)
    )


def worth_finding(found: pd.DataFrame, day: Day) -> str:
    """Which detector's alarms are worth most in such a day, in Markdown."""
    best = max(as_rows(found), key=lambda row: row["net_benefit"])
    name = f"{best['detector_title']} {words.setting_short(best['setting'])}"
    of_alarms = (
        "raises no alarm"
        if best["precision"] is None
        else f"is right in {words.percent(best['precision'])} of its alarms "
        f"({words.interval(best['low'], best['high'])})"
    )
    net, low, high, everywhere = (
        _per_100(one)
        for one in (
            best["net_benefit"],
            best["net_low"],
            best["net_high"],
            check_all(day.base_rate, day.threshold),
        )
    )
    return (
        f"**If {100 * day.base_rate:g}% of cells crash, {name} {of_alarms}**: of {words.count(day.cells)} cells "
        f"a day it raises {digits(best['alarms'], 1)} alarms, {digits(best['false_alarms'], 1)} of them false. "
        f"Its net benefit is the largest here: {net} crashes per 100 cells ({low} to {high}). A look at every cell has "
        f"{everywhere}."
    )


def readable_worth(found: pd.DataFrame) -> pd.DataFrame:
    """A row per detector and input as people read it."""
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            "Input": words.setting_short(row["setting"]),
            "Precision": words.percent(row["precision"]),
            "95% interval": words.interval(row["low"], row["high"]),
            "Alarms a day": digits(row["alarms"], 1),
            "False": digits(row["false_alarms"], 1),
            "Net benefit per 100 cells": _per_100(row["net_benefit"]),
            "95% of it": f"{_per_100(row['net_low'])} to {_per_100(row['net_high'])}",
            "Saved a day": seconds(row["saved"]),
            "A query": words.NOTHING
            if row["query_s"] is None
            else seconds(row["query_s"]),
            "Instances": row["n"],
            "Cases": row["n_cases"],
        }
        for row in as_rows(found)
    )


def _per_100(value: float) -> str:
    return digits(PER_100 * value, 2).replace("-", "−")


def drawn_curve(curve: pd.DataFrame) -> pd.DataFrame:
    """The curve of `pipeline.results.worth.decision_curve` as its chart takes it: per 100 cells, settings in signs."""
    of = ["value", "low", "high"]
    drawn = curve.assign(
        **PER_100 * curve[of],
        setting=[one and words.setting_short(one) for one in curve["setting"]],
    )
    return drawn[drawn["detector_title"] != NONE]

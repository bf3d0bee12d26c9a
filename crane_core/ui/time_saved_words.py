"""Whether it saves time to ask first, in words and as a table to read. Knows no page."""

from typing import Any

import pandas as pd

from crane_core import rounding
from crane_core.charts.time_saved import SHORTEST
from crane_core.pipeline.results.time_saved import Account, TimeSaved
from crane_core.pipeline.rows import as_rows
from crane_core.ui.words import NOTHING, count, setting_short

ABOUT = (
    f"Filled: predicted; hollow: missed. Dashed: a query, on average. What took less than {SHORTEST} s stands at "
    f"{SHORTEST} s.\n\n"
    "A predicted crash saves the cells before it, which would have to run again in a new kernel. Left out: the "
    "restart itself, the target cell's own time until it crashes, the look at the kernel, false alarms, and "
    "the queries about cells that do not crash. JunoBench cuts down data and training, so its cells are "
    "quicker than those that it was made from."
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

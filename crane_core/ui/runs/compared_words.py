"""What a comparison of runs says: who is right more often, what the tests find, and how ties count. Knows no page."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from crane_core.charts.drops import FEW_CASES
from crane_core.pipeline.results.run_comparison import GROUPS, Share
from crane_core.pipeline.rows import as_rows
from crane_core.stats.outcome import Outcome
from crane_core.ui import outcome_words, words
from crane_core.ui.breakdown_words import GROUPINGS

Row = Mapping[str, Any]
UNKNOWN, NONE = "unknown", "none"
ALL_INSTANCES = "all instances"
DRAWN = ("label", "difference", "low", "high", "n", "n_cases")
FINDS = {
    Outcome.GAIN: "a gain",
    Outcome.LOSS: "a loss",
    Outcome.NO_EVIDENCE: "no evidence of a difference",
}
"""What the tests of one comparison find."""


def headline(rows: Sequence[Row], names: Sequence[str]) -> str:
    """The answer in a sentence without a full stop.

    rows: of `RunComparison.differences`. names: of the baseline, then of the other runs in their order.
    """
    base = names[0]
    if len(names) == 1:
        return f"Choose a run to compare with {base}"
    if not rows:
        return f"Nothing to compare: no instance was answered by {base} and by another of these runs"
    if len(names) > 2:
        decided = outcome_words.who_gains(
            [row["outcome"] for row in rows], "run"
        )
        silent = len(names) - 1 - len(rows)
        rest = (
            f", {words.count(silent)} with nothing to compare" if silent else ""
        )
        return f"Against {base}, {decided}{rest}"
    return f"{_more(rows[0], base, names[1])}; {_tested(rows[0])}"


def _more(row: Row, base: str, other: str) -> str:
    n = words.count(int(row["n"]))
    n_more = int(row["gained"] - row["lost"])
    if n_more == 0:
        return f"{other} is right as often as {base} on {n} instances"
    kind = "more" if n_more > 0 else "fewer"
    return f"{other} is right on {words.count(abs(n_more))} {kind} of {n} instances than {base}"


def _tested(row: Row) -> str:
    found = FINDS.get(row["outcome"])
    if found is None:
        return str(row["outcome"])
    return (
        f"the tests find {found}, adjusted p {words.p_words(adjusted_p(row))}"
    )


def adjusted_p(row: Row) -> float | None:
    """The larger of the two adjusted p-values, which decides the outcome."""
    made = [row[name] for name in ("p_holm", "p_by_case_holm")]
    known = [p for p in made if p is not None]
    return max(known) if known else None


def ties_words(instances: pd.DataFrame) -> str:
    """That a tie counts as no crash, and how many instances that concerns."""
    is_tied = instances["crash_baseline"] == instances["safe_baseline"]
    is_tied |= instances["crash_other"] == instances["safe_other"]
    n_tied = instances.loc[is_tied, "instance_id"].nunique()
    there = f" (here on {words.count(n_tied)})" if n_tied else ""
    return f"Majority of answers, detection alone; a tie counts as no crash{there}."


def share_words(base: str, other: str) -> dict[Share, str]:
    """Each share in words."""
    return {
        Share.BOTH: "both right",
        Share.BASELINE: f"only {base}",
        Share.OTHER: f"only {other}",
        Share.NEITHER: "neither right",
    }


def list_headline(share: Share | None, n: int, base: str, other: str) -> str:
    """The instances of a share as a sentence; None: those on which one of the two is right."""
    return (
        f"On {words.quantity(n, 'instance')}, {right_words(share, base, other)}"
    )


def right_words(share: Share | None, base: str, other: str) -> str:
    """Who is right on the instances of a share."""
    return {
        None: "one of the two runs is right",
        Share.BOTH: "both runs are right",
        Share.BASELINE: f"only {base} is right",
        Share.OTHER: f"only {other} is right",
        Share.NEITHER: "neither run is right",
    }[share]


def groups_finding(groups: pd.DataFrame, names: Sequence[str]) -> str:
    """By which libraries and root causes the runs differ, in Markdown; groups: of `RunComparison`."""
    rows = as_rows(groups)
    decided = outcome_words.of_comparisons(
        [row["outcome"] for row in rows], " by library and root cause"
    )

    def name(row: Row) -> str:
        who = words.literal(names[int(row["detector"])])
        return f"{words.literal(str(row['group']))} ({words.points(row['difference'])}, {who})"

    sentence = decided[:1].upper() + decided[1:]
    return f"**{sentence}.** {outcome_words.named(rows, name)}".rstrip()


def quality_table(
    differences: Sequence[Row], runs: Sequence[Row], names: Sequence[str]
) -> pd.DataFrame:
    """Quality and cost as a table to take, a row per run, the baseline first; rows: of `RunComparison`."""
    by_place = {int(row["place"]): row for row in differences}
    costs = known_costs(runs)
    return pd.DataFrame(
        {
            "Run": names[int(run["place"])],
            "Instances": run["n"],
            "Detection accuracy": words.percent(run["value"]),
            **_difference_cells(by_place.get(int(run["place"]))),
            **{name: cost_cells(run)[name] for name in costs},
        }
        for run in runs
    )


def _difference_cells(row: Row | None) -> dict[str, str]:
    if row is None:
        return dict.fromkeys(
            ("Difference", "95% interval", "Only this run", "Only the baseline", "p (Holm)", "p by case (Holm)",
             "Outcome"), "",
        )  # fmt: skip
    return outcome_words.comparison_cells(
        row, gained="Only this run", lost="Only the baseline"
    )


def cost_cells(run: Row) -> dict[str, str]:
    """Tokens and seconds of an answer and the price of 1,000; "none" without a model."""
    asks_no_model = run["tokens"] == 0
    tokens, usd, seconds = run["tokens"], run["usd"], run["seconds"]
    return {
        "Tokens": NONE if asks_no_model else _number(tokens, 0),
        "USD per 1,000": NONE if asks_no_model else _number(usd, 2),
        "Seconds": _number(seconds, 2),
    }


def known_costs(runs: Sequence[Row]) -> list[str]:
    """The members of `cost_cells` that some run has a number for."""
    cells = [cost_cells(run) for run in runs]
    return [
        name
        for name in cells[0]
        if any(of_run[name] not in (UNKNOWN, NONE) for of_run in cells)
    ]


def _number(value: float | None, decimals: int) -> str:
    return UNKNOWN if value is None else f"{value:,.{decimals}f}"


def grouped_table(
    differences: pd.DataFrame, groups: pd.DataFrame, names: Sequence[str]
) -> pd.DataFrame:
    """Every difference as a table to take: of all instances, by library and by root cause."""
    whole_rows = [
        row | {"by": "all", "group": ALL_INSTANCES, "detector": row["place"]}
        for row in as_rows(differences)
    ]
    return pd.DataFrame(
        {
            "By": GROUPINGS.get(row["by"], row["by"]),
            "Group": row["group"],
            "Run": names[int(row["detector"])],
            "Difference": words.points(row["difference"]),
            "95% interval": words.points_interval(row["low"], row["high"]),
            "Only this run": words.whole(row["gained"]),
            "Only the baseline": words.whole(row["lost"]),
            "Adjusted p": words.p_value(row.get("p_bh", row.get("p_holm"))),
            "Adjusted p by case": words.p_value(
                row.get("p_by_case_bh", row.get("p_by_case_holm"))
            ),
            "Outcome": row["outcome"],
            "Instances": row["n"],
            "Cases": row["n_cases"],
        }
        for row in [*whole_rows, *as_rows(groups)]
    )


class DrawnGroups(NamedTuple):
    """Differences as `charts.drops` draws them: its rows from top to bottom, and those of them that are headings.

    meant: of each row with marks, the column and the group that it is about; None for all instances.
    """

    table: pd.DataFrame
    labels: list[str]
    headings: list[str]
    meant: dict[str, tuple[str, str] | None]


def drawn_groups(
    differences: pd.DataFrame, groups: pd.DataFrame, names: Sequence[str]
) -> DrawnGroups:
    """All instances first, then each way of grouping under its heading, its largest group first."""
    meant: dict[str, tuple[str, str] | None] = {ALL_INSTANCES: None}
    labels, headings = [ALL_INSTANCES], []
    label_of: dict[tuple[str, str], str] = {}
    for by in GROUPS:
        of = groups[groups["by"] == by]
        if of.empty:
            continue
        headings.append(f"by {GROUPINGS[by]}")
        labels.append(headings[-1])
        sizes = of.groupby("group")["n"].agg(["min", "max"])
        for group in sizes.sort_values("max", ascending=False).index:
            label = words.with_n(group, *sizes.loc[group])
            # A library and a root cause may have one name, such as "other".
            label = f"{label}, {GROUPINGS[by]}" if label in meant else label
            labels.append(label)
            label_of[by, group] = label
            meant[label] = by, group
    rows = [
        row | {"label": ALL_INSTANCES, "detector": row["place"]}
        for row in as_rows(differences)
    ]
    rows += [
        row | {"label": label_of[row["by"], row["group"]]}
        for row in as_rows(groups)
    ]
    drawn = [
        {name: row[name] for name in DRAWN}
        # An interval over one or two cases spans the axis and hides the others; the table has it.
        | ({"low": None, "high": None} if row["n_cases"] <= FEW_CASES else {})
        | {
            "detector_title": names[int(row["detector"])],
            "text": words.points(row["difference"]).removesuffix(" pp"),
            "setting": "",
            "is_printed": False,
        }
        for row in rows
    ]
    return DrawnGroups(pd.DataFrame(drawn), labels, headings, meant)

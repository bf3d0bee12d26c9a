"""Whether detectors do better together, in words and as the chart takes it. Knows no page."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from crane_core.charts.theme import in_order
from crane_core.domain import Setting
from crane_core.pipeline.results.combinations import Member, Way, members_of
from crane_core.pipeline.results.measures import PairedTest
from crane_core.pipeline.rows import as_rows
from crane_core.stats.outcome import DIRECTED, Outcome
from crane_core.ui.caption import p_sentence, sampled
from crane_core.ui.outcome_words import named, of_comparisons, who_gains
from crane_core.ui.words import (
    NOTHING,
    count,
    interval,
    p_value,
    p_words,
    percent,
    points,
    points_interval,
    sentence_case,
    setting_short,
    whole,
    with_n,
)

SHOWN = [
    "Detectors",
    "Accuracy",
    "95% interval",
    "Precision",
    "Recall",
    "Others asked",
    "Difference",
    "p (Holm)",
]
"""Columns on the page; the others are in the downloads, and the caption has the counts."""
AXIS = "change of accuracy"
ABOUT_RULES = (
    "Detection only, against the best single member; {sampled} Each row: {rules} first; where they find no certain "
    "crash, the detector of the row decides. Filled: a gain or a loss after Holm. Lines: 95% intervals by case, "
    "unadjusted.\n\nA gain or a loss is what the exact McNemar test and sign flips of whole cases both find, "
    "Holm-adjusted over the {n} rows. The rules were measured on these states while they were written, so elsewhere "
    "they may find less; they were not fitted to any model."
)
ABOUT_CHOSEN = (
    "Detection only, against the best single member, over the {n} instances ({cases} cases) that every member answered"
    "{left_out}. Filled: a gain or a loss after Holm. Lines: 95% intervals by case, unadjusted. Majority: more than "
    "half of the members.\n\nThe best member is found on the same instances, which favours it. p: exact McNemar test, "
    "and sign flips of whole cases, Holm-adjusted over the ways shown."
)
OF_TWO = " A cascade of two predicts what any of them does, and asks the second only where the first is silent."


def member_names(frame: pd.DataFrame) -> dict[Member, str]:
    """The members of a verdict frame by name: "GPT-5 +RT"."""
    named = frame.drop_duplicates("detector")
    titles = dict(zip(named["detector"], named["detector_title"], strict=True))
    return {
        member: f"{titles[member.detector]} {setting_short(member.setting)}"
        for member in members_of(frame)
    }


def named_rules_first(
    table: pd.DataFrame, names: dict[Member, str]
) -> pd.DataFrame:
    """Rows of `combinations.with_rules` in the order of the page; name: who decides where the rules are silent."""
    rows = sorted(as_rows(table), key=lambda row: _place(row, names))
    return pd.DataFrame(rows).assign(
        name=[_asked_words(row["members"][1:], names) for row in rows]
    )


def named_ways(table: pd.DataFrame, names: dict[Member, str]) -> pd.DataFrame:
    """Rows of `combinations.combine` with name: the member alone, or the way."""
    return table.assign(name=[_label(row, names) for row in as_rows(table)])


def finding(table: pd.DataFrame, names: dict[Member, str]) -> str:
    """What our rules change: how many rows gain and lose, and which; their numbers are in the chart and the table."""
    rows = as_rows(table)
    decided = who_gains([row["outcome"] for row in rows], "combination")
    is_of_two = all(len(row["members"]) == 2 for row in rows)
    best = "the better of the two" if is_of_two else "the best member"
    named_rows = named(
        rows, lambda row: _asked_words(row["members"][1:], names)
    )
    return f"**Asking the rules first: {decided}**, against {best} alone. {named_rows}".rstrip()


def title(table: pd.DataFrame) -> str:
    """How many models our rules make better, and how many worse, when they come first."""
    decided = who_gains(table["outcome"].tolist(), "combination")
    return f"Asking the rules first, by detection alone: {decided}"


def changed_by_rules(
    table: pd.DataFrame, names: dict[Member, str]
) -> pd.DataFrame:
    """The gains and losses of `finding` as a table for readers: accuracy alone and after the rules, and the change."""
    rows = [row for row in as_rows(table) if row["outcome"] in DIRECTED]
    rules = names[table["members"].iloc[0][0]]
    return pd.DataFrame(
        {
            f"After {rules}": _asked_words(row["members"][1:], names),
            "Best alone": percent(row["alone"]),
            "Rules first": percent(row["accuracy"]),
            "Change": points(row["difference"]),
            "95% interval": points_interval(row["low"], row["high"]),
            "p (Holm)": p_value(row["p_holm"]),
            "Model asked": n_asked_words(row),
        }
        for row in rows
    )


def finding_of_chosen(ways: pd.DataFrame, names: dict[Member, str]) -> str:
    """The best of the ways against the best single member, and how many ways are gains and losses."""
    rows = as_rows(ways)
    row = max(rows, key=lambda row: float(row["accuracy"]))
    value, alone = (
        percent(row["accuracy"]),
        percent(row["accuracy"] - row["difference"]),
    )
    change = f"{points(row['difference'])}, {points_interval(row['low'], row['high'])}, p {p_words(row['p_holm'])}"
    name, best = str(row["way"]).capitalize(), names[row["best"]]
    decided = (
        f"{sentence_case(of_comparisons([row['outcome'] for row in rows]))}."
    )
    if row["outcome"] == Outcome.GAIN:
        first = (
            f"**{name} is right more often than {best}, the best single member**: "
            f"{value} against {alone} ({change})."
        )
    elif row["difference"] > 0:
        first = f"{name} is right {value} of the time, {best} alone {alone} ({change}): {row['outcome']}."
    else:
        first = f"No way of combining them is right more often than {best} alone ({alone}); "
        first += f"the best is {row['way']}, {value}."
    return f"{first} {decided}"


def _asked_words(members: Sequence[Member], names: dict[Member, str]) -> str:
    """Who answers where the rules are silent."""
    if len(members) == 1:
        return names[members[0]]
    return (
        f"Majority of {len(members)} models {setting_short(members[0].setting)}"
    )


def _place(
    row: dict[str, Any], names: dict[Member, str]
) -> tuple[int, int, bool]:
    """Single models in the study's order, each with code only first; majorities last."""
    others = row["members"][1:]
    titles = in_order([name.rpartition(" ")[0] for name in names.values()])
    return (
        len(others),
        titles.index(names[others[0]].rpartition(" ")[0]),
        others[0].setting != Setting.CODE,
    )


def _label(row: dict[str, Any], names: dict[Member, str]) -> str:
    if row["way"] is None:
        return names[row["members"][0]]
    words = {
        Way.ANY: "Any of them",
        Way.MAJORITY: "Majority",
        Way.CASCADE: "Cascade",
    }
    return words[Way(row["way"])]


def drawn_together(
    table: pd.DataFrame, names: dict[Member, str]
) -> pd.DataFrame:
    """What the chart of combinations draws: a label (with n where rows differ in it), the change and its interval."""
    rows = as_rows(table)
    is_one_n = table["n"].nunique() == 1
    return pd.DataFrame(
        {
            "label": row["name"]
            if is_one_n
            else with_n(row["name"], row["n"], row["n"]),
            "difference": row["difference"],
            "low": row["low"],
            "high": row["high"],
            "holds": row["outcome"] in DIRECTED,
            "best": names[row["best"]],
            "value": row["accuracy"],
            "best_value": row["accuracy"] - row["difference"],
            "n": row["n"],
            "n_cases": row["n_cases"],
            "text": points(row["difference"]).removesuffix(" pp"),
        }
        for row in rows
    )


def adjusted_tests(table: pd.DataFrame) -> str:
    """The tests of the rows with their adjusted p-values, for a caption; table: with the names that the chart shows."""
    return p_sentence(
        table.assign(detector_title=table["name"], test=PairedTest.MCNEMAR)
    )


def readable_together(
    table: pd.DataFrame, names: dict[Member, str]
) -> pd.DataFrame:
    """The table of combinations for readers: detectors, rates in percent with intervals, the comparison."""
    return pd.DataFrame(
        {
            "Detectors": row["name"],
            "Accuracy": percent(row["accuracy"]),
            "95% interval": interval(row["accuracy_low"], row["accuracy_high"]),
            "Precision": percent(row["precision"]),
            "Recall": percent(row["recall"]),
            "Best member": NOTHING
            if row["best"] is None
            else names[row["best"]],
            "Difference": points(row["difference"]),
            "95% of difference": points_interval(row["low"], row["high"]),
            "Gained": whole(row["gained"]),
            "Lost": whole(row["lost"]),
            "p (Holm)": p_value(row["p_holm"]),
            "Outcome": row["outcome"] or NOTHING,
            "p by case (Holm)": p_value(row["p_by_case_holm"]),
            "Others asked": n_asked_words(row),
            "Instances": row["n"],
            "Cases": row["n_cases"],
        }
        for row in as_rows(table)
    )


def n_asked_words(row: dict[str, Any]) -> str:
    """About how many instances the members after the first answer."""
    return (
        NOTHING
        if row["way"] != Way.CASCADE
        else f"{count(int(row['n_asked']))} of {count(row['n'])}"
    )


def about_rules(table: pd.DataFrame, names: dict[Member, str]) -> str:
    """What the rows of `combinations.with_rules` count, and when one of them is a gain or a loss."""
    rules = names[table["members"].iloc[0][0]]
    return ABOUT_RULES.format(rules=rules, n=len(table), sampled=sampled(table))


def about_chosen(ways: pd.DataFrame) -> str:
    """A sentence on what the chosen combination is computed from; ways: the rows of `combine`."""
    first = as_rows(ways)[0]
    n_left = int(first["left_out"])
    left_out = (
        f"; {count(n_left)} that one of them did not answer are left out"
        if n_left
        else ""
    )
    about = ABOUT_CHOSEN.format(
        n=count(first["n"]), cases=count(first["n_cases"]), left_out=left_out
    )
    return about + (OF_TWO if len(first["members"]) == 2 else "")

"""Do detectors do better together? Our rules before each model, and any combination that the visitor chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.charts.theme import in_order
from crane_core.charts.together import together
from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.beside import beside
from crane_core.pipeline.combinations import (
    Member,
    Way,
    combine,
    holds_up,
    members_of,
    rules_in,
    usual_members,
    with_rules,
)
from crane_core.pipeline.measures import Credit, VoteRule
from crane_core.pipeline.rows import as_rows
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from crane_core.ui import data, keys
from crane_core.ui.chart_box import draw_chart, finished
from crane_core.ui.result_switches import Chosen
from crane_core.ui.url_state import many_of
from crane_core.ui.words import (
    NOTHING,
    count,
    interval,
    p_value,
    percent,
    points,
    points_interval,
    setting_short,
    whole,
    with_n,
)

SHOWN = ["Detectors", "Accuracy", "95% interval", "Precision", "Recall", "Others asked", "Instances", "Cases"]
"""Columns that stand on the page; those of the tests are with the downloads."""
AXIS = "change of accuracy"
MEMBERS_HELP = """Each predicts once, by the majority of its runs, or by all of them where that is chosen above. The
first one leads the cascade: where it predicts a crash, that stands; elsewhere, the majority of the others decides."""
ABOUT_RULES = (
    "Detection only, against the best single member. Each row: {rules} first; where they find no certain crash, the "
    "detector of the row decides. Filled: better by the exact McNemar test and by sign flips of whole cases, both "
    "Holm-adjusted over the {n} rows. Lines: 95% intervals by case. The rules were measured on these states while "
    "they were written, so elsewhere they may find less; they were not fitted to any model."
)
ABOUT_CHOSEN = (
    "Detection only, against the best single member, over the {n} instances ({cases} cases) that every member answered"
    "{left_out}. Majority: more than half of the members. The best member is found on the same instances, which "
    "favours it. p: exact McNemar test, and sign flips of whole cases, Holm-adjusted over the ways shown."
)
OF_TWO = " A cascade of two predicts what any of them does, and asks the second only where the first is silent."


@st.cache_data(max_entries=16, show_spinner=False)
def _with_rules(loaded: str, where: Chosen) -> pd.DataFrame:
    frame = _frame(where)
    rules = rules_in(frame)
    return pd.DataFrame() if rules is None else with_rules(frame, rules, rule=where.rule)


@st.cache_data(max_entries=32, show_spinner=False)
def _combined(loaded: str, where: Chosen, members: tuple[Member, ...]) -> pd.DataFrame:
    return combine(_frame(where), members, rule=where.rule)


def _frame(chosen: Chosen) -> pd.DataFrame:
    """All detectors of the experiment, of whatever kind, and those beside it."""
    verdicts = data.verdicts()
    return beside(verdicts[verdicts["benchmark"] == chosen.benchmark], chosen.experiment, chosen.beside)


@st.cache_data(max_entries=16, show_spinner=False)
def _known(loaded: str, where: Chosen) -> tuple[dict[Member, str], list[Member]]:
    """The members by name, and those that stand there before anybody chose."""
    frame = _frame(where)
    titles = dict(zip(frame["detector"], frame["detector_title"], strict=True))
    names = {member: f"{titles[member.detector]} {setting_short(member.setting)}" for member in members_of(frame)}
    return names, usual_members(frame)


def _where(chosen: Chosen) -> Chosen:
    """The switches as far as combinations heed them, so that the others leave what is kept of them alone."""
    rule = chosen.rule if chosen.rule is VoteRule.ALL else VoteRule.MAJORITY
    alike = chosen._replace(kind=DetectorKind.LLM, credit=Credit.DETECTION, annotator=PUBLISHED_HUMAN)
    return alike._replace(rule=rule)


def rules_first(chosen: Chosen) -> pd.DataFrame:
    """The rules before each model; see `combinations.with_rules`. Empty without rules or models."""
    return _with_rules(data.answers(), _where(chosen))


def names_of(chosen: Chosen) -> dict[Member, str]:
    """The members of these switches by name: "GPT 5 +RT"."""
    return _known(data.answers(), _where(chosen))[0]


def draw_together(chosen: Chosen) -> None:
    """The section; nothing where fewer than two members answered."""
    names = names_of(chosen)
    if len(names) < 2:
        return
    st.subheader("Do detectors do better together?", anchor="together")
    if len(table := rules_first(chosen)):
        _draw_rules_first(table, names)
    _draw_chosen(chosen, names)


def _draw_rules_first(table: pd.DataFrame, names: dict[Member, str]) -> None:
    rules = names[table["members"].iloc[0][0]]
    st.markdown(finding(table, names))
    rows = sorted(as_rows(table), key=lambda row: _place(row, names))
    drawn = pd.DataFrame(rows).assign(name=[_asked(row["members"][1:], names) for row in rows])
    draw_chart(
        finished(together, _drawn(drawn, names), axis=AXIS),
        _readable(drawn, names),
        numbers=_numbers(drawn, names),
        name="rules_first",
        note=ABOUT_RULES.format(rules=rules, n=len(drawn)),
    )


def _draw_chosen(chosen: Chosen, names: dict[Member, str]) -> None:
    ids = {f"{member.detector}@{member.setting}": member for member in names}
    picked = many_of(
        "Combine",
        list(ids),
        key=keys.MEMBERS,
        default=[f"{member.detector}@{member.setting}" for member in _known(data.answers(), _where(chosen))[1]],
        format_func=lambda name: names[ids[name]],
        placeholder="two or more, the first leads the cascade",
        help=MEMBERS_HELP,
    )
    table = _combined(data.answers(), _where(chosen), tuple(ids[name] for name in picked))
    if table.empty:
        st.caption("Choose two or more that answered the same instances.")
        return
    ways = table[table["way"].notna()]
    st.markdown(finding_of_chosen(ways, names))
    named = table.assign(name=[_label(row, names) for row in as_rows(table)])
    about = _about(ways)
    draw_chart(
        finished(together, _drawn(named[named["way"].notna()], names), axis=AXIS),
        _readable(named, names),
        numbers=_numbers(named, names),
        name="together",
        note=about,
    )
    st.dataframe(_readable(named, names)[SHOWN], hide_index=True)


def finding(table: pd.DataFrame, names: dict[Member, str]) -> str:
    """What our rules add, in a sentence: where it holds up, and that it does not elsewhere."""
    rows = as_rows(table)
    held = [row for row in rows if holds_up(row)]
    rules = names[rows[0]["members"][0]]
    if not held:
        return f"No evidence that {rules} before another detector is better than the better of the two alone."
    parts = [
        f"**{_asked(row['members'][1:], names)}** from {percent(row['alone'])} to {percent(row['accuracy'])} "
        f"({points(row['difference'])} against the best member, {points_interval(row['low'], row['high'])}, "
        f"p {_p(row['p_holm'])})"
        for row in held
    ]
    n_other = len(rows) - len(held)
    none = f"Of the other {n_other}, none is" if n_other > 1 else "The other one is not"
    other = f" {none} better than its best member beyond chance." if n_other else ""
    return (
        f"Asked first, {rules} raise the accuracy of {' and '.join(parts)}, and the model is asked about "
        f"{count(int(held[0]['n_asked']))} of {count(held[0]['n'])} instances.{other}"
    )


def finding_of_chosen(ways: pd.DataFrame, names: dict[Member, str]) -> str:
    """The best of the ways against the best single member, in a sentence."""
    row = max(as_rows(ways), key=lambda row: float(row["accuracy"]))
    value, alone = percent(row["accuracy"]), percent(row["accuracy"] - row["difference"])
    change = f"{points(row['difference'])}, {points_interval(row['low'], row['high'])}, p {_p(row['p_holm'])}"
    name, best = str(row["way"]).capitalize(), names[row["best"]]
    if holds_up(row):
        return (
            f"**{name} is right more often than {best}, the best single member**: {value} against {alone} ({change})."
        )
    if row["difference"] > 0:
        return (
            f"{name} is right {value} of the time, {best} alone {alone} ({change}): no evidence of a real difference."
        )
    return (
        f"No way of combining them is right more often than {best} alone ({alone}); the best is {row['way']}, {value}."
    )


def _p(p: float) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def _asked(members: Sequence[Member], names: dict[Member, str]) -> str:
    """Who is asked where the rules are silent."""
    if len(members) == 1:
        return names[members[0]]
    return f"Majority of {len(members)} models {setting_short(members[0].setting)}"


def _place(row: dict[str, Any], names: dict[Member, str]) -> tuple[int, int, bool]:
    """Single models in the study's order, each with code only first; majorities last."""
    others = row["members"][1:]
    titles = in_order([name.rpartition(" ")[0] for name in names.values()])
    return len(others), titles.index(names[others[0]].rpartition(" ")[0]), others[0].setting != Setting.CODE


def _label(row: dict[str, Any], names: dict[Member, str]) -> str:
    if row["way"] is None:
        return names[row["members"][0]]
    words = {Way.ANY: "Any of them", Way.MAJORITY: "Majority", Way.CASCADE: "Cascade"}
    return words[Way(row["way"])]


def _drawn(table: pd.DataFrame, names: dict[Member, str]) -> pd.DataFrame:
    rows = as_rows(table)
    return pd.DataFrame(
        {
            "label": with_n(row["name"], row["n"], row["n"]),
            "difference": row["difference"],
            "low": row["low"],
            "high": row["high"],
            "holds": holds_up(row),
            "best": names[row["best"]],
            "value": row["accuracy"],
            "best_value": row["accuracy"] - row["difference"],
            "n": row["n"],
            "n_cases": row["n_cases"],
            "text": points(row["difference"]),
        }
        for row in rows
    )


def _readable(table: pd.DataFrame, names: dict[Member, str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Detectors": row["name"],
            "Accuracy": percent(row["accuracy"]),
            "95% interval": interval(row["accuracy_low"], row["accuracy_high"]),
            "Precision": percent(row["precision"]),
            "Recall": percent(row["recall"]),
            "Best member": NOTHING if row["best"] is None else names[row["best"]],
            "Difference": points(row["difference"]),
            "95% of difference": points_interval(row["low"], row["high"]),
            "Gained": whole(row["gained"]),
            "Lost": whole(row["lost"]),
            "p (Holm)": p_value(row["p_holm"]),
            "p by case (Holm)": p_value(row["p_by_case_holm"]),
            "Others asked": _asked_words(row),
            "Instances": row["n"],
            "Cases": row["n_cases"],
        }
        for row in as_rows(table)
    )


def _numbers(table: pd.DataFrame, names: dict[Member, str]) -> pd.DataFrame:
    """The same unrounded, with the members in words."""
    best = [NOTHING if row["best"] is None else names[row["best"]] for row in as_rows(table)]
    members = ["; ".join(names[member] for member in members) for members in table["members"]]
    return table.assign(members=members, best=best)


def _asked_words(row: dict[str, Any]) -> str:
    """About how many instances the members after the first are asked."""
    return NOTHING if row["way"] != Way.CASCADE else f"{count(int(row['n_asked']))} of {count(row['n'])}"


def _about(ways: pd.DataFrame) -> str:
    first = as_rows(ways)[0]
    n_left = int(first["left_out"])
    left_out = f"; {count(n_left)} that one of them did not answer are left out" if n_left else ""
    about = ABOUT_CHOSEN.format(n=count(first["n"]), cases=count(first["n_cases"]), left_out=left_out)
    return about + (OF_TWO if len(first["members"]) == 2 else "")

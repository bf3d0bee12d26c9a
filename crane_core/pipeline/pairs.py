"""Cases with the detectors' results: the list that people filter before they open a pair."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

import numpy as np
import pandas as pd

from crane_core.domain import Label
from crane_core.pipeline.beside import OWN
from crane_core.pipeline.measures import WITH_STATE, Inputs
from crane_core.stats import vote


class Pattern(StrEnum):
    """What makes a pair worth a look (ux: browsing pairs)."""

    DIFFER = "models disagree"
    FLIP = "unstable"
    WRONG_REASON = "right call, wrong reason"
    CHANGED = "one input right, the other wrong"
    HELPED = "RT helped"
    HURT = "RT hurt"
    MISSED = "missed by all"
    ALARM = "false alarm"


PATTERN_MEANING = {
    Pattern.DIFFER: "with the same input, one detector says crash and another does not",
    Pattern.FLIP: "the runs of one detector disagree with each other",
    Pattern.WRONG_REASON: "the crash is detected and the human label of the diagnosis is partial or wrong",
    Pattern.CHANGED: "a detector is right with one of the inputs compared and not with the other",
    Pattern.HELPED: "a detector is right with runtime state (the first of the inputs compared) and not without",
    Pattern.HURT: "a detector is right without runtime state (the second of the inputs compared) and not with it",
    Pattern.MISSED: "no detector predicts the crash, whatever its input",
    Pattern.ALARM: "a detector predicts a crash of the fixed notebook",
}
COUNTS = ("n_found", "n_alarms")
DETECTABLE = [str(Label.PARTIAL), str(Label.WRONG)]


def voted(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The verdict frame with `said` (crash, safe, tie or no answer) and `right` (None without a verdict)."""
    result = vote.majority(verdicts["n_crash"].to_numpy(), verdicts["n_safe"].to_numpy())
    said = np.select([result.crash, result.safe, result.tie], ["crash", "safe", "tie"], "no answer")
    right = (said == "crash") == verdicts["truth"].to_numpy()
    clear = np.isin(said, ["crash", "safe"])
    return verdicts.assign(said=said, right=pd.Series(right, verdicts.index, dtype=object).where(clear, None))


def pair_table(
    cases: pd.DataFrame, verdicts: pd.DataFrame, *, inputs: Inputs = WITH_STATE, jobs: Collection[str] = ()
) -> pd.DataFrame:
    """`cases` with n_asked, n_found (crash predicted), n_alarms (crash predicted of the fixed one) and patterns.

    `verdicts` is the slice of the verdict frame to look at: one benchmark, and whatever detectors and settings. n_asked
    counts detector x setting; `patterns` is a tuple of Pattern, and `patterns_in` says of each in which experiments, as
    a tuple of pairs. HELPED, HURT and CHANGED compare the two `inputs`. Every pattern is of one experiment, but for
    MISSED, which is of all of them; own `jobs`, of which each has one setting, are one experiment, OWN.
    """
    rows = voted(verdicts)
    rows = rows.assign(series=rows["experiment"].where(~rows["experiment"].isin(list(jobs)), OWN))
    crashing = rows[rows["truth"]]
    fixed = rows[~rows["truth"]]
    asked = crashing.groupby("case_id").size()
    found = (crashing["said"] == "crash").groupby(crashing["case_id"]).sum()
    alarms = (fixed["said"] == "crash").groupby(fixed["case_id"]).sum()
    counts = pd.DataFrame({"n_asked": asked, "n_found": found, "n_alarms": alarms}).fillna(0).astype(int)
    table = cases.join(counts, on="case_id").fillna({"n_asked": 0, "n_found": 0, "n_alarms": 0})
    table = table.astype({"n_asked": int, "n_found": int, "n_alarms": int})
    missed = set(table.loc[(table["n_asked"] > 0) & (table["n_found"] == 0), "case_id"])
    members = {str(name): _members(of, missed, inputs) for name, of in rows.groupby("series", sort=True)}
    patterns = _patterns_by_case(members)
    within = [patterns.get(case, ()) for case in table["case_id"]]
    return table.assign(
        patterns=pd.Series([tuple(pattern for pattern, _ in of) for of in within], table.index, dtype=object),
        patterns_in=pd.Series(within, table.index, dtype=object),
    )


def _patterns_by_case(
    members: dict[str, dict[Pattern, set[str]]],
) -> dict[str, tuple[tuple[Pattern, tuple[str, ...]], ...]]:
    """Case to its patterns, in their order, each with the experiments in which the case shows it."""
    found: dict[str, dict[Pattern, tuple[str, ...]]] = {}
    for pattern in Pattern:
        for name, of in members.items():
            for case_id in of[pattern]:
                of_case = found.setdefault(case_id, {})
                of_case[pattern] = (*of_case.get(pattern, ()), name)
    return {case_id: tuple(of_case.items()) for case_id, of_case in found.items()}


def _members(rows: pd.DataFrame, missed: set[str], inputs: Inputs) -> dict[Pattern, set[str]]:
    """The cases of each pattern in one experiment; missed: those that no detector of any experiment found."""
    clear = rows.loc[rows["said"].isin(["crash", "safe"]), ["setting", "detector", "instance_id", "case_id", "right"]]
    by_input = clear.drop_duplicates(["setting", "instance_id", "right"])
    flips = rows[(rows["n_crash"] > 0) & (rows["n_safe"] > 0)]
    reasons = rows[(rows["said"] == "crash") & rows["truth"] & rows["human"].isin(DETECTABLE)]
    helped, hurt = _changed_by_input(clear, inputs)
    return {
        Pattern.DIFFER: _cases(by_input[by_input.duplicated(["setting", "instance_id"])]),
        Pattern.FLIP: _cases(flips),
        Pattern.WRONG_REASON: _cases(reasons),
        Pattern.CHANGED: helped | hurt,
        Pattern.HELPED: helped,
        Pattern.HURT: hurt,
        Pattern.MISSED: missed & _cases(rows[rows["truth"]]),
        Pattern.ALARM: _cases(rows[(rows["said"] == "crash") & ~rows["truth"]]),
    }


def _cases(rows: pd.DataFrame) -> set[str]:
    return set(rows["case_id"].unique())


def _changed_by_input(clear: pd.DataFrame, inputs: Inputs) -> tuple[set[str], set[str]]:
    both = clear[clear["setting"].isin(inputs)]
    asked = both.groupby(["detector", "instance_id"], sort=False).ngroup().to_numpy()
    right = both["right"].to_numpy(dtype=float)
    shares = []
    for setting in inputs:
        here = (both["setting"] == setting).to_numpy()
        n = np.bincount(asked[here], minlength=asked.max(initial=-1) + 1)
        n_right = np.bincount(asked[here], weights=right[here], minlength=len(n))
        shares.append(np.divide(n_right, n, out=np.full(len(n), np.nan), where=n > 0))
    base, other = shares
    gain = (other - base)[asked]
    return _cases(both[gain > 0]), _cases(both[gain < 0])


def keep(
    table: pd.DataFrame,
    *,
    find: str = "",
    holding: Collection[str] = (),
    pattern: str | None = None,
    **wanted: list[str],
) -> pd.DataFrame:
    """Rows whose columns hold one of the wanted values (no value: no restriction), with the pattern and the text.

    holding: the cases that hold the text elsewhere, such as in their code.
    """
    for column, values in wanted.items():
        if values:
            table = table[table[column].isin(values)]
    if pattern:
        table = table[table["patterns"].map(lambda patterns: pattern in patterns).astype(bool)]
    if find.strip():
        text = table[["case_id", "library", "root_cause", "exception", "crash_type", "stage"]].astype(str)
        hit = text.apply(lambda column: column.str.contains(find.strip(), case=False, regex=False)).any(axis=1)
        table = table[hit | table["case_id"].isin(list(holding))]
    return table


def cases_answered(verdicts: pd.DataFrame, column: str) -> dict[str, int]:
    """Value of a column of the verdict frame to how many cases have an answer with it."""
    return {str(value): int(n) for value, n in verdicts.groupby(column)["case_id"].nunique().items()}


def hardest_first(cases: pd.DataFrame) -> pd.DataFrame:
    """The pair table by library, and within it the cases first that fewest predict and most raise false alarms on."""
    table = natural_order(cases)
    library = table["library"].fillna("").str.lower()
    order = table.assign(library=library, share=table["n_found"] / table["n_asked"].where(table["n_asked"] > 0))
    return table.loc[
        order.sort_values(["library", "share", "n_alarms"], ascending=[True, True, False], kind="stable").index
    ]


def sorted_by(cases: pd.DataFrame, column: str, *, descending: bool) -> pd.DataFrame:
    """The pair table by a column, cases without a value last; equal ones in natural order."""
    table = natural_order(cases)
    if column == "case_id":
        return table[::-1] if descending else table
    values = table[column].where(table["n_asked"] > 0) if column in COUNTS else table[column].str.lower()
    return table.loc[values.sort_values(ascending=not descending, kind="stable", na_position="last").index]


def natural_order(cases: pd.DataFrame) -> pd.DataFrame:
    """Cases by library, then by the number in their id: pandas_2 before pandas_10."""
    parts = cases["case_id"].str.extract(r"^(?P<stem>.*?)_?(?P<number>\d+)?$")
    order = parts.assign(number=pd.to_numeric(parts["number"]).fillna(0), stem=parts["stem"].str.lower())
    return cases.loc[order.sort_values(["stem", "number"], kind="stable").index]

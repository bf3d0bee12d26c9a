"""Cases with the detectors' results: the list that people filter before they open a pair."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum
from functools import lru_cache
from string import digits
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.domain import Label
from crane_core.pipeline.loading.editions import rank
from crane_core.pipeline.results.beside import OWN
from crane_core.pipeline.results.measures import WITH_STATE, Inputs
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
    Pattern.MISSED: "no detector that is counted predicts the crash, whatever its input",
    Pattern.ALARM: "a detector predicts a crash of the fixed notebook",
}
COUNTED = (
    "case_id", "experiment", "setting", "detector", "instance_id", "truth", "n_crash", "n_safe", "human",
)  # fmt: skip
"""The columns of the verdict frame behind the pair table."""
COUNTS = ("n_found", "n_alarms")
DETECTABLE = [str(Label.PARTIAL), str(Label.WRONG)]


def voted(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The verdict frame with `said` (crash, safe, tie or no answer) and `right` (None without a verdict)."""
    result = vote.majority(
        verdicts["n_crash"].to_numpy(), verdicts["n_safe"].to_numpy()
    )
    said = np.select(
        [result.crash, result.safe, result.tie],
        ["crash", "safe", "tie"],
        "no answer",
    )
    right = (said == "crash") == verdicts["truth"].to_numpy()
    # A tie and a missing answer are neither right nor wrong.
    clear = np.isin(said, ["crash", "safe"])
    return verdicts.assign(
        said=said,
        right=pd.Series(right, verdicts.index, dtype=object).where(clear, None),
    )


def pair_table(
    cases: pd.DataFrame,
    verdicts: pd.DataFrame,
    *,
    inputs: Inputs = WITH_STATE,
    jobs: Collection[str] = (),
) -> pd.DataFrame:
    """`cases` with n_asked, n_found (crash predicted), n_alarms (crash predicted of the fixed one) and patterns.

    `verdicts` is the slice of the verdict frame to look at: one benchmark, and whatever detectors and settings. n_asked
    counts detector x setting; `patterns` is a tuple of Pattern, and `patterns_in` says of each in which experiments, as
    a tuple of pairs. HELPED, HURT and CHANGED compare the two `inputs`. Every pattern is of one experiment, but for
    MISSED, which is of all of them; own `jobs`, of which each has one setting, are one experiment, OWN.
    """
    rows = _Rows.of(verdicts, jobs)
    counts = [
        rows.n_of_case(of)
        for of in (
            rows.truth,
            rows.truth & rows.crash,
            ~rows.truth & rows.crash,
        )
    ]
    found = _by_case(rows, inputs, missed=(counts[0] > 0) & (counts[1] == 0))
    place = pd.Index(rows.cases).get_indexer(pd.Index(cases["case_id"]))
    within = [found[index] if index >= 0 else () for index in place]
    shown = {of: tuple(pattern for pattern, _ in of) for of in set(within)}
    n_of = dict(
        zip(
            ("n_asked", *COUNTS),
            (np.append(n, 0)[place] for n in counts),
            strict=True,
        )
    )  # place -1: the 0
    return cases.assign(
        **n_of,
        patterns=pd.Series(
            [shown[of] for of in within], cases.index, dtype=object
        ),
        patterns_in=pd.Series(within, cases.index, dtype=object),
    )


Numbers = NDArray[np.intp]
Flags = NDArray[np.bool_]
Within = tuple[tuple[Pattern, tuple[str, ...]], ...]
"""The patterns of a case in their order, each with the experiments in which the case shows it."""


class _Rows(NamedTuple):
    """Verdicts as numbers, shape (n,), which are compared and counted faster than names.

    case, series, setting, detector, instance: the place of each row's name among the different ones; `cases` and
    `names` are those of cases and of series. crash and safe: the majority; human: a label that is partial or wrong.
    """

    case: Numbers
    cases: NDArray[np.object_]
    series: Numbers
    names: list[str]
    setting: Numbers
    settings: list[str]
    detector: Numbers
    instance: Numbers
    truth: Flags
    crash: Flags
    safe: Flags
    differs: Flags
    human: Flags

    @classmethod
    def of(cls, verdicts: pd.DataFrame, jobs: Collection[str]) -> _Rows:
        """The rows of the verdict frame as arrays; jobs: the names of local runs, which are grouped as one series."""
        vote_of = vote.majority(
            verdicts["n_crash"].to_numpy(), verdicts["n_safe"].to_numpy()
        )
        case, cases = pd.factorize(verdicts["case_id"])
        experiment, experiments = pd.factorize(verdicts["experiment"])
        own = set(jobs)
        series_of = [OWN if name in own else str(name) for name in experiments]
        names = sorted(set(series_of))
        setting, settings = pd.factorize(verdicts["setting"])
        return cls(
            case=case,
            cases=np.asarray(cases, dtype=object),
            series=np.array(
                [names.index(name) for name in series_of], dtype=np.intp
            )[experiment],
            names=names,
            setting=setting,
            settings=[str(name) for name in settings],
            detector=pd.factorize(verdicts["detector"])[0],
            instance=pd.factorize(verdicts["instance_id"])[0],
            truth=verdicts["truth"].to_numpy(dtype=bool),
            crash=vote_of.crash,
            safe=vote_of.safe,
            differs=(verdicts["n_crash"].to_numpy() > 0)
            & (verdicts["n_safe"].to_numpy() > 0),
            human=verdicts["human"].isin(DETECTABLE).to_numpy(),
        )

    def n_of_case(self, of: Flags) -> Numbers:
        """How many of these rows each case has, shape (n_cases,)."""
        return np.bincount(self.case[of], minlength=len(self.cases))

    def shown_in(self, of: Flags) -> Flags:
        """Whether a case has one of these rows in a series, shape (n_series, n_cases)."""
        place = self.series[of] * len(self.cases) + self.case[of]
        counted = np.bincount(
            place, minlength=len(self.names) * len(self.cases)
        )
        return (counted > 0).reshape(len(self.names), len(self.cases))

    def alike(self, *columns: Numbers) -> Numbers:
        """A number for each row's combination of series, instance and these columns."""
        number = (
            self.series * (self.instance.max(initial=0) + 1) + self.instance
        )
        for column in columns:
            number = number * (column.max(initial=0) + 1) + column
        # Numbered again, because `bincount` needs room up to the greatest number and most combinations do not
        # occur.
        return np.asarray(pd.factorize(number)[0], dtype=np.intp)


def _by_case(rows: _Rows, inputs: Inputs, *, missed: Flags) -> list[Within]:
    """The patterns of each case in the order of `rows.cases`; missed: cases that no detector of any series found."""
    right = rows.crash == rows.truth
    clear = rows.crash | rows.safe
    same_input = rows.alike(rows.setting)
    # A tie takes no side: to disagree, one must be right and another wrong.
    disagreed = _has(same_input, clear & right) & _has(
        same_input, clear & ~right
    )
    helped, hurt = (
        rows.shown_in(of)
        for of in _changed_by_input(rows, clear, right, inputs)
    )
    members = {
        Pattern.DIFFER: rows.shown_in(clear & disagreed),
        Pattern.FLIP: rows.shown_in(rows.differs),
        Pattern.WRONG_REASON: rows.shown_in(
            rows.crash & rows.truth & rows.human
        ),
        Pattern.CHANGED: helped | hurt,
        Pattern.HELPED: helped,
        Pattern.HURT: hurt,
        Pattern.MISSED: rows.shown_in(rows.truth) & missed,
        Pattern.ALARM: rows.shown_in(rows.crash & ~rows.truth),
    }
    shown = np.stack([members[pattern] for pattern in Pattern]).transpose(
        2, 0, 1
    )  # case, pattern, series
    known: dict[bytes, Within] = {}  # of ten thousand cases, a few dozen differ
    for of_case in shown:
        if (key := of_case.tobytes()) not in known:
            known[key] = _named(of_case, rows.names)
    return [known[of_case.tobytes()] for of_case in shown]


def _named(shown: Flags, names: list[str]) -> Within:
    """shown: shape (n_patterns, n_series)."""
    of_pattern = (
        (pattern, np.flatnonzero(flags))
        for pattern, flags in zip(Pattern, shown, strict=True)
    )
    return tuple(
        (pattern, tuple(names[place] for place in places))
        for pattern, places in of_pattern
        if len(places)
    )


def _has(number: Numbers, of: Flags) -> Flags:
    """Whether any row of the same number is one of these, shape (n,)."""
    found: Flags = (
        (np.bincount(number, of) > 0)[number]
        if len(number)
        else np.zeros(0, dtype=bool)
    )
    return found


def _changed_by_input(
    rows: _Rows, clear: Flags, right: Flags, inputs: Inputs
) -> tuple[Flags, Flags]:
    """Rows of a detector that is right about the instance more often with the other input, and less often."""
    asked = rows.alike(rows.detector)
    of_input = [clear & _is_setting(rows, setting) for setting in inputs]
    shares = []
    for here in of_input:
        n = np.bincount(asked, here)
        # Shares, because own runs are one series, in which a detector may have answered several times.
        # Without a clear answer the share is nan, which is neither more nor less than another.
        shares.append(
            np.divide(
                np.bincount(asked, here & right),
                n,
                out=np.full(len(n), np.nan),
                where=n > 0,
            )
        )
    base, other = shares
    gain, both = (other - base)[asked], of_input[0] | of_input[1]
    return both & (gain > 0), both & (gain < 0)


def _is_setting(rows: _Rows, setting: str) -> Flags:
    is_there: Flags = rows.setting == (
        rows.settings.index(setting) if setting in rows.settings else -1
    )
    return is_there


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
        table = table[
            table["patterns"]
            .map(lambda patterns: pattern in patterns)
            .astype(bool)
        ]
    if find.strip():
        text = (
            table[
                [
                    "case_id",
                    "library",
                    "root_cause",
                    "exception",
                    "crash_type",
                    "stage",
                ]
            ]
            .astype(object)
            .fillna("")
            .astype(str)
        )
        # What people type is text: a bracket in it must not become a faulty pattern.
        hit = text.apply(
            lambda column: column.str.contains(
                find.strip(), case=False, regex=False
            )
        ).any(axis=1)
        table = table[hit | table["case_id"].isin(list(holding))]
    return table


def cases_answered(verdicts: pd.DataFrame, column: str) -> dict[str, int]:
    """Value of a column of the verdict frame to how many cases have an answer with it."""
    value, names = pd.factorize(verdicts[column])
    case, cases = pd.factorize(verdicts["case_id"])
    answered = np.zeros((len(names), len(cases)), dtype=bool)
    answered[value, case] = True
    return {
        str(name): int(n)
        for name, n in zip(names, answered.sum(axis=1), strict=True)
    }


def hardest_first(cases: pd.DataFrame) -> pd.DataFrame:
    """The pair table by library, and within it the cases first that fewest predict and most raise false alarms on."""
    table = natural_order(cases)
    library = table["library"].astype(object).fillna("").astype(str).str.lower()
    # A case about which no detector was questioned has no share and comes last.
    order = table.assign(
        library=library,
        share=table["n_found"] / table["n_asked"].where(table["n_asked"] > 0),
    )
    return table.loc[
        order.sort_values(
            ["library", "share", "n_alarms"],
            ascending=[True, True, False],
            kind="stable",
        ).index
    ]


def sorted_by(
    cases: pd.DataFrame, column: str, *, descending: bool
) -> pd.DataFrame:
    """The pair table by a column, cases without a value last; equal ones in natural order."""
    table = natural_order(cases)
    if column == "case_id":
        return table[::-1] if descending else table
    values = (
        table[column].where(table["n_asked"] > 0)
        if column in COUNTS
        else table[column].str.lower()
    )
    return table.loc[
        values.sort_values(
            ascending=not descending, kind="stable", na_position="last"
        ).index
    ]


def natural_order(cases: pd.DataFrame) -> pd.DataFrame:
    """Cases by library, then by the number in their id: pandas_2 before pandas_10."""
    keys = [_natural(str(name)) for name in cases["case_id"]]
    return cases.iloc[sorted(range(len(keys)), key=keys.__getitem__)]


@lru_cache(maxsize=65_536)
def _natural(case_id: str) -> tuple[str, int]:
    stem = case_id.rstrip(digits)
    return stem.removesuffix("_").lower(), int(case_id[len(stem) :] or 0)


ORIGIN_ORDER = ("notebook", "crane-llm-2025-10", "crane-llm-2026")


def best_origin(origins: Iterable[str]) -> str:
    """The preferred origin among these, of which there is at least one."""
    return min(origins, key=lambda origin: rank(origin, ORIGIN_ORDER))

"""One exported statistic: a flat row with its subject, its value, and its method.

Knows the form, and what rows need of the answers. Each result makes its own rows; `export.all_statistics` lists them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import pandas as pd

from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results import measures, outcomes
from crane_core.stats.resampling import CONFIDENCE
from crane_core.storage.store import Store

BOTH_INPUTS = "runtime against code"
"""The comparison of the study, as `inputs_text` writes it."""
RATE_INTERVAL = "Wilson's score interval, effective sample size by case"
DIFFERENCE_INTERVAL = (
    "linearised by case, with one imaginary case, Student's quantile"
)
HOLM, BENJAMINI_HOCHBERG = "Holm", "Benjamini-Hochberg"
ADJUSTED = {HOLM: outcomes.BY_HOLM, BENJAMINI_HOCHBERG: outcomes.BY_BH}
"""The columns of the adjusted p-values: of the main test, and of the one by case."""


class ExportedStatistic(NamedTuple):
    """A value with all that a reader needs to judge it; None if a member says nothing about it.

    page and section: where the app shows it. statistic: its name. benchmark to judged_by: what it is of; `input` is a
    setting, or two (`inputs_text`); `group` one value of the column `by`; runs and credit are the policy. unit: that of
    value, low and high (share: 0..1). level: of the interval, which interval_method made. p is that of `test`,
    p_adjusted of the same by `adjustment` over the tests of `family`. outcome: of the comparison (`stats.outcome`),
    which the largest p_adjusted of its rows decides; each of them repeats it, but for the kind "choices", where each
    test has its own. bound: the smallest effect of interest, and p_smaller the p-value, adjusted likewise, of the two
    one-sided tests that the difference is smaller. seed: of whatever was drawn for it. stated: what is printed or
    claimed. note: what else must be known, such as why there is no value.
    """

    page: str
    section: str
    statistic: str
    benchmark: str | None = None
    experiment: str | None = None
    detector: str | None = None
    input: str | None = None
    by: str | None = None
    group: str | None = None
    runs: str | None = None
    credit: str | None = None
    judged_by: str | None = None
    value: float | None = None
    unit: str | None = None
    n: int | None = None
    n_cases: int | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    interval_method: str | None = None
    test: str | None = None
    p: float | None = None
    p_adjusted: float | None = None
    adjustment: str | None = None
    family: str | None = None
    outcome: str | None = None
    bound: float | None = None
    p_smaller: float | None = None
    seed: int | None = None
    stated: str | None = None
    note: str | None = None

    def measured(
        self,
        value: Any,
        low: Any = None,
        high: Any = None,
        *,
        unit: str,
        method: str = "",
        **others: Any,
    ) -> ExportedStatistic:
        """The same with a value and, where both ends are known, its 95% interval; nan is None from here on."""
        found = {name: known(one) for name, one in others.items()}
        least, most = known(low), known(high)
        # Half an interval would be read as a whole one.
        if least is not None and most is not None:
            found |= {
                "low": float(least),
                "high": float(most),
                "level": CONFIDENCE,
                "interval_method": method,
            }
        number = known(value)
        return self._replace(
            value=None if number is None else float(number), unit=unit, **found
        )

    def measured_row(
        self,
        row: Mapping[str, Any],
        key: str = "value",
        *,
        unit: str,
        method: str,
    ) -> ExportedStatistic:
        """The same with the value under `key` of a row and its interval; n and n_cases where the row has them."""
        counts = {name: row[name] for name in ("n", "n_cases") if name in row}
        return self.measured(
            row[key],
            row["low"],
            row["high"],
            unit=unit,
            method=method,
            **counts,
        )

    def rated(
        self, row: Mapping[str, Any], key: str = "value"
    ) -> ExportedStatistic:
        """The same with the rate of a row."""
        return self.measured_row(row, key, unit="share", method=RATE_INTERVAL)

    def compared(self, row: Mapping[str, Any]) -> ExportedStatistic:
        """The same with the difference of two rates of a row, and its outcome."""
        found = self.measured_row(
            row,
            "difference",
            unit="difference of shares",
            method=DIFFERENCE_INTERVAL,
        )
        return found._replace(
            outcome=row.get("outcome"),
            bound=known(row.get("bound")),
            p_smaller=known(row.get("p_smaller")),
        )

    def tested(
        self, row: Mapping[str, Any], adjustment: str, family: str
    ) -> Iterator[ExportedStatistic]:
        """The same once per test of a difference, with its p-values; once without any where nothing was tested.

        McNemar's test takes instances as independent, so a second one by case is added; other tests are by case.
        """
        if row["test"] is None:
            yield self
            return
        of = self._replace(adjustment=adjustment, family=family)
        main, by_case = ADJUSTED[adjustment]
        is_mcnemar = row["test"] == measures.PairedTest.MCNEMAR
        yield of._replace(
            test=row["test"],
            p=row["p_value"],
            p_adjusted=row[main],
            seed=None if is_mcnemar else measures.SEED,
        )
        if is_mcnemar:
            yield of._replace(
                test=str(measures.PairedTest.SIGN_FLIP),
                p=row["p_by_case"],
                p_adjusted=row[by_case],
                seed=measures.SEED,
            )

    def discordant(self, row: Mapping[str, Any]) -> Iterator[ExportedStatistic]:
        """How many instances only one of both has right, where an instance is right or wrong."""
        for name in ("gained", "lost"):
            if row[name] is not None:
                yield self._replace(statistic=name).measured(
                    row[name], unit="instances"
                )


def rate_word(rate: str) -> str:
    """A rate's name within a sentence: F1 keeps its capital."""
    return rate if rate == "F1" else rate.lower()


def inputs_text(inputs: measures.Inputs) -> str:
    """A comparison as the column `input` holds it."""
    return f"{inputs.other} against {inputs.base}"


def known(value: Any) -> Any:
    """The value as a plain one; None if it is nan or missing."""
    if (
        value is None
        or value is pd.NA
        or (isinstance(value, float) and math.isnan(value))
    ):
        return None
    # A numpy number would be written as such by repr, and not at all by json.
    return value.item() if hasattr(value, "item") else value


class Judging(NamedTuple):
    """Answers of one kind of detector in one experiment, and whose labels judge them.

    rows: of the verdict frame, judged. credits: those that these labels allow. is_main: whether Results begins with
    these labels.
    """

    benchmark: str
    experiment: str
    kind: str
    judge: str
    rows: pd.DataFrame
    credits: tuple[measures.Credit, ...]
    is_main: bool

    @property
    def usual_credit(self) -> measures.Credit:
        """What Results counts at first: correct diagnoses where there are labels."""
        return (
            measures.Credit.STRICT
            if measures.Credit.STRICT in self.credits
            else measures.Credit.DETECTION
        )

    def policies(self) -> Iterator[tuple[measures.VoteRule, measures.Credit]]:
        """Every way of counting; detection alone needs no label, so it is computed for the main annotator only."""
        return (
            (rule, credit)
            for rule in measures.VoteRule
            for credit in self.credits
        )

    def head(
        self,
        page: str,
        section: str,
        rule: measures.VoteRule | None,
        credit: measures.Credit | None,
    ) -> ExportedStatistic:
        """The common fields of every statistic of these answers under this policy."""
        return ExportedStatistic(
            page,
            section,
            "",
            benchmark=self.benchmark,
            experiment=self.experiment,
            runs=rule and str(rule),
            credit=credit and str(credit),
            judged_by=self.judge
            if credit not in (None, measures.Credit.DETECTION)
            else None,
        )


class JudgedAnswers(Protocol):
    """What rows are made from. Labels come from rooms above this one; `judging.material.Material` joins both."""

    @property
    def store(self) -> Store:
        """The open database."""

    @property
    def folder(self) -> DataFolder:
        """Where plans and campaigns lie."""

    @property
    def verdicts(self) -> pd.DataFrame:
        """The verdict frame of everything that is loaded."""

    @property
    def judgings(self) -> list[Judging]:
        """Every experiment and kind of detector, with each annotator who can judge it."""

    def judged_by(self, judge: str) -> pd.DataFrame:
        """The verdicts as this annotator judged them."""

"""Changes of rates between two inputs, and differences of such changes, from the answers or from printed cells.

Knows which rows a claim is over; the rates, weights and intervals live in stats and `measures`. Everything is over the
majority vote of the published study, as its tables are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.domain import Label, Setting
from crane_core.pipeline.claims.verdicts import ClaimEstimate
from crane_core.pipeline.results.measures import Credit, VoteRule, scored
from crane_core.pipeline.study.measured_tables import complete_rows
from crane_core.pipeline.study.printed_counts import printed_counts
from crane_core.pipeline.study.table_cells import PERCENT
from crane_core.pipeline.study.table_scores import BENCHMARK
from crane_core.stats import intervals, rates

SCORES = {"end-to-end": Credit.STRICT, "detection": Credit.DETECTION}
FALSE_POSITIVE_RATE = "False positive rate"
FLAWED = "Flawed diagnoses"
"""Share of the diagnosed crashes whose diagnosis people called partial or wrong (paper, table 3, as a share)."""
DIAGNOSED = (Label.CORRECT, Label.PARTIAL, Label.WRONG)


@dataclass(frozen=True, slots=True)
class DetectorRate:
    """A rate of one detector in one setting; `where` maps a column of the verdict frame to its allowed values."""

    name: str
    score: str
    detector: str
    setting: Setting
    where: Mapping[str, tuple[str, ...]]


class Term(NamedTuple):
    """A rate and what it is multiplied by."""

    weight: Fraction
    rate: DetectorRate


class Conditions:
    """The rows of each detector and setting on the published benchmark and their rates, each looked up once.

    verdicts: `pipeline.results.evaluate`'s frame. numbers: the printed cells, fields of PublishedNumber.
    """

    def __init__(self, verdicts: pd.DataFrame, numbers: pd.DataFrame) -> None:
        self.benchmark = verdicts[verdicts["benchmark"] == BENCHMARK]
        self._instances = self.benchmark.drop_duplicates("instance_id")
        # Looked for among the rows of one detector: a comparison of all names takes most of the time.
        by_detector = self.benchmark.groupby("detector", observed=True)
        self._of_detector = dict(iter(by_detector))
        self._numbers = numbers
        self.rows = cache(self._rows)
        self.ratio = cache(self._ratio)
        self.counts = cache(self._counts)
        self.case = cache(self._case)
        self.is_in = cache(self._is_in)
        self.cells = cache(lambda measure: measure(verdicts))
        """The cells of a table of the paper by its function, which several claims read."""

    def _rows(self, detector: str, setting: str) -> pd.DataFrame | None:
        """By instance, in one order; see `measured_tables.complete_rows`."""
        mine = self._of_detector.get(detector)
        if mine is None:
            return None
        rows = complete_rows(mine, detector, setting, len(self._instances))
        return None if rows is None else rows.sort_values("instance_id")

    def _case(self, detector: str, setting: str) -> NDArray[np.intp]:
        """The number of each row's case: an integer is found again faster than a name."""
        rows = self.rows(detector, setting)
        if rows is None:
            return np.zeros(0, dtype=np.intp)
        return pd.factorize(rows["case_id"])[0]

    def _is_in(
        self, detector: str, setting: str, column: str, allowed: tuple[str, ...]
    ) -> NDArray[np.bool_]:
        """Which rows have one of these values in a column."""
        rows = self.rows(detector, setting)
        if rows is None:
            return np.zeros(0, dtype=bool)
        return rows[column].isin(allowed).to_numpy()

    def _ratio(
        self,
        name: str,
        score: str,
        detector: str,
        setting: str,
    ) -> rates.Ratio | None:
        """Each instance's share in a rate; None if the answers or outcomes are not loaded for every instance."""
        rows = self.rows(detector, setting)
        if rows is None:
            return None
        if name == FLAWED:
            return _flawed(rows)
        parts = scored(rows, VoteRule.MAJORITY, SCORES[score]).parts
        # A rate over a part of the benchmark is another quantity than the printed one.
        if parts is None or np.sum(parts.left_out):
            return None
        return _rate(name, parts)

    def _counts(
        self, detector: str, setting: Setting
    ) -> rates.Confusion | None:
        """The counts that printed cells name, detection alone; see `printed_counts`."""
        crashes = self._instances["truth"].to_numpy(dtype=bool)
        mine = self._of_detector.get(detector)
        title = "" if mine is None else str(mine["detector_title"].iloc[0])
        found = printed_counts(
            self._numbers,
            title,
            setting,
            n_crashing=int(crashes.sum()),
            n_fixed=int((~crashes).sum()),
        )
        if found is None:
            return None
        return rates.Confusion(
            found.tp,
            found.fp,
            found.tn,
            found.fn,
            0,
        )


class MissingAnswersError(Exception):
    """A rate that neither loaded answers nor printed cells give."""


def contrast(
    conditions: Conditions,
    name: str,
    terms: Sequence[Term],
) -> ClaimEstimate:
    """The weighted sum of rates in percentage points, exact, with its interval where all answers are loaded.

    Raises MissingAnswersError.
    """
    value = Fraction()
    ratios = []
    for term in terms:
        ratio = _of_group(conditions, term.rate)
        if ratio is None:
            value += term.weight * _printed(conditions, term.rate)
        else:
            value += term.weight * _shared(ratio)
            ratios.append(ratio)
    # Printed cells have no cases to resample, so there is no interval.
    if len(ratios) < len(terms):
        return ClaimEstimate(name, PERCENT * value)
    first = terms[0].rate
    found = intervals.clustered_contrast(
        weights=[float(term.weight) for term in terms],
        parts=[ratio.part for ratio in ratios],
        wholes=[ratio.whole for ratio in ratios],
        cluster=conditions.case(first.detector, first.setting),
    )
    return ClaimEstimate(
        name,
        PERCENT * value,
        PERCENT * found.low,
        PERCENT * found.high,
    )


def _of_group(conditions: Conditions, rate: DetectorRate) -> rates.Ratio | None:
    """The rate with every instance outside of the group at 0; None if it is not known or of nothing."""
    ratio = conditions.ratio(
        rate.name,
        rate.score,
        rate.detector,
        rate.setting,
    )
    if ratio is None:
        return None
    # Every instance stays, with weight 0 outside of the group: both terms of a contrast have the same cases.
    chosen = np.ones(np.shape(ratio.whole))
    for column, allowed in rate.where.items():
        chosen *= conditions.is_in(
            rate.detector, rate.setting, column, tuple(allowed)
        )
    mine = rates.Ratio(ratio.part * chosen, ratio.whole * chosen)
    return mine if np.sum(mine.whole) else None


def _shared(ratio: rates.Ratio) -> Fraction:
    """The exact rate: under the majority vote and strict credit all parts are integers."""
    return Fraction(
        round(float(np.sum(ratio.part))), round(float(np.sum(ratio.whole)))
    )


def _rate(name: str, counts: rates.Confusion) -> rates.Ratio:
    if name == FALSE_POSITIVE_RATE:
        return rates.Ratio(counts.fp, counts.fp + counts.tn)
    return rates.RATES[name](counts)


def _flawed(rows: pd.DataFrame) -> rates.Ratio:
    """By the outcomes of people, whatever the vote says, as table 3 counts."""
    is_crash = rows["truth"].to_numpy(dtype=bool)
    is_diagnosed = is_crash & rows["human"].isin(DIAGNOSED).to_numpy()
    is_flawed = is_diagnosed & (rows["human"] != Label.CORRECT).to_numpy()
    return rates.Ratio(
        is_flawed.astype(np.float64), is_diagnosed.astype(np.float64)
    )


def _printed(conditions: Conditions, rate: DetectorRate) -> Fraction:
    """The exact rate by the printed cells, which are of detection alone and of all instances."""
    is_printed = (
        rate.score == "detection" and not rate.where and rate.name != FLAWED
    )
    counts = (
        conditions.counts(rate.detector, rate.setting) if is_printed else None
    )
    if counts is None:
        raise MissingAnswersError
    return _shared(_rate(rate.name, counts))

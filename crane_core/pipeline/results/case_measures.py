"""The main comparison of Results from counts per case: the database counts, so runs by the million cost no row here.

The same numbers as `measures.paired_rows`, `gain_table` and `rate_table` give of the verdict frame, for labels that
count for themselves alone. For rates that are a yes or no per instance; see `measures.YES_OR_NO`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from crane_core.pipeline.results import measures
from crane_core.stats import intervals, paired, sign_flip
from crane_core.stats.rates import DIAGNOSIS_CREDIT
from crane_core.storage import case_counts as stored
from crane_core.storage.store import Store

BY = ["detector_title", "setting"]
LABELS = ("labelled", "asks")
"""Prefixes of the columns behind n_labelled and n_to_label."""


class Compared(NamedTuple):
    """The comparison of the detectors with both inputs, and the rates behind it, over the same rows.

    rates: of runs beside the study too, which may be of one input only. n_unpaired: how many instances of a detector
    have no outcome with one of its inputs; they are left out.
    """

    comparison: pd.DataFrame
    rates: pd.DataFrame
    n_unpaired: dict[str, int]


def compared_by_case(
    store: Store,
    benchmark: str,
    shown: pd.DataFrame,
    *,
    rule: measures.VoteRule,
    credit: measures.Credit,
    rate: str = "Accuracy",
    inputs: measures.Inputs = measures.WITH_STATE,
) -> Compared:
    """What two inputs of the shown detectors change.

    shown: one row per experiment, asked (the detector as stored) and setting, with detector and detector_title as they
    are shown, and is_beside (shown even with one input only).
    """
    credits = (
        None
        if credit is measures.Credit.DETECTION
        else DIAGNOSIS_CREDIT | {"partial": measures.PARTIAL_CREDIT[credit]}
    )
    question = stored.CountQuestion(
        benchmark,
        str(inputs.base),
        str(inputs.other),
        str(rule),
        credits,
        only_crashing=rate == "Recall",
    )
    series = (
        shown.drop(columns="detector")
        .rename(columns={"asked": "detector"})
        .assign(series=shown["detector"])
    )
    counted = stored.case_counts(store.cursor(), question, series)
    about = shown.drop_duplicates("detector").set_index("detector")
    beside = set(shown.loc[shown["is_beside"], "detector"])
    test = measures.test_of(rule=rule, credit=credit, rate=rate)
    gains, rates, n_unpaired = [], [], {}
    for detector in about.index[about.index.isin(counted["series"])]:
        cases = _each_case(counted[counted["series"] == detector])
        title = str(about.at[detector, "detector_title"])
        is_paired = bool(cases["is_paired"].all())
        if n := int((cases["n_asked"] - cases["n_kept"]).sum()):
            n_unpaired[title] = n
        if is_paired and cases["n_kept"].any():
            named = {
                "detector": detector,
                "detector_title": title,
                "test": test and str(test),
            }
            gains.append(named | _gain(cases, test))
        # A detector of the study with one input only has nothing to compare; a run beside it is shown all the
        # same.
        elif is_paired or detector not in beside:
            continue
        rates += [
            {"detector_title": title} | row
            for row in _rates(cases, inputs, credit)
        ]
    return Compared(
        measures.adjusted(pd.DataFrame(gains)),
        pd.DataFrame(rates, columns=[*BY, *measures.RATE_COLUMNS]),
        n_unpaired,
    )


def _each_case(counts: pd.DataFrame) -> pd.DataFrame:
    """A row per case, of a frame with a row for every different one."""
    # The database joins cases that are alike; tests by case need each of them.
    return counts.loc[np.repeat(counts.index, counts["n_cases"])]


def _gain(
    cases: pd.DataFrame, test: measures.PairedTest | None
) -> dict[str, float]:
    base, other, n = cases["right_base"], cases["right_other"], cases["n_kept"]
    estimate = intervals.difference_of_cases(base, other, n)
    total = n.sum()
    return {
        "n": estimate.n,
        "n_cases": estimate.n_clusters,
        **dict(
            zip(
                measures.COMPARED,
                (base.sum() / total, other.sum() / total, *estimate[:3]),
                strict=True,
            )
        ),
        **_tested(cases, test),
    }


def _tested(
    cases: pd.DataFrame, test: measures.PairedTest | None
) -> dict[str, float]:
    nothing = dict.fromkeys(measures.TESTED, float("nan"))
    if test is None:
        return nothing
    by_case = sign_flip.sign_flip(
        cases["right_other"] - cases["right_base"],
        np.arange(len(cases)),
        seed=measures.SEED,
    )
    if test is measures.PairedTest.SIGN_FLIP:
        return nothing | {"p_value": by_case, "p_by_case": by_case}
    gained, lost = int(cases["only_other"].sum()), int(cases["only_base"].sum())
    return dict(
        zip(
            measures.TESTED,
            (gained, lost, paired.mcnemar(lost, gained), by_case),
            strict=True,
        )
    )


def _rates(
    cases: pd.DataFrame,
    inputs: measures.Inputs,
    credit: measures.Credit,
) -> Iterator[dict[str, object]]:
    for side, setting in zip(("base", "other"), inputs, strict=True):
        n = cases[f"n_{side}"]
        n_asked = int(cases[f"asked_{side}"].sum())
        if not n_asked:
            continue
        estimate = intervals.rate_of_cases(cases[f"right_{side}"], n)
        labels = [
            0
            if credit is measures.Credit.DETECTION
            else int(cases[f"{name}_{side}"].sum())
            for name in LABELS
        ]
        found = (
            estimate.n,
            estimate.n_clusters,
            float(cases[f"right_{side}"].sum()),
            float(n.sum()),
            *estimate[:3],
        )
        row = (str(setting), *found, n_asked - estimate.n, *labels)
        yield dict(zip(("setting", *measures.RATE_COLUMNS), row, strict=True))

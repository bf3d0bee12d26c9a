"""How sure the answers of a run are, and whether that comes true: from raw replies to tidy frames.

Knows the answers of one run. An answer counts if it has a confidence of the kind that is read and the outcome of its
instance is known; every other answer is counted with the reason.
"""

from collections import Counter
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pandas as pd

from crane_core.pipeline.results.measures import estimate_row
from crane_core.prompts.confidence import StatedConfidence, read_confidence
from crane_core.stats import calibration
from crane_core.stats.intervals import RateEstimate, clustered_rate
from crane_core.storage.answers import RunKey, replies_to_read
from crane_core.storage.store import Store

NO_OUTCOME = "the outcome of the instance is not known"
NO_CHANCE = "the endpoint told no probability of its tokens"


class ConfidenceKind(StrEnum):
    """Where a confidence comes from: the model states it, or the endpoint tells how likely the tokens were."""

    STATED = "stated"
    TOKENS = "tokens"


class RunConfidence(NamedTuple):
    """What the confidences of one kind come to in a run; shares in 0..1, 95% intervals by case.

    n_answers: readable answers of the run. left_out: those that do not count, by reason. stated: the mean confidence.
    right: how often the counted answers are right. brier: their Brier score. bins: columns x (the mean confidence of a
    bin) and `measures.ESTIMATED` (how often right). risks: columns threshold (percent), coverage and ESTIMATED (how
    often wrong).
    """

    kind: ConfidenceKind
    n_answers: int
    left_out: Counter[str]
    stated: float
    right: RateEstimate
    brier: RateEstimate
    bins: pd.DataFrame
    risks: pd.DataFrame


def run_confidence(
    store: Store, run: RunKey, kind: ConfidenceKind = ConfidenceKind.STATED
) -> RunConfidence:
    """The confidences of a run; nan and empty frames where not one of its answers counts."""
    counted, left_out = _read(store, run, kind)
    columns = counted["probability"], counted["is_right"], counted["case_id"]
    bins = [
        {"x": point.stated} | estimate_row(point.right)
        for point in calibration.reliability_points(*columns)
    ]
    risks = [
        {"threshold": 100 * point.threshold, "coverage": point.coverage}
        | estimate_row(point.risk)
        for point in calibration.risk_coverage_points(*columns)
    ]
    each = np.ones(len(counted))
    return RunConfidence(
        kind=kind,
        n_answers=len(counted) + left_out.total(),
        left_out=left_out,
        stated=float(counted["probability"].mean()),
        right=clustered_rate(counted["is_right"], each, counted["case_id"]),
        brier=calibration.brier_score(*columns),
        bins=pd.DataFrame(bins),
        risks=pd.DataFrame(risks),
    )


def _read(
    store: Store, run: RunKey, kind: ConfidenceKind
) -> tuple[pd.DataFrame, Counter[str]]:
    answers = replies_to_read(store.cursor(), run)
    if kind is ConfidenceKind.TOKENS:
        frame = answers.assign(probability=answers["chance"], trouble=NO_CHANCE)
    else:
        read = [
            read_confidence(text, reason)
            for text, reason in zip(
                answers["text"], answers["finish_reason"], strict=True
            )
        ]
        stated = pd.DataFrame(read, columns=StatedConfidence._fields)
        frame = answers.join(stated)
    has_number = frame["probability"].notna()
    has_outcome = frame["truth"].notna()
    left_out = Counter(frame.loc[~has_number, "trouble"].tolist())
    if n_unknown := int((has_number & ~has_outcome).sum()):
        left_out[NO_OUTCOME] = n_unknown
    counted = frame[has_number & has_outcome]
    is_right = counted["crashes"].astype(bool) == counted["truth"].astype(bool)
    return counted.assign(
        probability=counted["probability"].astype(float),
        is_right=is_right.astype(float),
    ), left_out

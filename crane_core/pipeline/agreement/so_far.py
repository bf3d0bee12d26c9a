"""The current agreement of a campaign's annotators: one coefficient over all items, no details while it is blind."""

from typing import NamedTuple

import numpy as np

from crane_core.annotation.plan import Plan
from crane_core.pipeline.agreement.agreement import MIN_COMMON_WHEN_BLIND
from crane_core.pipeline.campaigns.campaigns import journal_of, labels_of
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.measures import SEED
from crane_core.stats.agreement import AgreementEstimate, estimate
from crane_core.stats.cohen_kappa import NOMINAL
from crane_core.stats.krippendorff_alpha import NOMINAL as ALPHA_NOMINAL
from crane_core.stats.krippendorff_alpha import ORDINAL


class SoFar(NamedTuple):
    """`n_common` items have labels of two annotators or more. `found` is None if so few may not be shown."""

    coefficient: str
    n_common: int
    found: AgreementEstimate | None


def agreement_so_far(
    folder: DataFolder,
    plan: Plan,
    *,
    locked: bool,
) -> SoFar:
    """Cohen's kappa of two annotators, of more Krippendorff's alpha (ordinal if the labels are), with its interval.

    Hidden repeats do not count. In a blind campaign that is not locked, fewer than MIN_COMMON_WHEN_BLIND common items
    would reveal single labels, and have no value here.
    """
    alpha = ORDINAL if plan.labels.is_ordinal else ALPHA_NOMINAL
    statistic = NOMINAL if len(plan.annotators) == 2 else alpha
    journals = {
        annotator: journal_of(folder, plan, annotator)
        for annotator in plan.annotators
    }
    said = [labels_of(journals, item.item) for item in plan.items]
    n_common = sum(len(labels) > 1 for labels in said)
    hidden = plan.blind and not locked and n_common < MIN_COMMON_WHEN_BLIND
    if hidden or n_common == 0:
        return SoFar(statistic.name, n_common, None)
    rows = np.array(
        [[labels.get(name) for name in plan.annotators] for labels in said],
        dtype=object,
    )
    cases = [
        f"{item.verdict.benchmark}/{item.verdict.case_id}"
        for item in plan.items
    ]
    return SoFar(
        statistic.name,
        n_common,
        estimate(
            statistic,
            rows,
            plan.labels.codes,
            cases,
            seed=SEED,
        ),
    )

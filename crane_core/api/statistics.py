"""The study's statistics for your arrays: votes, rates, intervals, paired tests, agreement, sample sizes.

Each docstring states shapes, units and source. A coefficient takes labels of shape (items, annotators) and their scale:
`COHEN_KAPPA(labels, scale)`; `agreement_interval(COHEN_KAPPA, labels, scale, cluster, seed=1)` adds an interval.
"""

from crane_core.stats.agreement import bootstrap as agreement_interval
from crane_core.stats.cohen_kappa import LINEAR as COHEN_KAPPA_LINEAR
from crane_core.stats.cohen_kappa import NOMINAL as COHEN_KAPPA
from crane_core.stats.fleiss_kappa import FLEISS as FLEISS_KAPPA
from crane_core.stats.gwet_ac import AC1 as GWET_AC1
from crane_core.stats.gwet_ac import AC2_LINEAR as GWET_AC2_LINEAR
from crane_core.stats.gwet_ac import AC2_ORDINAL as GWET_AC2_ORDINAL
from crane_core.stats.intervals import clustered_difference, clustered_rate
from crane_core.stats.krippendorff_alpha import NOMINAL as KRIPPENDORFF_ALPHA
from crane_core.stats.krippendorff_alpha import (
    ORDINAL as KRIPPENDORFF_ALPHA_ORDINAL,
)
from crane_core.stats.multiplicity import benjamini_hochberg, holm
from crane_core.stats.paired import discordance, mcnemar
from crane_core.stats.power import mcnemar_power, minimum_detectable_difference
from crane_core.stats.prediction_powered import powered_share
from crane_core.stats.rates import accuracy, confusion, f1, precision, recall
from crane_core.stats.sample_size import allocate, required_sample
from crane_core.stats.sign_flip import sign_flip
from crane_core.stats.vote import majority

__all__ = [
    "COHEN_KAPPA",
    "COHEN_KAPPA_LINEAR",
    "FLEISS_KAPPA",
    "GWET_AC1",
    "GWET_AC2_LINEAR",
    "GWET_AC2_ORDINAL",
    "KRIPPENDORFF_ALPHA",
    "KRIPPENDORFF_ALPHA_ORDINAL",
    "accuracy",
    "agreement_interval",
    "allocate",
    "benjamini_hochberg",
    "clustered_difference",
    "clustered_rate",
    "confusion",
    "discordance",
    "f1",
    "holm",
    "majority",
    "mcnemar",
    "mcnemar_power",
    "minimum_detectable_difference",
    "powered_share",
    "precision",
    "recall",
    "required_sample",
    "sign_flip",
]

"""Where the vote of the runs and the published human outcome cannot both be right. Refuses to say which is."""

import numpy as np
import pandas as pd

from crane_core.domain import Label
from crane_core.stats.vote import majority

COLUMNS = (
    "benchmark",
    "experiment",
    "instance_id",
    "detector",
    "setting",
    "vote",
    "n_crash",
    "n_safe",
    "human",
    "why",
)

UNDETECTED_YET_DIAGNOSED = (
    "the outcome judges a diagnosis, but the vote predicts no crash"
)
DETECTED_YET_MISSED = (
    "the outcome says that the crash was missed, but the vote predicts it"
)
CLEARED_YET_ALARM = (
    "the outcome says false alarm, but the vote predicts no crash"
)
ALARM_YET_CLEARED = "the outcome accepts the answer, but the vote predicts a crash that does not happen"


def contradictions(verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row per verdict whose human outcome contradicts its vote, with COLUMNS; `vote` is "crash" or "no crash".

    "misdetected" states that the detection failed, "correct", "partial" and "wrong" that it succeeded (paper, section
    4.4.2); the vote against the truth states the same. Instances without answer or outcome contradict nothing.
    """
    vote = majority(
        verdicts["n_crash"].to_numpy(), verdicts["n_safe"].to_numpy()
    )
    truth = verdicts["truth"].to_numpy(dtype=bool)
    is_judged = (
        verdicts["human"]
        .isin([Label.CORRECT, Label.PARTIAL, Label.WRONG, Label.MISDETECTED])
        .to_numpy()
    )
    accepted = (verdicts["human"] != Label.MISDETECTED).to_numpy()
    is_contradiction = (
        is_judged & ~vote.unanswered & ((vote.crash == truth) != accepted)
    )
    whys = np.where(
        truth,
        np.where(vote.crash, DETECTED_YET_MISSED, UNDETECTED_YET_DIAGNOSED),
        np.where(vote.crash, ALARM_YET_CLEARED, CLEARED_YET_ALARM),
    )
    words = np.where(vote.crash, "crash", "no crash")
    found = verdicts[is_contradiction].assign(
        vote=words[is_contradiction], why=whys[is_contradiction]
    )
    rows: pd.DataFrame = found[list(COLUMNS)].reset_index(drop=True)
    return rows

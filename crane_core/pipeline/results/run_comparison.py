"""Runs against one baseline, over the instances that both answered: who is right where, and by how much?

The comparison is that of two inputs (`measures.Pairs`): the baseline takes the place of the one input, the other
run that of the other. Detection alone, by majority: what can be compared without a label.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pandas as pd

from crane_core.pipeline.results import leaderboard, measures, outcomes
from crane_core.stats.equivalence import SMALLEST_EFFECT
from crane_core.storage.answers import RunKey

GROUPS = ("library_group", "root_cause")
"""Columns of the verdict frame that group the differences."""
RATE = "Accuracy"
SIDES = ("baseline", "other")
COST = ["tokens", "usd", "seconds", "is_input_only"]
COMPARED = [
    "n", "n_cases", "without", "with_", "difference", "low", "high", "gained", "lost", "p_value", "p_by_case",
    "p_holm", "p_by_case_holm", "test", "outcome",
]  # fmt: skip
INSTANCE = ["instance_id", "case_id", "truth", *GROUPS]
GROUPED = [
    "by", "group", "detector", "n", "n_cases", "difference", "low", "high", "gained", "lost", "p_value", "p_by_case",
    "p_bh", "p_by_case_bh", "test", "outcome",
]  # fmt: skip


class Share(StrEnum):
    """Who is right on an instance that both answered."""

    BOTH = "both"
    BASELINE = "baseline"
    OTHER = "other"
    NEITHER = "neither"


class RunComparison(NamedTuple):
    """What a comparison holds; `place` is the number of a run in the given order, 0 is the baseline.

    runs: a row per run; columns place, value, low, high (accuracy, share, 95% by case, over the instances that count
    for the run), n, and COST (tokens and seconds per answer, USD per 1,000 answers, nan where unknown). differences: a
    row per other run that shares an answered instance with the baseline, with place and COMPARED (difference: accuracy
    of the run minus that of the baseline; Holm over the rows). groups: by library and root cause, GROUPED, with place
    as `detector` (Benjamini-Hochberg over the rows). instances: a row per other run and shared instance, with place,
    instance_id, case_id, truth, GROUPS, share (a `Share`), and is_tied (the votes of the baseline or of the run).
    """

    runs: pd.DataFrame
    differences: pd.DataFrame
    groups: pd.DataFrame
    instances: pd.DataFrame

    def counts(self, place: int) -> dict[Share, int]:
        """How many instances each share has against this run."""
        found = self.instances.loc[self.instances["place"] == place, "share"]
        n_of = found.value_counts()
        return {share: int(n_of.get(str(share), 0)) for share in Share}


def compare_runs(
    verdicts: pd.DataFrame,
    run_list: pd.DataFrame,
    baseline: RunKey,
    others: Sequence[RunKey],
    bound: float = SMALLEST_EFFECT,
) -> RunComparison:
    """Compare the others with the baseline.

    verdicts: `evaluate.verdict_frame`. run_list: `run_list.run_list`. Runs on other benchmarks than the baseline's
    share no instance with it. bound: the smallest effect of interest, a share, which the outcomes are decided with.
    """
    mine = _answered(verdicts, baseline)
    sides: dict[int, pd.DataFrame] = {0: mine}
    pairs = []
    instances = []
    for place, run in enumerate(others, start=1):
        rows = _answered(verdicts, run)
        is_shared = rows["instance_id"].isin(mine["instance_id"])
        sides[place] = rows[is_shared]
        base = mine[mine["instance_id"].isin(sides[place]["instance_id"])]
        if base.empty or run == baseline or run.benchmark != baseline.benchmark:
            sides[place] = rows.head(0)
            continue
        pairs += _as_inputs(base, sides[place], place)
        instances.append(_shared(base, sides[place], place))
    frame = pd.concat(pairs, ignore_index=True) if pairs else mine.head(0)
    return RunComparison(
        _runs(sides, run_list, baseline.benchmark),
        _differences(frame, bound),
        _groups(frame, bound),
        _joined(instances),
    )


def right_and_answered(verdicts: pd.DataFrame, run: RunKey) -> tuple[int, int]:
    """On how many instances the vote of a run is right, and how many it answered."""
    rows = _answered(verdicts, run)
    return int(np.count_nonzero(_is_right(rows))), len(rows)


def _answered(verdicts: pd.DataFrame, run: RunKey) -> pd.DataFrame:
    """The rows of a run that hold an answer."""
    is_meant = verdicts["n_crash"] + verdicts["n_safe"] > 0
    for name, value in run._asdict().items():
        is_meant &= verdicts[name].eq(value)
    rows: pd.DataFrame = verdicts[is_meant]
    return rows


def _as_inputs(
    base: pd.DataFrame, other: pd.DataFrame, place: int
) -> list[pd.DataFrame]:
    """The two runs as one detector with two inputs; its name is the other run's place."""
    return [
        rows.assign(
            setting=str(setting),
            detector=str(place),
            detector_title=str(place),
        )
        for rows, setting in zip(
            (base, other), measures.WITH_STATE, strict=True
        )
    ]


def _differences(frame: pd.DataFrame, bound: float) -> pd.DataFrame:
    table = measures.gain_table(
        frame,
        rule=measures.VoteRule.MAJORITY,
        credit=measures.Credit.DETECTION,
        rate=RATE,
        with_power=False,
    )
    if table.empty:
        return pd.DataFrame(columns=["place", *COMPARED])
    decided = outcomes.under_bound(table, bound)
    return decided.assign(place=decided["detector"].astype(int))[
        ["place", *COMPARED]
    ]


def _groups(frame: pd.DataFrame, bound: float) -> pd.DataFrame:
    tables = []
    for by in GROUPS:
        known = frame[frame[by].notna()]
        found = measures.Pairs.of(
            known, [by, "detector"], measures.WITH_STATE
        ).gains(measures.VoteRule.MAJORITY, measures.Credit.DETECTION, RATE)
        if len(found):
            tables.append(found.assign(by=by, group=found[by]))
    if not tables:
        return pd.DataFrame(columns=GROUPED)
    # Which kind of crash differs is one exploratory question, whether asked by library or by root cause.
    return outcomes.one_grid(pd.concat(tables, ignore_index=True), bound)[
        GROUPED
    ]


def _shared(
    base: pd.DataFrame, other: pd.DataFrame, place: int
) -> pd.DataFrame:
    """Each instance that both answered, with who is right on it."""
    ordered = base.sort_values("instance_id").reset_index(drop=True)
    beside = other.set_index("instance_id").loc[ordered["instance_id"]]
    right_base = _is_right(ordered)
    right_other = _is_right(beside)
    share = np.select(
        [right_base & right_other, right_base, right_other],
        [Share.BOTH, Share.BASELINE, Share.OTHER],
        Share.NEITHER,
    )
    return ordered[INSTANCE].assign(
        place=place,
        share=share.astype(str),
        crash_baseline=ordered["n_crash"],
        safe_baseline=ordered["n_safe"],
        crash_other=beside["n_crash"].to_numpy(),
        safe_other=beside["n_safe"].to_numpy(),
    )


def _is_right(rows: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    said = measures.detected(rows, measures.VoteRule.MAJORITY) > 0
    right: np.ndarray[tuple[int], np.dtype[np.bool_]] = said == rows[
        "truth"
    ].to_numpy(dtype=bool)
    return right


def _joined(instances: list[pd.DataFrame]) -> pd.DataFrame:
    if instances:
        return pd.concat(instances, ignore_index=True)
    votes = [f"{said}_{of}" for of in SIDES for said in ("crash", "safe")]
    return pd.DataFrame(columns=[*INSTANCE, "place", "share", *votes])


def _runs(
    sides: Mapping[int, pd.DataFrame], run_list: pd.DataFrame, benchmark: str
) -> pd.DataFrame:
    """Accuracy and cost of each run that has a row."""
    by = ["place", "experiment", "detector", "setting", "detector_kind"]
    rows = pd.concat(
        [of.assign(place=place) for place, of in sides.items()],
        ignore_index=True,
    )
    table = measures.rate_table(
        rows,
        by=by,
        rate=RATE,
        rule=measures.VoteRule.MAJORITY,
        credit=measures.Credit.DETECTION,
    )
    key = ["experiment", "detector", "setting"]
    priced = table.merge(
        leaderboard.cost_of_runs(run_list, benchmark), on=key, how="left"
    )
    priced["is_own"] = priced["is_own"].eq(other=True)
    # The baseline names each instance once; what the inputs cost is known of instances.
    priced = leaderboard.with_cost(priced, sides[0])
    return priced[["place", "value", "low", "high", "n", *COST]]

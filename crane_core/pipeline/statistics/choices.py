"""The specification curve: the gain and its test under every reading and by every judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pandas as pd

from crane_core.pipeline.export.exported_statistic import (
    BOTH_INPUTS,
    DIFFERENCE_INTERVAL,
    ExportedStatistic,
    Material,
)
from crane_core.pipeline.judging.judges import judge_passes, without_repetitions
from crane_core.pipeline.results.measures import SEED
from crane_core.pipeline.results.specification_curve import (
    NOBODY,
    Test,
    specification_curve,
)
from crane_core.pipeline.rows import as_rows

PAGE, SECTION = "Results", "choices"


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """Of every experiment and kind of detector with both inputs."""
    judged: dict[tuple[str, str, str], dict[str, pd.DataFrame]] = defaultdict(dict)
    heads = {}
    for judging in material.judgings:
        key = (judging.benchmark, judging.experiment, judging.kind)
        judged[key][judging.judge] = judging.rows
        heads[key] = judging.head(PAGE, SECTION, None, None)
    passes = judge_passes(material.store)
    for key, frames in judged.items():
        who = without_repetitions(frames, passes)
        yield from _readings(
            heads[key], specification_curve({name: frames[name] for name in who})
        )


def _readings(
    head: ExportedStatistic, curve: pd.DataFrame
) -> Iterator[ExportedStatistic]:
    for row in as_rows(curve):
        of = head._replace(
            statistic="difference of accuracy",
            detector=row["detector_title"],
            input=BOTH_INPUTS,
            runs=row["rule"],
            credit=row["credit"],
            judged_by=None if row["judged_by"] == NOBODY else row["judged_by"],
            test=row["test"],
            p_adjusted=row["p_value"],
            adjustment="Holm",
            family="detectors of one reading",
            seed=SEED if row["test"] == Test.BY_CASE else None,
            outcome=row["conclusion"],
        )
        yield of.measured(
            row["difference"],
            row["low"],
            row["high"],
            unit="difference of shares",
            method=DIFFERENCE_INTERVAL,
            n=row["n"],
            n_cases=row["n_cases"],
        )

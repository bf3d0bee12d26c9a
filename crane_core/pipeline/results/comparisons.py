"""Which two inputs of a detector can be compared: those that it had on the same instances; and what they change."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.results import exported_statistic, measures
from crane_core.pipeline.results.measures import WITH_STATE, Inputs
from crane_core.pipeline.rows import as_rows

RICHNESS = (
    Setting.CODE,
    Setting.RUNTIME_WITHOUT_S,
    Setting.RUNTIME_WITHOUT_R,
    Setting.RUNTIME_WITHOUT_V,
    Setting.RUNTIME,
    Setting.RUNTIME_DOCS,
    Setting.RUNTIME_PLUS,
)
"""From the input that shows least to the one that shows most, so that a change is what the richer input adds."""
_MARK = ","


def comparisons(verdicts: pd.DataFrame) -> list[Inputs]:
    """Every two settings in which some detector answered about one instance; that of the study first.

    verdicts: rows of the verdict frame, with a detector of each experiment under its own name (`beside`).
    """
    detector = pd.factorize(verdicts["detector"])[0]
    instance = pd.factorize(verdicts["instance_id"])[0]
    question = detector * (instance.max(initial=0) + 1) + instance
    setting = verdicts["setting"].to_numpy()
    asked_with = {
        name: np.unique(question[setting == name]) for name in RICHNESS
    }
    found = [
        Inputs(base, other)
        for base, other in combinations(RICHNESS, 2)
        if np.isin(
            asked_with[base], asked_with[other], assume_unique=True
        ).any()
    ]
    return sorted(found, key=lambda inputs: inputs != WITH_STATE)


def comparison_text(inputs: Inputs) -> str:
    """A comparison as an address names it: "code,runtime"."""
    return _MARK.join(inputs)


def comparison_from(text: str) -> Inputs:
    """The comparison that `comparison_text` wrote. Raises ValueError on any other text."""
    base, other = text.split(_MARK)
    return Inputs(Setting(base), Setting(other))


def exported_gains(
    material: exported_statistic.JudgedAnswers,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of every experiment, kind of detector, annotator and policy; rates of the study's two inputs only."""
    for judging in material.judgings:
        # The study's comparison comes first, and once even where the answers hold it too.
        compared = dict.fromkeys(
            [measures.WITH_STATE, *comparisons(judging.rows)]
        )
        for rule, credit in judging.policies():
            yield from _rates(judging, rule, credit)
            for inputs in compared:
                yield from _differences(judging, rule, credit, inputs)


def _rates(
    judging: exported_statistic.Judging,
    rule: measures.VoteRule,
    credit: measures.Credit,
) -> Iterator[exported_statistic.ExportedStatistic]:
    head = judging.head("Results", "gain", rule, credit)._replace(
        statistic="accuracy"
    )
    rows = measures.paired_rows(judging.rows, rule=rule, credit=credit)
    # A detector that answered with one input only has nothing to be compared with.
    n_settings = rows.groupby("detector")["setting"].transform("nunique")
    table = measures.rate_table(
        # A rate of one input alone is not part of a comparison.
        rows[n_settings == len(measures.WITH_STATE)],
        by=["detector_title", "setting"],
        rate="Accuracy",
        rule=rule,
        credit=credit,
    )
    for row in as_rows(table):
        of = head._replace(detector=row["detector_title"], input=row["setting"])
        yield of.rated(row)


def _differences(
    judging: exported_statistic.Judging,
    rule: measures.VoteRule,
    credit: measures.Credit,
    inputs: measures.Inputs,
) -> Iterator[exported_statistic.ExportedStatistic]:
    head = judging.head("Results", "gain", rule, credit)._replace(
        input=exported_statistic.inputs_text(inputs)
    )
    table = measures.gain_table(
        judging.rows, rule=rule, credit=credit, inputs=inputs
    )
    family = f"detectors that were asked with both inputs ({len(table)})"
    for row in as_rows(table):
        of = head._replace(
            detector=row["detector_title"], n=row["n"], n_cases=row["n_cases"]
        )
        difference = of._replace(statistic="difference of accuracy").compared(
            row
        )
        if row["test"] is None:
            note = "no test: the labels of a sample stand for others"
            difference = difference._replace(note=note)
        yield from difference.tested(row, exported_statistic.HOLM, family)
        yield from of.discordant(row)
        if row["detectable"] is not None:
            detectable = of._replace(
                statistic="minimum detectable difference",
                family=family,
                note="80% power of the exact McNemar test at Holm's strictest step, if as many instances differ",
            )
            yield detectable.measured(
                row["detectable"], unit="difference of shares"
            )

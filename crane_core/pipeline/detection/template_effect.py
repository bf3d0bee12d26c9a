"""What another template changes: each run against that of the first template, over the instances that both answered.

Knows runs of one model in one setting. The comparison is that of the Runs page (`results.run_comparison`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.results.run_comparison import compare_runs
from crane_core.pipeline.results.run_list import run_list
from crane_core.pipeline.rows import as_rows
from crane_core.rounding import digits
from crane_core.storage.answers import RunKey
from crane_core.storage.store import Store


class TemplateRun(NamedTuple):
    """A job, and the template as the user named it."""

    template: str
    job: str


class TemplateEffect(NamedTuple):
    """Accuracy with `template` minus that with `baseline`, shares of 1, with its 95% interval by case.

    n: instances that both answered. gained, lost: where only this one, only the baseline is right. p_holm and
    p_by_case_holm: McNemar's test and the sign-flip test by case, by Holm over the templates of the model and setting;
    None where a test was not made.
    """

    detector: str
    setting: str
    baseline: str
    template: str
    n: int
    difference: float
    low: float | None
    high: float | None
    gained: int
    lost: int
    p_holm: float | None
    p_by_case_holm: float | None
    outcome: str


def template_effects(
    store: Store, benchmark: str, conditions: Sequence[Sequence[TemplateRun]]
) -> list[TemplateEffect]:
    """A row per template after the first, of each model and setting; conditions: the runs of each, the baseline first.

    A template that shares no answered instance with the first has no row.
    """
    verdicts = verdict_frame(store)
    listed = run_list(store, verdicts)
    keys = {
        str(row["experiment"]): RunKey(
            benchmark, *(str(row[name]) for name in RunKey._fields[1:])
        )
        for row in as_rows(listed[listed["benchmark"] == benchmark])
    }
    effects: list[TemplateEffect] = []
    for runs in conditions:
        effects += _of_condition(verdicts, listed, keys, runs)
    return effects


def _of_condition(
    verdicts: pd.DataFrame,
    listed: pd.DataFrame,
    keys: dict[str, RunKey],
    runs: Sequence[TemplateRun],
) -> list[TemplateEffect]:
    baseline, *others = (keys[run.job] for run in runs)
    found = compare_runs(verdicts, listed, baseline, others)
    copied = ("n", "difference", "low", "high", "gained", "lost", "p_holm",
              "p_by_case_holm", "outcome")  # fmt: skip
    return [
        TemplateEffect(
            detector=baseline.detector,
            setting=baseline.setting,
            baseline=runs[0].template,
            template=runs[int(row["place"])].template,
            **{name: row[name] for name in copied},
        )
        for row in as_rows(found.differences)
    ]


def effect_words(effects: Sequence[TemplateEffect]) -> list[str]:
    """The rows as text, points of accuracy; the Runs page has the instances behind them."""
    if not effects:
        return ["No two templates have answers that can be compared."]
    head = "Templates, compared by case (points of accuracy, 95% interval, p by Holm over the templates)"
    return [head, *map(_line, effects)]


def _line(effect: TemplateEffect) -> str:
    low, high = (
        "?" if bound is None else digits(100 * bound, 1, sign=True)
        for bound in (effect.low, effect.high)
    )
    tests = {"McNemar": effect.p_holm, "by case": effect.p_by_case_holm}
    p_values = [
        f"{name} p = {digits(p, 3)}"
        for name, p in tests.items()
        if p is not None
    ]
    parts = [
        f"{effect.detector}, {effect.setting}: {effect.template} against {effect.baseline}: "
        f"{digits(100 * effect.difference, 1, sign=True)} [{low}, {high}]",
        f"{effect.gained} gained, {effect.lost} lost of {effect.n}",
        *p_values,
        effect.outcome,
    ]
    return "; ".join(parts)

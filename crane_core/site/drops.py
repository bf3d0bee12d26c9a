"""The drops of the page Ablations: what each input changes, around zero, per kind of detector of one source of runs."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from markupsafe import Markup

from crane_core.charts.drops import drops
from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.results.setting_drops import drop_table, reference_of
from crane_core.pipeline.study.study_tables import study_tables
from crane_core.pipeline.study.table_scores import BENCHMARK
from crane_core.site.blocks import figure, finding, heading, paragraph
from crane_core.site.material import Collected, RunSource
from crane_core.ui import drops_words as words
from crane_core.ui.words import KIND_WORDS, sentence_case, setting_short

RATE = "Accuracy"
TABLES = ("4a", "4b")
"""The paper's ablations, some of whose runs are not published."""


def drops_blocks(collected: Collected, source: RunSource) -> Iterator[Markup]:
    """A finding and a chart per kind of detector, and what is left out."""
    for kind, rows in source.rows.groupby("detector_kind", sort=False):
        yield from _of_kind(collected, source, DetectorKind(str(kind)), rows)
    if source.n_left_out:
        yield paragraph(words.left_out_words(source.n_left_out), "cw-dim")


def _of_kind(
    collected: Collected, source: RunSource, kind: DetectorKind, rows: pd.DataFrame
) -> Iterator[Markup]:
    reference = reference_of(rows)
    measured = drop_table(rows, reference=reference, rate=RATE)
    if measured.empty:
        return
    if source.rows["detector_kind"].nunique() > 1:
        yield heading(
            sentence_case(KIND_WORDS[kind]),
            4,
            f"drops-{source.name}-{kind.name.lower()}-of",
        )
    printed = _printed(collected, source, kind, measured)
    yield finding(words.finding(measured, printed, RATE.lower(), reference))
    present = {*measured["setting"], *printed["setting"]}
    labels = [setting_short(setting) for setting in Setting if setting in present]
    drawn = words.drawn_drops(
        measured.assign(label=measured["setting"].map(setting_short)), printed
    )
    yield figure(
        f"drops-{source.name}-{kind.name.lower()}",
        drops(drawn, labels=labels, rate=RATE.lower()),
        f"Against {words.base_words(reference)}, detection alone, majority of runs; left of 0 is a drop. Lines: 95% "
        "intervals by case. Squares and p: printed in the paper, without the runs behind it. In the table, "
        + words.about_tests(RATE, len(measured))
        + words.apart(measured),
    )


def _printed(
    collected: Collected, source: RunSource, kind: DetectorKind, measured: pd.DataFrame
) -> pd.DataFrame:
    """The paper's printed values for its models if these runs are compared in the same way; else empty."""
    asked = source.benchmark == BENCHMARK and kind is DetectorKind.LLM
    if not asked or reference_of(source.rows) != Setting.RUNTIME:
        return words.printed_drops([], RATE, measured)
    known = study_tables(collected.material.verdicts, collected.material.numbers)
    return words.printed_drops([known[name] for name in TABLES], RATE, measured)

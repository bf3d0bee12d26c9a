"""The page Ablations of the site: what each input changes, what it costs, and the printed ablations of the paper.

Changes are drawn around zero per kind of detector of one source of runs; costs as tokens against accuracy.
"""

import re
from collections.abc import Callable, Iterator

import altair as alt
import pandas as pd
from markupsafe import Markup

from crane_core.charts.drops import drops
from crane_core.charts.pareto import pareto
from crane_core.charts.printed import printed_bars
from crane_core.charts.theme import in_order
from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.results import exported_statistic, input_cost
from crane_core.pipeline.results.setting_drops import drop_table, reference_of
from crane_core.pipeline.study.study_tables import study_tables
from crane_core.pipeline.study.table_cells import PERCENT, printed_value
from crane_core.pipeline.study.table_scores import BENCHMARK
from crane_core.site.blocks import figure, finding, folded, heading, paragraph
from crane_core.site.material import Collected, RunSource, plain_name, source_of
from crane_core.site.numbers import statistics_table
from crane_core.ui import drops_words, pareto_words
from crane_core.ui.words import (
    KIND_WORDS,
    count,
    experiment_words,
    percent,
    sentence_case,
    setting_short,
)

SECTIONS = {
    "drops": "Effect of each input, compared with full runtime state",
    "groups": "By library, root cause, crash type and stage",
    "cost": "Tokens and list price",
    "categories": "One category of runtime state removed",
    "documentation": "API documentation added",
    "tokens": "Token cost of the documentation",
}
REFERENCE = "+RT"
PRINTED = {"categories", "documentation", "tokens"}
"""Sections of printed tables; the others come from answers."""
COLUMNS = ("Group", "Statistic", "Value", "Stated", "n", "Note")
MEASURED = (
    "Detector", "Input", "Statistic", "Group", "Value", "95% interval", "Test", "p", "p adjusted", "Outcome", "n",
    "Cases",
)  # fmt: skip
RATE = "Accuracy"
TABLES = ("4a", "4b")
"""The paper's ablations, some of whose runs are not published."""
COST = "tokens"
_ACCURACY = re.compile(r"^Accuracy \((?P<setting>[^)]+)\)$")


def ablations_blocks(collected: Collected) -> Iterator[Markup]:
    """Every statistic of the page, by its sections."""
    rows = [
        one
        for kind in collected.found.values()
        for one in kind
        if one.page == "Ablations"
    ]
    yield paragraph(
        "S is structure (shapes, sizes, counts), R representation and types, V values and object state."
    )
    for section, words in SECTIONS.items():
        mine = [one for one in rows if one.section == section]
        if not mine:
            continue
        yield heading(words, anchor=section)
        if section not in PRINTED:
            yield from _measured(collected, mine, section)
            continue
        caption = "Dashed: full runtime state. Hollow: printed in the paper, not measured here."
        for index, bars in enumerate(_bars(mine)):
            yield figure(f"ablation-{section}-{index}", bars, caption)
        yield statistics_table(mine, COLUMNS)


def _measured(
    collected: Collected,
    rows: list[exported_statistic.ExportedStatistic],
    section: str,
) -> Iterator[Markup]:
    """Per benchmark and source of runs: the finding and the chart of the section, if any, then its table, folded."""
    for of in dict.fromkeys(
        (str(one.benchmark), str(one.experiment)) for one in rows
    ):
        mine = [one for one in rows if (one.benchmark, one.experiment) == of]
        name = f"{of[0]}: {experiment_words(of[1])}"
        summary = f"{count(len(mine))} rows"
        if section in DRAWN:
            yield heading(name, 3, f"{section}-{plain_name(name)}")
            yield from DRAWN[section](collected, source_of(collected, *of))
        else:
            summary = f"{name}, {summary}"
        yield folded(summary, [statistics_table(mine, MEASURED)])


def drops_blocks(collected: Collected, source: RunSource) -> Iterator[Markup]:
    """A finding and a chart per kind of detector, and what is left out."""
    for kind, rows in source.rows.groupby("detector_kind", sort=False):
        yield from _drops_of_kind(
            collected, source, DetectorKind(str(kind)), rows
        )
    if source.n_left_out:
        yield paragraph(drops_words.left_out_words(source.n_left_out), "cw-dim")


def _drops_of_kind(
    collected: Collected,
    source: RunSource,
    kind: DetectorKind,
    rows: pd.DataFrame,
) -> Iterator[Markup]:
    reference = reference_of(rows)
    measured = drop_table(rows, reference=reference, rate=RATE)
    if measured.empty:
        return
    name = f"drops-{source.name}-{kind.name.lower()}"
    if source.rows["detector_kind"].nunique() > 1:
        yield heading(sentence_case(KIND_WORDS[kind]), 4, f"{name}-of")
    printed = _printed_drops(collected, source, kind, measured)
    yield finding(
        drops_words.finding(measured, printed, RATE.lower(), reference)
    )
    labelled = measured.assign(
        label=measured["setting"].map(drops_words.PHRASES)
    )
    drawn = drops_words.drawn_drops(labelled, printed)
    about = (
        f"Against {drops_words.base_words(reference)}, detection alone, majority of answers; left of 0 is a drop. "
        "Lines: 95% intervals by case. Hollow squares: printed in the paper, not measured here. "
        f"In the table, {drops_words.about_tests(RATE, len(measured))}{drops_words.apart(measured)}"
    )
    labels = drops_words.chart_rows(measured, printed)
    chart = drops(drawn, rate=RATE.lower(), labels=labels)
    yield figure(name, chart, about)


def _printed_drops(
    collected: Collected,
    source: RunSource,
    kind: DetectorKind,
    measured: pd.DataFrame,
) -> pd.DataFrame:
    """The paper's printed values for its models if these runs are compared in the same way; else empty."""
    asked = source.benchmark == BENCHMARK and kind is DetectorKind.LLM
    if not asked or reference_of(source.rows) != Setting.RUNTIME:
        return drops_words.printed_drops([], RATE, measured)
    known = study_tables(
        collected.material.verdicts, collected.material.numbers
    )
    return drops_words.printed_drops(
        [known[name] for name in TABLES], RATE, measured
    )


def cost_blocks(collected: Collected, source: RunSource) -> Iterator[Markup]:
    """The front in a sentence and as a chart; only a sentence without a model."""
    experiments = sorted(source.rows["experiment"].unique().tolist())
    tokens = input_cost.tokens_of_inputs(
        collected.material.store, source.benchmark, experiments
    )
    table = input_cost.cost_table(source.rows, tokens, rate="Accuracy")
    if not (table["detector_kind"] == DetectorKind.LLM).any():
        yield paragraph(
            "These detectors read the code without a model, so they cost no tokens."
        )
        return
    known = input_cost.with_front(table, COST)
    if known.empty:
        yield paragraph(
            "The cost of these inputs is unknown: their texts are not loaded."
        )
        return
    yield finding(pareto_words.finding(known, "accuracy", COST))
    unknown = set(table["detector_title"]) - set(known["detector_title"])
    how = "counted" if known["is_exact"].all() else "estimated"
    about = pareto_words.ABOUT.format(how=how, left_out="")
    if unknown:
        names = ", ".join(in_order(sorted(unknown)))
        about += f" Excluded, because their token counts are unknown: {names}."
    words, form = pareto_words.AXES[COST]
    drawn = known.assign(
        setting=known["setting"].map(setting_short),
        text=pareto_words.mark_labels(known),
    )
    chart = pareto(drawn, cost=words, cost_format=form, rate="accuracy")
    yield figure(f"cost-{source.name}", chart, about)


DRAWN: dict[str, Callable[[Collected, RunSource], Iterator[Markup]]] = {
    "drops": drops_blocks,
    "cost": cost_blocks,
}
"""The content before the tables of a section."""


def _bars(
    rows: list[exported_statistic.ExportedStatistic],
) -> Iterator[alt.LayerChart]:
    """Accuracy per setting, a chart per detector; none if the section is about something else."""
    found = []
    for one in rows:
        if match := _ACCURACY.match(one.statistic):
            is_printed = one.value is None
            value = (
                float(printed_value(one.stated or "0"))
                if is_printed
                else one.value
            )
            share = float(value or 0) / PERCENT
            text = percent(share)
            # The paper types a hyphen where the app writes a minus sign.
            setting = match["setting"].replace("-", "−")
            found.append((one.group, setting, share, text, is_printed))
    drawn = pd.DataFrame(
        found,
        columns=["detector_title", "setting", "value", "text", "is_printed"],
    )
    full = drawn[drawn["setting"] == REFERENCE].set_index("detector_title")[
        "value"
    ]
    drawn = drawn.assign(reference_value=drawn["detector_title"].map(full))
    settings = list(dict.fromkeys(drawn["setting"]))
    for _, of in drawn.groupby("detector_title", sort=False):
        yield printed_bars(
            of,
            settings=settings,
            rate="accuracy, detection only",
            reference=REFERENCE,
        )

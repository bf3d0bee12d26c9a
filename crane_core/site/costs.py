"""The cost of the page Ablations: the tokens of each input against accuracy, and the front that nothing beats."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from crane_core.charts.pareto import pareto
from crane_core.charts.theme import in_order
from crane_core.domain import DetectorKind
from crane_core.pipeline.results.input_cost import (
    cost_table,
    tokens_of_inputs,
    with_front,
)
from crane_core.site.blocks import figure, finding, paragraph
from crane_core.site.material import Collected, RunSource
from crane_core.ui.pareto_words import ABOUT, AXES, mark_labels
from crane_core.ui.pareto_words import finding as front_words
from crane_core.ui.words import setting_short

COST = "tokens"
NO_MODEL = "These detectors read the code without a model, so they cost no tokens."


def cost_blocks(collected: Collected, source: RunSource) -> Iterator[Markup]:
    """The front in a sentence and as a chart; only a sentence without a model."""
    experiments = sorted(source.rows["experiment"].unique().tolist())
    tokens = tokens_of_inputs(collected.material.store, source.benchmark, experiments)
    table = cost_table(source.rows, tokens, rate="Accuracy")
    if not (table["detector_kind"] == DetectorKind.LLM).any():
        yield paragraph(NO_MODEL)
        return
    known = with_front(table, COST)
    if known.empty:
        yield paragraph(
            "The cost of these inputs is unknown: their texts are not loaded."
        )
        return
    yield finding(front_words(known, "accuracy", COST))
    unknown = set(table["detector_title"]) - set(known["detector_title"])
    without = (
        f" Excluded, because their token counts are unknown: {', '.join(in_order(sorted(unknown)))}."
        if unknown
        else ""
    )
    words, form = AXES[COST]
    drawn = known.assign(
        setting=known["setting"].map(setting_short), text=mark_labels(known)
    )
    yield figure(
        f"cost-{source.name}",
        pareto(drawn, cost=words, cost_format=form, rate="accuracy"),
        ABOUT.format(how="counted" if known["is_exact"].all() else "estimated")
        + without,
    )

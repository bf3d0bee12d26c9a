"""Does the conclusion depend on the choices? The specification curve of an experiment, in words and as a chart."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from crane_core.charts.specification_curve import specification_curve as curve_chart
from crane_core.charts.theme import in_order
from crane_core.pipeline.export.exported_statistic import Judging
from crane_core.pipeline.judging.judges import judge_passes, without_repetitions
from crane_core.pipeline.results.specification_curve import specification_curve
from crane_core.site.blocks import figure, finding, heading, points
from crane_core.site.material import Collected, name_of
from crane_core.ui import specification_words as words


def choices_blocks(collected: Collected, judging: Judging) -> Iterator[Markup]:
    """The section, for all annotators of these answers; empty if no detector has both inputs."""
    same = (judging.benchmark, judging.experiment, judging.kind)
    judged = {
        one.judge: one.rows
        for one in collected.material.judgings
        if (one.benchmark, one.experiment, one.kind) == same
    }
    who = without_repetitions(judged, judge_passes(collected.material.store))
    curve = specification_curve({name: judged[name] for name in who})
    if curve.empty:
        return
    anchor = f"choices-{name_of(judging)}"
    yield heading("Does the conclusion depend on the choices?", 3, anchor)
    yield finding(words.finding(curve))
    titles = in_order(curve["detector_title"].unique().tolist())
    yield points(
        [words.line(curve[curve["detector_title"] == title]) for title in titles]
    )
    readings = words.by_reading(curve)
    yield figure(anchor, curve_chart(readings, words.choices_of(readings)), words.ABOUT)

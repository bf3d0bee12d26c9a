"""Does asking before execution save time? A finding, a chart and a table for each timed detector."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from crane_core.charts.time_saved import time_saved as time_chart
from crane_core.pipeline.export.exported_statistic import Judging
from crane_core.pipeline.results.measures import VoteRule
from crane_core.pipeline.results.time_saved import time_saved, times_of
from crane_core.site.blocks import figure, finding, heading
from crane_core.site.material import Collected, name_of
from crane_core.site.numbers import readable_table
from crane_core.ui import time_saved_words as words


def time_blocks(collected: Collected, judging: Judging) -> Iterator[Markup]:
    """The section; empty if no answer was timed."""
    times = times_of(collected.material.store, judging.benchmark, judging.experiment)
    found = time_saved(judging.rows, times, rule=VoteRule.MAJORITY)
    if not found:
        return
    anchor = f"time-{name_of(judging)}"
    yield heading("Does asking before execution save time?", 3, anchor)
    for place, one in enumerate(found):
        yield finding(words.finding(one))
        chart = time_chart(
            one.by_case,
            one.detector_title,
            float(one.by_case["seconds_of_query"].mean()),
        )
        yield figure(f"{anchor}-{place}", chart, words.ABOUT)
        yield readable_table(words.readable_time(one))

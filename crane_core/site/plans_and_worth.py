"""Two more questions of the site: did what was planned hold, and what are alarms worth where crashes are rare?"""

from collections.abc import Iterator

from markupsafe import Markup

from crane_core.charts.decision_curve import decision_curve as curve_chart
from crane_core.pipeline.export.exported_statistic import Judging
from crane_core.pipeline.results.measures import VoteRule
from crane_core.pipeline.results.plan_findings import readable_plans
from crane_core.pipeline.results.worth import ALL, Day, decision_curve, worth
from crane_core.pipeline.statistics import plans
from crane_core.site import blocks
from crane_core.site.material import Collected, name_of
from crane_core.site.numbers import input_words, readable_table
from crane_core.ui import worth_words
from crane_core.ui.words import count


def plan_blocks(collected: Collected) -> Iterator[Markup]:
    """Every registered plan with its findings, and what no plan names; empty where none is registered."""
    found = plans.found_of_plans(collected.material)
    if found.empty:
        return
    yield blocks.heading("What was planned, and did it hold?", anchor="plan")
    yield readable_table(readable_plans(found))
    yield blocks.points(list(dict.fromkeys(found["note"])))
    unplanned = [
        f"{collected.titles[one.benchmark]}: {one.detector_title}, {input_words(one.inputs)}"
        for one in plans.exploratory_of_plans(collected.material)
    ]
    if unplanned:
        summary = f"Exploratory, in no registered plan: {count(len(unplanned))} comparisons"
        yield blocks.folded(summary, [blocks.points(unplanned)])


def worth_blocks(collected: Collected, judging: Judging) -> Iterator[Markup]:
    """The section, for the assumptions that the app begins with; empty without crashes and fixed notebooks."""
    day = Day()
    found = worth(judging.rows, day, rule=VoteRule.MAJORITY)
    if found.empty:
        return
    anchor = f"worth-{name_of(judging)}"
    yield blocks.heading("What are its alarms worth in a day?", 3, anchor)
    yield blocks.finding(worth_words.finding(found, day))
    curve = decision_curve(judging.rows, day.base_rate, rule=VoteRule.MAJORITY)
    chart = curve_chart(
        worth_words.drawn_curve(curve),
        everywhere=ALL,
        threshold=day.threshold,
    )
    yield blocks.figure(anchor, chart, worth_words.ABOUT)
    shown = worth_words.readable_worth(found)
    yield blocks.folded(
        f"{count(len(shown))} detectors and inputs", [readable_table(shown)]
    )
    yield blocks.paragraph(
        f"Assumed: {day.base_rate:.0%} of {day.cells} cells a day crash, a crash costs {day.crash_s / 60:g} minutes, a "
        f"look {day.look_s:g} seconds. The app takes others.",
        "cw-dim",
    )

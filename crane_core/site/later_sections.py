"""Further sections of the site: registered plans, the worth of alarms, one model of all answers, dates, and copies.

Each is empty where the answers do not allow it.
"""

from collections.abc import Iterator

from markupsafe import Markup

from crane_core.charts.decision_curve import decision_curve as curve_chart
from crane_core.pipeline.results import known_notebooks, measures, plan_findings
from crane_core.pipeline.results.by_date import compared_dates
from crane_core.pipeline.results.exported_statistic import Judging
from crane_core.pipeline.results.model_across import model_across
from crane_core.pipeline.results.one_model import model_of_all
from crane_core.pipeline.results.worth import ALL, Day, decision_curve, worth
from crane_core.site import blocks, questions
from crane_core.site.material import Collected, name_of
from crane_core.site.numbers import input_words, readable_table
from crane_core.stats.gee import Unfit
from crane_core.ui import (
    answers_words,
    by_date_words,
    known_notebooks_words,
    one_model_words,
    worth_words,
)
from crane_core.ui.outcome_words import smaller_sentence
from crane_core.ui.words import count, experiment_words


def plan_blocks(collected: Collected) -> Iterator[Markup]:
    """Every registered plan with its findings, and what no plan names; empty where none is registered."""
    found = plan_findings.found_of_plans(collected.material)
    if found.empty:
        return
    yield blocks.heading("What was planned, and did it hold?", anchor="plan")
    yield readable_table(plan_findings.readable_plans(found))
    yield blocks.points(list(dict.fromkeys(found["note"])))
    unplanned = [
        f"{collected.titles[one.benchmark]}: {one.detector_title}, {input_words(one.inputs)}"
        for one in plan_findings.exploratory_of_plans(collected.material)
    ]
    if unplanned:
        summary = f"Exploratory, in no registered plan: {count(len(unplanned))} comparisons"
        yield blocks.folded(summary, [blocks.points(unplanned)])


def worth_blocks(collected: Collected, judging: Judging) -> Iterator[Markup]:
    """The section, for the assumptions that the app begins with; empty without crashes and fixed notebooks."""
    day = Day()
    found = worth(judging.rows, day, rule=measures.VoteRule.MAJORITY)
    if found.empty:
        return
    anchor = f"worth-{name_of(judging)}"
    yield blocks.heading("What are its alarms worth in a day?", 3, anchor)
    yield blocks.finding(worth_words.finding(found, day))
    curve = decision_curve(
        judging.rows, day.base_rate, rule=measures.VoteRule.MAJORITY
    )
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


def one_model_blocks(
    collected: Collected, judging: Judging
) -> Iterator[Markup]:
    """By a correct diagnosis where there are labels; empty where no detector has both inputs."""
    credit = judging.usual_credit
    found = model_of_all(
        judging.rows, rule=measures.VoteRule.MAJORITY, credit=credit
    )
    if found.why_not == Unfit.ONE_GROUP:
        return
    by_gee = model_across(
        judging.rows, rule=measures.VoteRule.MAJORITY, credit=credit
    )
    curve, errors = questions.curve_and_errors(collected, judging)
    comparison = measures.gain_table(
        judging.rows, rule=measures.VoteRule.MAJORITY, credit=credit
    )
    answers = answers_words.answers_of(
        answers_words.MethodAnswers(
            comparison, by_gee.ratios, found, curve, errors
        )
    )
    yield blocks.heading(answers_words.TITLE, 3, f"answers-{name_of(judging)}")
    yield readable_table(answers_words.beside(answers, "text"))
    yield blocks.paragraph(answers_words.ABOUT, "cw-dim")
    anchor = f"one-model-{name_of(judging)}"
    yield blocks.heading(one_model_words.TITLE, 3, anchor)
    yield blocks.finding(one_model_words.finding(found))
    if found.why_not:
        return
    yield readable_table(one_model_words.readable_ratios(found, by_gee.ratios))
    shown = one_model_words.readable_gains(found)
    yield blocks.folded(f"{count(len(shown))} gains", [readable_table(shown)])
    yield blocks.paragraph(one_model_words.ABOUT, "cw-dim")


def date_blocks(collected: Collected) -> Iterator[Markup]:
    """A part per experiment with language models; empty where there is none."""
    found = list(compared_dates(collected.material))
    if not found:
        return
    yield blocks.heading(by_date_words.TITLE, anchor="dates")
    for judging, known in found:
        title = collected.titles.get(judging.benchmark, judging.benchmark)
        head = f"{title}, {experiment_words(judging.experiment)}"
        yield blocks.heading(head, 3, f"dates-{name_of(judging)}")
        yield readable_table(by_date_words.readable_models(known))
        for sentence in by_date_words.missing(known, title):
            yield blocks.paragraph(sentence)
        if len(known.table):
            yield blocks.finding(by_date_words.lead(known))
            yield readable_table(by_date_words.readable_by_date(known))
            if small := smaller_sentence(known.table):
                yield blocks.paragraph(small, "cw-dim")
    yield blocks.paragraph(by_date_words.ABOUT, "cw-dim")


def known_blocks(collected: Collected) -> Iterator[Markup]:
    """A part per benchmark with copies and way of counting; empty where no benchmark has any."""
    found = list(known_notebooks.compared_copies(collected.material))
    if not found:
        return
    yield blocks.heading(known_notebooks_words.TITLE, anchor="copies")
    for place, (known, _) in enumerate(found):
        title = known_notebooks_words.heading_of(known, collected.titles)
        yield blocks.heading(title, 3, f"copies-{place}")
        yield from _compared(known)
    yield blocks.paragraph(known_notebooks_words.ABOUT, "cw-dim")


def _compared(known: known_notebooks.KnownNotebooks) -> Iterator[Markup]:
    said = [known_notebooks_words.unlike(known), smaller_sentence(known.table)]
    if known.table.empty:
        said = [known_notebooks_words.NONE, said[0]]
    else:
        yield blocks.finding(known_notebooks_words.lead(known))
        yield blocks.points(known_notebooks_words.findings(known))
        yield readable_table(known_notebooks_words.readable_known(known))
    for sentence in filter(None, said):
        yield blocks.paragraph(sentence, "cw-dim")

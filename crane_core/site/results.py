"""The page Results of the site: each experiment's comparison, what differs between groups, how stable its runs are.

Then registered plans, the worth of alarms, one model of all answers, dates, and copies. Each of these sections is empty
where the answers do not allow it.
"""

from collections.abc import Iterator

import altair as alt
import numpy as np
import pandas as pd
from markupsafe import Markup

from crane_core.charts.breakdown import breakdown
from crane_core.charts.decision_curve import decision_curve as curve_chart
from crane_core.charts.drops import FEW_CASES
from crane_core.charts.gains import gains
from crane_core.charts.odds import odds
from crane_core.charts.reliability import reliability
from crane_core.charts.theme import in_order
from crane_core.domain import DetectorKind
from crane_core.pipeline.export import leaderboard_formats
from crane_core.pipeline.export.leaderboard_formats import method_of
from crane_core.pipeline.results import (
    exported_statistic,
    five_runs,
    known_notebooks,
    measures,
    plan_findings,
)
from crane_core.pipeline.results.by_date import compared_dates
from crane_core.pipeline.results.exported_statistic import Judging
from crane_core.pipeline.results.measures import PairedTest, VoteRule
from crane_core.pipeline.results.model_across import model_across, model_of_all
from crane_core.pipeline.results.worth import ALL, Day, decision_curve, worth
from crane_core.site import blocks, numbers, questions
from crane_core.site.blocks import figure, folded, heading, paragraph, points
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
from crane_core.ui.board_html import board_table, lead_words
from crane_core.ui.breakdown_words import GROUPINGS, change_words, is_found
from crane_core.ui.gains_words import headline
from crane_core.ui.outcome_words import smaller_sentence
from crane_core.ui.words import (
    KIND_WORDS,
    coefficient,
    count,
    experiment_words,
    p_value,
    with_n,
)

DIFFERENCE = "difference of accuracy"
ABOUT_GAINS = "Hollow: code only. Filled: with runtime state. Lines: 95% intervals by case."
ABOUT_BARS = (
    "Hollow: code only. Filled: with runtime state. Right: the change in percentage points with its 95% "
    f"interval. Bold: a gain or a loss after adjustment. Faded: {FEW_CASES} cases or fewer."
)
GROUPED_CHANGES = (
    "Group",
    "Detector",
    "Value",
    "95% interval",
    "Test",
    "p",
    "p adjusted",
    "Outcome",
    "n",
)
CHANGES = (
    "Detector",
    "Value",
    "95% interval",
    "Test",
    "p",
    "p adjusted",
    "Outcome",
    "n",
    "Cases",
)


def results_blocks(collected: Collected) -> Iterator[Markup]:
    """The leaderboards, then every experiment and kind of detector under the app's first policy; others are folded."""
    yield from _leaderboards(collected)
    for judging in collected.material.judgings:
        if judging.is_main:
            yield from _of_experiment(collected, judging)
    yield from plan_blocks(collected)
    yield from known_blocks(collected)
    yield from date_blocks(collected)
    yield from questions.together_blocks(collected)
    yield heading("The study's tables, recomputed", anchor="tables")
    yield paragraph(
        "Ours: recomputed from the answers. Stated: printed in the publication. The note says whether they agree."
    )
    of_tables = [
        one for one in collected.found["tables"] if one.page == "Results"
    ]
    for name in dict.fromkeys(one.by for one in of_tables):
        rows = [one for one in of_tables if one.by == name]
        columns = ("Group", "Statistic", "Value", "Stated", "n", "Note")
        yield folded(
            f"{str(name).capitalize()}, {count(len(rows))} cells",
            [numbers.statistics_table(rows, columns)],
        )


def _leaderboards(collected: Collected) -> Iterator[Markup]:
    for place, board in enumerate(collected.boards):
        yield heading(
            leaderboard_formats.title_of(board, collected.titles),
            3,
            f"leaderboard-{place}",
        )
        yield paragraph(f"{lead_words(board)}.")
        # The table escapes the text of others itself; the app draws the same one.
        drawn = Markup(board_table(board, is_linked=False))
        yield Markup('<div class="cw-scroll" tabindex="0">{}</div>').format(
            drawn
        )
        yield paragraph(method_of(board), "cw-dim")


def title_of(judging: exported_statistic.Judging) -> str:
    """Experiment and kind of detector in words."""
    return f"{experiment_words(judging.experiment)}: {KIND_WORDS[DetectorKind(judging.kind)]}"


def findings(
    collected: Collected, judging: exported_statistic.Judging
) -> list[str]:
    """How many detectors gain and lose by runtime state, and a sentence for each; under the app's first policy."""
    rows = _of_policy(collected, judging, "gains")
    differences = [
        one
        for one in rows
        if _is_of_study(one) and one.test != PairedTest.SIGN_FLIP
    ]
    if not differences:
        return []
    compared = pd.DataFrame(
        {
            "difference": [one.value for one in differences],
            "outcome": [one.outcome for one in differences],
        },
    ).astype({"difference": float})
    return [
        f"{headline(compared, judging.kind)}.",
        *map(_one_finding, differences),
    ]


def _one_finding(one: exported_statistic.ExportedStatistic) -> str:
    tested = (
        f"{one.test}, adjusted p {p_value(one.p_adjusted)}; "
        if one.test
        else ""
    )
    return (
        f"{one.detector}: {one.outcome}. With runtime state the accuracy differs by {numbers.value_text(one)} "
        f"({numbers.interval_text(one)}; {tested}n {count(one.n or 0)})"
    )


def _is_of_study(one: exported_statistic.ExportedStatistic) -> bool:
    """Whether it is a difference between the two inputs of the study, which the site shows."""
    return (
        one.statistic == DIFFERENCE
        and one.input == exported_statistic.BOTH_INPUTS
    )


def _of(
    collected: Collected, judging: exported_statistic.Judging, kind: str
) -> list[exported_statistic.ExportedStatistic]:
    """Rows of the experiment whose detectors are of the judging's kind."""
    titles = set(judging.rows["detector_title"].unique())
    return [
        one
        for one in collected.found[kind]
        if (one.benchmark, one.experiment)
        == (judging.benchmark, judging.experiment)
        and (one.detector is None or one.detector in titles)
    ]


def _of_policy(
    collected: Collected, judging: exported_statistic.Judging, kind: str
) -> list[exported_statistic.ExportedStatistic]:
    credit = judging.usual_credit
    judges = {None, judging.judge}
    rows = _of(collected, judging, kind)
    return [
        one
        for one in rows
        if (one.runs, one.credit) == (VoteRule.MAJORITY, credit)
        and one.judged_by in judges
    ]


def _of_experiment(
    collected: Collected, judging: exported_statistic.Judging
) -> Iterator[Markup]:
    rows = _of_policy(collected, judging, "gains")
    yield heading(title_of(judging))
    yield paragraph(
        f"Counted as: {VoteRule.MAJORITY} of the answers, {judging.usual_credit}.",
        "cw-dim",
    )
    if not rows:
        yield paragraph(
            "No detector of this experiment has answers both with and without runtime state."
        )
    else:
        yield from _gains(collected, judging, rows)
    yield from _across(collected, judging)
    yield from one_model_blocks(collected, judging)
    yield from questions.choices_blocks(collected, judging)
    for by, words in GROUPINGS.items():
        yield from _breakdown(collected, judging, by, words)
    yield from _runs(collected, judging)
    yield from questions.time_blocks(collected, judging)
    yield from worth_blocks(collected, judging)


def _gains(
    collected: Collected,
    judging: exported_statistic.Judging,
    rows: list[exported_statistic.ExportedStatistic],
) -> Iterator[Markup]:
    yield points(findings(collected, judging))
    drawn = numbers.frame(one for one in rows if one.statistic == "accuracy")
    n_of = drawn.groupby("detector")["n"].agg(["min", "max"])
    labels = [
        with_n(str(name), *map(int, n_of.loc[name]))
        for name in drawn["detector"]
    ]
    text = [
        f"{setting} {value}"
        for setting, value in zip(drawn["setting"], drawn["text"], strict=True)
    ]
    chart = gains(drawn.assign(label=labels, text=text, printed=np.nan))
    yield figure(f"gain-{name_of(judging)}", chart, ABOUT_GAINS)
    yield numbers.statistics_table(
        [one for one in rows if _is_of_study(one)], CHANGES
    )
    others = [
        one for one in _of(collected, judging, "gains") if _is_of_study(one)
    ]
    folded_rows = numbers.statistics_table(others, ("Counted as", *CHANGES))
    yield folded(
        f"Every other way of counting, {count(len(others))} tests",
        [folded_rows],
    )


def _across(
    collected: Collected, judging: exported_statistic.Judging
) -> Iterator[Markup]:
    rows = _of_policy(collected, judging, "across")
    ratios = [
        one for one in rows if one.unit == "odds ratio" and one.low is not None
    ]
    test = next((one for one in rows if one.unit == "chi-squared"), None)
    if test is None or not ratios:
        return
    drawn = numbers.frame(ratios)
    drawn = drawn.assign(
        odds_ratio=drawn["value"],
        label=[
            with_n(str(one.detector), one.n or 0, one.n or 0) for one in ratios
        ],
        text=[coefficient(one.value) for one in ratios],
    )
    yield heading(
        "Do the models gain differently?", 3, f"across-{name_of(judging)}"
    )
    yield paragraph(
        f"{test.test}: chi-squared {numbers.value_text(test)}, p {p_value(test.p)}, {count(test.n_cases or 0)} cases."
    )
    yield figure(
        f"across-{name_of(judging)}",
        odds(drawn),
        "Odds ratio of runtime state, with 95% interval by case.",
    )


def _breakdown(
    collected: Collected,
    judging: exported_statistic.Judging,
    by: str,
    words: str,
) -> Iterator[Markup]:
    rows = [
        one
        for one in _of_policy(collected, judging, "breakdown")
        if one.by == by
    ]
    bars = [
        one
        for one in rows
        if one.statistic == "accuracy" and one.value is not None
    ]
    if not bars:
        return
    changes = [one for one in rows if _is_of_study(one)]
    drawings: list[Markup] = []
    for title in in_order(
        list(dict.fromkeys(str(one.detector) for one in bars))
    ):
        mine = [one for one in bars if one.detector == title]
        chart = _panel(
            numbers.frame(mine),
            {str(one.group): one for one in changes if one.detector == title},
        )
        drawings.append(
            figure(
                f"{name_of(judging)}-{by}-{len(drawings)}", chart, ABOUT_BARS
            )
        )
    columns = (
        "Group",
        "Detector",
        "Input",
        "Value",
        "95% interval",
        "n",
        "Cases",
    )
    tables = [
        numbers.statistics_table(bars, columns),
        numbers.statistics_table(changes, GROUPED_CHANGES),
    ]
    yield folded(f"Accuracy by {words}", [*drawings, *tables])


def _panel(
    drawn: pd.DataFrame,
    changes: dict[str, exported_statistic.ExportedStatistic],
) -> alt.LayerChart:
    n_of = drawn.groupby("group")["n"].agg(["min", "max"])
    order = n_of["max"].sort_values(ascending=False, kind="stable").index
    labels = {
        group: with_n(str(group), *map(int, n_of.loc[group])) for group in order
    }
    found = [
        changes.get(str(group)) if setting == "+RT" else None
        for group, setting in zip(drawn["group"], drawn["setting"], strict=True)
    ]
    words, is_sure = [], []
    for one in found:
        change = one and {
            "difference": one.value,
            "low": one.low,
            "high": one.high,
            "outcome": one.outcome,
        }
        words.append(change_words(change) if change else "")
        is_sure.append(change is not None and is_found(change))
    drawn = drawn.assign(
        label=drawn["group"].map(labels), change=words, is_sure=is_sure
    )
    return breakdown(drawn, labels=list(labels.values()), rate="accuracy")


def _runs(
    collected: Collected, judging: exported_statistic.Judging
) -> Iterator[Markup]:
    rows = _of(collected, judging, "five_runs")
    if not rows:
        return
    votes = five_runs.vote_table(judging.rows)
    caption = "Dashed: as many real crashes as votes. Lines: 95% intervals by case. Larger marks: more instances."
    chart = figure(f"votes-{name_of(judging)}", reliability(votes), caption)
    columns = (
        "Detector",
        "Input",
        "Statistic",
        "Value",
        "95% interval",
        "n",
        "Cases",
    )
    yield folded(
        "How stable are the answers?",
        [chart, numbers.statistics_table(rows, columns)],
    )


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

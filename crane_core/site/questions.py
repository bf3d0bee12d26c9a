"""Three further questions of the page Results: do the choices matter, does it save time, are detectors better together?

Each finds a sentence, a chart and a table for what is loaded, and nothing where it does not apply.
"""

from collections.abc import Iterator

import pandas as pd
from markupsafe import Markup

from crane_core.charts import specification_curve, theme, together
from crane_core.charts.time_saved import time_saved as time_chart
from crane_core.pipeline.judging import judges
from crane_core.pipeline.results import beside, combinations, judge_error
from crane_core.pipeline.results.exported_statistic import Judging
from crane_core.pipeline.results.measures import VoteRule
from crane_core.pipeline.results.specification_curve import (
    curve_of,
    joint_curve,
    pairs_of,
)
from crane_core.pipeline.results.time_saved import time_saved, times_of
from crane_core.site import blocks
from crane_core.site.material import Collected, name_of, plain_name
from crane_core.site.numbers import readable_table
from crane_core.ui import (
    judge_error_words,
    specification_words,
    time_saved_words,
    together_words,
)
from crane_core.ui.words import count, experiment_words


def curve_and_errors(
    collected: Collected, judging: Judging
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every reading of these answers, and the gains by judges whose errors are taken out; empty without any."""
    judged, passes = _judged(collected, judging)
    who = judges.without_repetitions(judged, passes)
    curve = curve_of(pairs_of({name: judged[name] for name in who}))
    of = judges.person_and_judges(judged, passes)
    errors = (
        pd.DataFrame() if of is None else judge_error.judge_error(judged, *of)
    )
    return curve, errors


def _judged(
    collected: Collected, judging: Judging
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """The rows as each annotator of these answers judged them, and the passes of judges."""
    same = (judging.benchmark, judging.experiment, judging.kind)
    judged = {
        one.judge: one.rows
        for one in collected.material.judgings
        if (one.benchmark, one.experiment, one.kind) == same
    }
    passes = judges.judge_passes(collected.material.store)
    return judged, passes


def choices_blocks(collected: Collected, judging: Judging) -> Iterator[Markup]:
    """The section, for all annotators of these answers; empty if no detector has both inputs."""
    judged, passes = _judged(collected, judging)
    who = judges.without_repetitions(judged, passes)
    pairs = pairs_of({name: judged[name] for name in who})
    curve = curve_of(pairs)
    joint = joint_curve(curve, pairs)
    if joint is None:
        return
    anchor = f"choices-{name_of(judging)}"
    yield blocks.heading(
        "Does the conclusion depend on the choices?", 3, anchor
    )
    yield blocks.finding(specification_words.finding(curve))
    yield blocks.paragraph(specification_words.joint_finding(joint))
    titles = theme.in_order(curve["detector_title"].unique().tolist())
    yield blocks.points(
        [
            specification_words.line(curve[curve["detector_title"] == title])
            for title in titles
        ]
    )
    readings = specification_words.by_reading(curve)
    yield blocks.figure(
        anchor,
        specification_curve.specification_curve(
            readings, specification_words.choices_of(readings)
        ),
        specification_words.ABOUT,
    )
    found = judges.person_and_judges(judged, passes)
    if found is None:
        return
    errors = judge_error.judge_error(judged, *found)
    if len(errors):
        yield blocks.heading(
            judge_error_words.TITLE, 3, f"judged-{name_of(judging)}"
        )
        yield blocks.paragraph(
            judge_error_words.errors_sentence(errors, found[0])
        )
        yield readable_table(judge_error_words.label_sources(curve, errors))
        yield blocks.paragraph(judge_error_words.ABOUT, "cw-dim")


def time_blocks(collected: Collected, judging: Judging) -> Iterator[Markup]:
    """The section; empty if no answer was timed."""
    times = times_of(
        collected.material.store, judging.benchmark, judging.experiment
    )
    found = time_saved(judging.rows, times, rule=VoteRule.MAJORITY)
    if not found:
        return
    anchor = f"time-{name_of(judging)}"
    yield blocks.heading("Does asking before execution save time?", 3, anchor)
    for place, one in enumerate(found):
        yield blocks.finding(time_saved_words.finding(one))
        chart = time_chart(
            one.by_case,
            one.detector_title,
            float(one.by_case["seconds_of_query"].mean()),
        )
        yield blocks.figure(f"{anchor}-{place}", chart, time_saved_words.ABOUT)
        yield readable_table(time_saved_words.readable_time(one))


def together_blocks(collected: Collected) -> Iterator[Markup]:
    """The section, for every experiment with two detectors or more; empty if there is none."""
    found = [
        block
        for judged in _frames(collected)
        for block in _of_experiment(*judged)
    ]
    if found:
        yield blocks.heading(
            "Are combined detectors better?", anchor="together"
        )
        yield from found


def _frames(collected: Collected) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Benchmark, experiment and its answers of every kind of detector, with the shipped answers."""
    verdicts = collected.material.verdicts
    shipped = {name for names in beside.SHIPPED.values() for name in names}
    for benchmark, experiment in dict.fromkeys(
        (one.benchmark, one.experiment) for one in collected.material.judgings
    ):
        frame = beside.beside(
            verdicts[verdicts["benchmark"] == benchmark], experiment, ()
        )
        if experiment not in shipped and frame["detector"].nunique() > 1:
            yield benchmark, experiment, frame


def _of_experiment(
    benchmark: str, experiment: str, frame: pd.DataFrame
) -> Iterator[Markup]:
    names = together_words.member_names(frame)
    name = plain_name(f"{benchmark}-{experiment}")
    rules = combinations.rules_in(frame)
    first = (
        pd.DataFrame()
        if rules is None
        else combinations.with_rules(frame, rules, rule=VoteRule.MAJORITY)
    )
    members = combinations.usual_members(frame)
    ways = combinations.combine(frame, members, rule=VoteRule.MAJORITY)
    if len(first) or len(ways):
        yield blocks.heading(
            f"{benchmark}: {experiment_words(experiment)}",
            3,
            f"together-{name}",
        )
    if len(first):
        yield from _rules_first(first, names, name)
    if len(ways):
        yield from _combined(ways, names, name)


def _rules_first(
    table: pd.DataFrame, names: dict[combinations.Member, str], name: str
) -> Iterator[Markup]:
    yield blocks.finding(together_words.finding(table, names))
    drawn = together_words.named_rules_first(table, names)
    about = together_words.about_rules(table, names)
    yield blocks.figure(
        f"rules-first-{name}",
        together.together(
            together_words.drawn_together(drawn, names),
            axis=together_words.AXIS,
        ),
        about,
    )
    yield blocks.folded(
        f"{count(len(drawn))} rows",
        [readable_table(together_words.readable_together(drawn, names))],
    )


def _combined(
    table: pd.DataFrame, names: dict[combinations.Member, str], name: str
) -> Iterator[Markup]:
    ways = table[table["way"].notna()]
    yield blocks.finding(together_words.finding_of_chosen(ways, names))
    named = together_words.named_ways(table, names)
    drawn = together_words.drawn_together(named[named["way"].notna()], names)
    yield blocks.figure(
        f"together-{name}",
        together.together(drawn, axis=together_words.AXIS),
        together_words.about_chosen(ways),
    )
    yield readable_table(
        together_words.readable_together(named, names)[together_words.SHOWN]
    )

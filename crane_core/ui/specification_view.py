"""Does the conclusion depend on the choices? One sentence, a line per detector, and the specification curve."""

import pandas as pd
import streamlit as st

from crane_core.charts.specification_curve import (
    specification_curve as curve_chart,
)
from crane_core.charts.theme import in_order
from crane_core.pipeline.judging.judged import annotators_of
from crane_core.pipeline.judging.judges import (
    judge_passes,
    person_and_judges,
    without_repetitions,
)
from crane_core.pipeline.results import specification_curve
from crane_core.pipeline.results.judge_error import judge_error
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.results.specification_curve import (
    JointCurve,
    joint_curve,
)
from crane_core.pipeline.rows import as_rows
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from crane_core.ui import data, judge_error_words, keys, specification_words
from crane_core.ui.caption import captioned, sampled
from crane_core.ui.chart_box import draw_figure, draw_method, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.judge_error_words import ABOUT as ABOUT_JUDGES
from crane_core.ui.navigation import link
from crane_core.ui.overview_view import study
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.rows_html import rows_html
from crane_core.ui.words import (
    NOTHING,
    bullets,
    literal,
    p_value,
    points,
    points_interval,
)


@data.kept(data.answers, 8, copied=True)
def _curve(
    chosen: ResultChoice,
) -> tuple[pd.DataFrame, pd.DataFrame, JointCurve | None]:
    """The curve, the same by reading, and the inference over all readings."""
    names = without_repetitions(_annotators(chosen), judge_passes(data.store()))
    pairs = specification_curve.pairs_of(
        {name: chosen.rows_judged_by(name) for name in names}, chosen.inputs
    )
    curve = specification_curve.curve_of(pairs, bound=chosen.bound)
    return (
        curve,
        specification_words.by_reading(curve),
        joint_curve(curve, pairs),
    )


def _annotators(chosen: ResultChoice) -> list[str]:
    own = chosen.rows()
    found = annotators_of(data.who_labelled(), own, data.judging_campaigns())
    return found or [chosen.annotator]


@data.kept(data.answers, 8, copied=True)
def _errors(chosen: ResultChoice) -> tuple[str, pd.DataFrame] | None:
    """The person, and the gains by the judges' labels with their errors taken out; None without a judge."""
    of = person_and_judges(_annotators(chosen), judge_passes(data.store()))
    if of is None:
        return None
    person, judges = of
    judged = {name: chosen.rows_judged_by(name) for name in (person, *judges)}
    table = judge_error(judged, person, judges, chosen.inputs)
    return (person, table) if len(table) else None


def curve_and_errors(
    chosen: ResultChoice,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every reading, and the gains by judges whose errors are taken out; empty without any."""
    at = _whatever_read(chosen)
    errors = _errors(at)
    return _curve(at)[0], pd.DataFrame() if errors is None else errors[1]


def _draw_label_sources(chosen: ResultChoice, curve: pd.DataFrame) -> None:
    """The gain by each source of labels, and by judges whose errors are taken out."""
    found = _errors(chosen)
    if found is None:
        return
    person, errors = found
    st.subheader(judge_error_words.TITLE, anchor="judged")
    told = judge_error_words.errors_sentence(errors, person)
    st.markdown(literal(f"{told} {sampled(curve)}"))
    sources = judge_error_words.label_sources(curve, errors)
    sources["Change"] = (
        sources["Difference"] + " (" + sources["95% interval"] + ")"
    )
    # Beside each other, the labels of one detector and the detectors of one source can both be compared.
    beside = sources.pivot(
        index="Labels of", columns="Detector", values="Change"
    )
    rows, columns = (
        sources[name].unique() for name in ("Labels of", "Detector")
    )
    st.html(
        rows_html(
            beside.loc[rows, columns].reset_index(),
            css="cw-cards cw-each",
        )
    )
    draw_method(ABOUT_JUDGES)


def draw_specification_curve(chosen: ResultChoice) -> None:
    """The section; a sentence where no detector has both inputs.

    It is the same whatever rule, credit and annotator the switches name, so that a changed switch computes nothing.
    """
    curve, _, joint = _curve(_whatever_read(chosen))
    if joint is None:
        st.info(
            "No detector of this experiment was asked with both inputs, so there is no difference to vary."
        )
        return
    st.header("Does the conclusion depend on the choices?", anchor="choices")
    st.markdown(specification_words.finding(curve))
    st.html(specification_words.choices_html(curve))
    if figure := choices_figure(chosen):
        with st.container(key=keys.CURVE):
            draw_figure(figure)
    st.markdown(literal(specification_words.joint_finding(joint)))
    titles = in_order(curve["detector_title"].unique().tolist())
    st.markdown(
        bullets(
            specification_words.line(curve[curve["detector_title"] == title])
            for title in titles
        )
    )
    _draw_label_sources(_whatever_read(chosen), curve)


def choices_figure(chosen: ResultChoice) -> ChartFigure | None:
    """The curve; None where no detector has both inputs."""
    curve, readings, joint = _curve(_whatever_read(chosen))
    if joint is None:
        return None
    return ChartFigure(
        "choices",
        [
            finished(
                curve_chart,
                readings,
                specification_words.choices_of(readings),
                specification_words.words(
                    {
                        "rule": chosen.rule,
                        "credit": chosen.credit,
                        "judged_by": specification_curve.NOBODY
                        if chosen.credit is Credit.DETECTION
                        else chosen.annotator,
                    }
                ),
            )
        ],
        shown=_readable(curve),
        numbers=curve,
        caption=captioned(
            specification_words.finding(curve),
            [
                specification_words.joint_finding(joint),
                specification_words.ABOUT,
                sampled(curve),
            ],
            source=chosen.source,
        ),
        note=specification_words.ABOUT,
    )


def _whatever_read(chosen: ResultChoice) -> ResultChoice:
    """The switches without those of the reading, which the curve varies."""
    return chosen._replace(
        rule=VoteRule.MAJORITY, credit=Credit.STRICT, annotator=PUBLISHED_HUMAN
    )


def prepare_caveat() -> None:
    """Compute every reading of the study, which Overview counts in one line."""
    if chosen := study():
        _curve(chosen)


def has_several_judges() -> bool:
    """Whether more than one annotator has labels, without which no conclusion can depend on who judged."""
    return bool(data.who_labelled()["annotator"].nunique() > 1)


def draw_judge_caveat(chosen: ResultChoice) -> None:
    """Overview: one line where the conclusion depends most on who judged, with a way to every reading."""
    words = specification_words.judge_caveat(_curve(chosen)[0], _judges())
    if words is None:
        return
    claim, told = words.split(":", 1)
    st.markdown(f"**{literal(claim)}:**{literal(told)}")
    link(
        "results",
        "Every reading of the same answers",
        **{keys.PART: "Robustness"},
    )


def choices_title(chosen: ResultChoice) -> str | None:
    """What the readings find together, in a sentence; None where no detector has both inputs."""
    curve, _, joint = _curve(_whatever_read(chosen))
    if joint is None:
        return None
    return specification_words.title(curve, _judges())


def _judges() -> frozenset[str]:
    """Annotators that are models."""
    return frozenset(judge_passes(data.store())["annotator"])


def _readable(curve: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            "Vote": row["rule"],
            "Detected if": row["credit"],
            "Judged by": NOTHING
            if row["judged_by"] == specification_curve.NOBODY
            else row["judged_by"],
            "Difference": points(row["difference"]),
            "95% interval": points_interval(row["low"], row["high"]),
            "Test": row["test"],
            "p (Holm)": p_value(row["p_value"]),
            "Finds": row["conclusion"],
            "Instances": row["n"],
        }
        for row in as_rows(curve)
    )

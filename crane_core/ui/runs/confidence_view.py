"""How sure the answers of a run are: whether that comes true, and how often the surest are wrong."""

from collections import Counter

import pandas as pd
import streamlit as st

from crane_core.charts.reliability import against_diagonal, risk_coverage
from crane_core.charts.theme import OF_ANSWERS
from crane_core.pipeline.results import confidence
from crane_core.pipeline.rows import as_rows
from crane_core.storage.answers import RunKey
from crane_core.ui import data, words
from crane_core.ui.caption import captioned
from crane_core.ui.chart_box import draw_figure, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.documentation import help_address

ABOUT = "Each answer counts; lines are 95% intervals by case, since the answers to one case are alike. "
MEANINGS = {
    confidence.ConfidenceKind.STATED: "A confidence is the model's own statement, in percent, "
    "that its detection is right.",
    confidence.ConfidenceKind.TOKENS: "The probability is that of the tokens that spell the detection, "
    "as the endpoint told it.",
}
HEADINGS = {
    confidence.ConfidenceKind.STATED: "Does its confidence come true?",
    confidence.ConfidenceKind.TOKENS: "Does the probability of its words come true?",
}
NAMES = {
    confidence.ConfidenceKind.STATED: "stated confidence",
    confidence.ConfidenceKind.TOKENS: "probability of the tokens",
}
"""On axes and in sentences."""
ABOUT_BINS = (
    "On the dashed line it is how often the answers are right; below it the model is too sure. Larger marks: more "
    "answers."
)
ABOUT_RISK = "From the surest answers at the left to all answers at the right."


@data.kept(data.answers, 16)
def _confidence(
    run: RunKey, kind: confidence.ConfidenceKind
) -> confidence.RunConfidence:
    return confidence.run_confidence(data.store(), run, kind)


def draw_confidence(run: RunKey, title: str) -> None:
    """The sections of a model's run; one sentence where none of its answers has a confidence of either kind."""
    each = [_confidence(run, kind) for kind in confidence.ConfidenceKind]
    usable = [found for found in each if found.right.n]
    if not usable:
        st.caption(f"{none_words(each[0])} {how_to_ask()}")
    for found in usable:
        st.header(HEADINGS[found.kind], anchor=f"confidence-{found.kind}")
        st.markdown(words.bullets(confidence_findings(found)))
        for figure in confidence_figures(found, title):
            draw_figure(figure)
        st.caption(
            ABOUT + MEANINGS[found.kind] + left_out_words(found.left_out)
        )


def how_to_ask() -> str:
    """How a run gets confidences, with a link."""
    return (
        "The wording `with-confidence` of `detect --template` asks for one, and `detect --logprobs` for the "
        f"probability of its tokens: [own models]({help_address('runs')})."
    )


def none_words(found: confidence.RunConfidence) -> str:
    """That there is nothing to calibrate, and why."""
    if not found.n_answers:
        return (
            "No raw reply of this run is loaded, so no confidence can be read."
        )
    return (
        f"None of the {words.quantity(found.n_answers, 'answer')} of this run carries a usable confidence"
        f" ({_reasons(found.left_out)}), so there is no calibration to show."
    )


def left_out_words(left_out: Counter[str]) -> str:
    """The answers that do not count, by reason; nothing where all count."""
    return f" Left out: {_reasons(left_out)}." if left_out else ""


def _reasons(left_out: Counter[str]) -> str:
    return "; ".join(
        f"{words.count(n)}: {reason}" for reason, n in left_out.most_common()
    )


def confidence_findings(found: confidence.RunConfidence) -> list[str]:
    """The confidence against how often it is right, the Brier score, and the surest answers."""
    right, brier = found.right, found.brier
    surest = as_rows(found.risks)[0]
    name = words.sentence_case(NAMES[found.kind])
    return [
        f"{name}: **{words.percent(found.stated)}** on average; right: **{words.percent(right.value)}** "
        f"({words.interval(right.low, right.high)}, {words.quantity(right.n, 'answer')} of "
        f"{words.quantity(right.n_clusters, 'case')}).",
        f"Brier score: **{brier.value:.3f}** ({brier.low:.3f} to {brier.high:.3f}); 0 is best, and always 50% "
        "has 0.250.",
        f"The surest {words.quantity(surest['n'], 'answer')} (confidence from {surest['threshold']:.0f}%, "
        f"{words.percent(surest['coverage'])} of all): **{words.percent(surest['value'])}** wrong "
        f"({words.interval(surest['low'], surest['high'])}).",
    ]


def confidence_figures(
    found: confidence.RunConfidence, title: str
) -> list[ChartFigure]:
    """The reliability diagram and the risk-coverage curve."""
    bins = found.bins.assign(
        detector_title=title, said=[words.percent(x) for x in found.bins["x"]]
    )
    diagram = finished(
        against_diagonal,
        bins,
        said=("said:N", str(found.kind)),
        axes=(NAMES[found.kind], "right answers"),
        counts=OF_ANSWERS,
    )
    findings = confidence_findings(found)
    return [
        ChartFigure(
            f"confidence_{found.kind}",
            [diagram],
            shown=_readable(
                bins,
                {words.sentence_case(NAMES[found.kind]): bins["said"]},
                "Right",
            ),
            numbers=found.bins,
            caption=captioned(
                f"Does the {NAMES[found.kind]} of {title} come true?",
                [ABOUT_BINS, *findings[:2]],
            ),
            note=ABOUT_BINS,
        ),
        ChartFigure(
            f"risk_coverage_{found.kind}",
            [finished(risk_coverage, found.risks)],
            shown=_readable(
                found.risks,
                {
                    "Confidence from": [
                        f"{value:.0f}%" for value in found.risks["threshold"]
                    ],
                    "Answers kept": [
                        words.percent(share)
                        for share in found.risks["coverage"]
                    ],
                },
                "Wrong",
            ),
            numbers=found.risks,
            caption=captioned(
                f"How often are the surest answers of {title} wrong?",
                [ABOUT_RISK, findings[2]],
            ),
            note=ABOUT_RISK,
        ),
    ]


def _readable(
    table: pd.DataFrame, first: dict[str, object], rate: str
) -> pd.DataFrame:
    rows = as_rows(table)
    return pd.DataFrame(
        {
            **first,
            rate: [words.percent(row["value"]) for row in rows],
            "95% interval": [
                words.interval(row["low"], row["high"]) for row in rows
            ],
            "Answers": [row["n"] for row in rows],
            "Cases": [row["n_cases"] for row in rows],
        }
    )

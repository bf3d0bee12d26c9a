"""Consistency: LLM judges with a person, and judges and annotators each with themselves."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.charts.agreement import MARK, forest
from crane_core.domain import JudgeCertificate
from crane_core.pipeline.agreement import agreement
from crane_core.pipeline.agreement.judges_beside import ALL, ON_SCALE
from crane_core.pipeline.judging import certificates
from crane_core.pipeline.rows import as_rows
from crane_core.stats.krippendorff_alpha import NOMINAL
from crane_core.ui import data, words
from crane_core.ui.access import is_leading
from crane_core.ui.agreement import computed, phrases
from crane_core.ui.agreement.computed import AgreementChoice, WithJudges
from crane_core.ui.agreement.scale_html import (
    ScaleRow,
    agreement_row,
    scale_html,
)
from crane_core.ui.caption import captioned
from crane_core.ui.chart_box import draw_figure, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.documentation import help_address
from crane_core.ui.grid import grid

AFTER_LOCK = "its certificate is shown when the campaign is locked"
OF_THEMSELVES = "Do LLM judges agree with themselves?"
OFF_SCALE = "Off the scale: labels that are not about a diagnosis (not detected, unverifiable)."


def draw_gate(chosen: AgreementChoice) -> None:
    """Whether each judge among the annotators may replace a person; the plan of their campaign can name a gate."""
    gate = computed.judge_gate(chosen.campaigns)
    told = _certified(chosen.annotators, gate, has_biases=False)
    if told:
        st.markdown("\n\n".join(told))


def draw_with_judges(chosen: AgreementChoice) -> None:
    """One person against each judge in either order of texts; its single repetitions are computed when opened."""
    found = computed.with_judges(chosen)
    if found is None:
        st.info(
            "No LLM judge has labels here. The published archive brings the study's, on the Data page."
        )
        return
    if _is_withheld(chosen, found.table):
        st.info(
            f"Shown from {agreement.MIN_COMMON_WHEN_BLIND} {chosen.noun} in common on, as the campaign is not locked."
        )
        return
    _draw_differing(chosen)
    draw_figure(judges_figure(found))
    # What is not certified is said of those that are compared above.
    above = _certified(chosen.annotators, 0.0, has_biases=False)
    told = _certified(list(found.table["judge"]), 0.0)
    if more := [one for one in told if one not in above]:
        st.caption("\n\n".join(more))
    fold = st.expander("Single repetitions", key="passes", on_change="rerun")
    if fold.open:
        with fold:
            _draw_single(chosen)


def _certified(
    shown: Sequence[str], gate: float, *, has_biases: bool = True
) -> list[str]:
    """What is certified of each judge among those whose labels are shown, or that nothing is."""
    passes = computed.passes()
    judges = passes.loc[passes["annotator"].isin(shown), "judge"].unique()
    known = certificates.certificates(data.folder())
    # Its rates tell what people said in a campaign, which is hidden until the lock.
    hidden = set() if is_leading() else data.blind_campaigns()
    withheld = {
        judge
        for judge, found in known.items()
        if found.person.partition(": ")[0] in hidden
    }
    return certified_words(
        list(judges), known, withheld, gate=gate, has_biases=has_biases
    )


def certified_words(
    judges: Sequence[str],
    known: Mapping[str, JudgeCertificate],
    withheld: Collection[str] = (),
    *,
    gate: float = 0.0,
    has_biases: bool = True,
) -> list[str]:
    """A sentence per judge, for Markdown, with its biases where it was tested; withheld: judges to say nothing of.

    gate: as of `certificate_words`.
    """
    sentences = []
    for judge in judges:
        if judge in withheld:
            sentences.append(f"{words.literal(judge)}: {AFTER_LOCK}.")
            continue
        found = known.get(judge)
        said = f"{words.sentence_case(judge)}: {certificates.certificate_words(found, gate)}."
        biases = certificates.bias_words(found) if found and has_biases else []
        # The conclusion is bold; then a command that can be typed, and where it is explained.
        conclusion, _, _ = certificates.NOT_CERTIFIED.partition(";")
        sentences.append(
            words.literal(" ".join([said, *biases])).replace(
                words.literal(certificates.NOT_CERTIFIED),
                f"**{words.literal(conclusion)}**; run [`crane judge tune`]({help_address('campaigns')})",
            )
        )
    return sentences


def _is_withheld(chosen: AgreementChoice, table: pd.DataFrame) -> bool:
    """One pass with few in common is enough: its totals would reveal single labels."""
    return (
        bool(chosen.blind_campaigns)
        and table["n"].min() < agreement.MIN_COMMON_WHEN_BLIND
    )


def judges_figure(found: WithJudges) -> ChartFigure:
    """Kappa of a person and each judge."""
    kappa = found.table[found.table["coefficient"] == agreement.KAPPA]
    rows = as_rows(kappa.reset_index(drop=True))
    judges = _short([row["judge"] for row in rows])
    labels = [
        words.with_n(name, row["n"], row["n"])
        for name, row in zip(judges, rows, strict=True)
    ]
    drawn = kappa.reset_index(drop=True).assign(
        label=labels, text=[phrases.beside(row) for row in rows], colour=MARK
    )
    note = (
        f"LLM judges against {words.literal(found.person)}. n: verdicts with two labels on the scale. Lines: 95% "
        "intervals. Reversed: the judge's two texts in the other order."
    )
    looks = {"labels": labels, "coefficient": agreement.KAPPA, "whole": None}
    return ChartFigure(
        "agreement_with_judges",
        [finished(forest, drawn, **looks)],
        shown=_readable(found.table),
        numbers=found.table,
        caption=captioned(
            f"{agreement.KAPPA} of {found.person} and LLM judges",
            [note, phrases.in_caption(judges, rows), phrases.NOT_TESTED],
            source=found.source,
        ),
        note=note,
    )


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    return phrases.readable(
        as_rows(table), {"Judge": "judge", "Coefficient": "coefficient"}
    )


def _draw_single(chosen: AgreementChoice) -> None:
    found = computed.with_judges(chosen, single=True)
    if found is None:
        st.caption("No judge has more than one repetition.")
    elif _is_withheld(chosen, found.table):
        st.caption(
            f"Shown from {agreement.MIN_COMMON_WHEN_BLIND} {chosen.noun} in common on."
        )
    else:
        grid(_readable(found.table), height="content")


def _short(judges: list[str]) -> list[str]:
    """The passes without the name of their judge where there is one judge: a narrow window has no room for it."""
    heads = {name.partition(", ")[0] for name in judges}
    return (
        [name.partition(", ")[2] or name for name in judges]
        if len(heads) == 1
        else judges
    )


def _draw_differing(chosen: AgreementChoice) -> None:
    """How often each judge labels a detected crash differently: of the labels on the scale, and of all."""
    person, table = computed.differs(chosen)
    # The rows count single labels, which a blind campaign hides until its lock.
    if table.empty or chosen.blind_campaigns:
        return
    st.markdown(
        f"**Diagnoses labelled differently than by {words.literal(str(person))}**"
    )
    rows = differing_rows(table)
    _draw_scale(rows, ("Judge", "Differs", "With all its labels"))
    if any(row.about for row in rows):
        st.caption(OFF_SCALE)


def differing_rows(table: pd.DataFrame) -> list[ScaleRow]:
    """A row per judge; `table` as `pipeline.agreement.judge_differs` makes it."""
    shown = []
    names = _short(list(dict.fromkeys(table["judge"])))
    for name, (_, rows) in zip(
        names, table.groupby("judge", sort=False), strict=True
    ):
        of = {row["counted"]: row for row in as_rows(rows)}
        every = of[ALL]
        main = of.get(ON_SCALE, every)
        about = ""
        if n_off := every["n"] - main["n"]:
            share = f"{words.percent(every['value'])} ({words.interval(every['low'], every['high'])})"
            about = f"{share} of all {words.count(every['n'])}, {words.count(n_off)} off the scale"
        shown.append(
            ScaleRow(
                name=name,
                explained="share of diagnoses with another label",
                value=main["value"],
                low=main["low"],
                high=main["high"],
                shown=words.percent(main["value"]),
                between=words.interval(main["low"], main["high"]),
                about=about,
                counted=f"{words.count(main['n_differ'])} of {words.count(main['n'])} diagnoses",
            )
        )
    return shown


def draw_powered(chosen: AgreementChoice) -> None:
    """The share of correct diagnoses by one person's labels, and with the judges' labels of the rest."""
    person, table = computed.powered(chosen)
    if table.empty or chosen.blind_campaigns:
        return
    st.markdown(
        "**Share of correct diagnoses, with the judge's labels of the rest**"
    )
    _draw_scale(
        [_powered_row(row) for row in as_rows(table)],
        ("Person and judge", "Correct", "Beside it"),
    )
    st.caption(
        "Prediction-powered inference: the judge's labels of all diagnoses, corrected by how far they differ from "
        f"those of {words.literal(str(person))} where both labelled. It holds however good the judge is, if the "
        "person's labels are a random sample of the diagnoses. Weight 0: the judge adds nothing."
    )


def _powered_row(row: dict[str, Any]) -> ScaleRow:
    alone = f"{words.percent(row['alone'])} ({words.interval(row['alone_low'], row['alone_high'])})"
    return ScaleRow(
        name=row["judge"],
        explained="prediction-powered inference",
        value=row["value"],
        low=row["low"],
        high=row["high"],
        shown=words.percent(row["value"]),
        between=words.interval(row["low"], row["high"]),
        about=f"person alone {alone}, n {words.count(row['n'])}; the judge "
        f"adds {words.count(row['n_more'])} labels with weight "
        f"{words.coefficient(row['weight'])}",
    )


def _draw_scale(rows: list[ScaleRow], heads: tuple[str, str, str]) -> None:
    st.html(scale_html(rows, heads=heads, ends=("0%", "100%")))


def draw_consistency(chosen: AgreementChoice) -> None:
    """Repetition against repetition, and one order of texts against the other; single repetitions when opened."""
    table = computed.consistency(chosen.scope, single=False)
    st.header(
        OF_THEMSELVES if table.empty else consistency_title(table),
        anchor="consistency",
    )
    if table.empty:
        st.caption("No judge labelled an item twice.")
        return
    _draw_consistency(table)
    st.expander("How this was computed").caption(
        f"Lines: 95% intervals; of percent agreement {phrases.interval_method(agreement.PERCENT)}, of coefficients "
        f"{phrases.interval_method(agreement.KAPPA)}. Alpha: {NOMINAL.name}; kappa: {agreement.KAPPA}. "
        "Of several repetitions, the mean over their pairs. "
        "The study's own measure is the percent agreement of the most frequent labels, over all verdicts."
    )
    fold = st.expander(
        "Normal and reversed order of each repetition",
        key="orders",
        on_change="rerun",
    )
    if fold.open:
        with fold:
            single = computed.consistency(chosen.scope, single=True)
            if single.empty:
                st.caption("No judge has more than one repetition.")
            else:
                _draw_consistency(single)


def consistency_title(table: pd.DataFrame) -> str:
    """What the rows find; the question where they are of several judges, or of repetitions or orders alone."""
    agreed = table[table["coefficient"] == agreement.PERCENT].dropna(
        subset=["value", "low", "high"]
    )
    is_of_orders = agreed["compared"].str.startswith(agreement.BOTH_ORDERS)
    orders, repeats = agreed[is_of_orders], agreed[~is_of_orders]
    if table["judge"].nunique() > 1 or len(orders) != 1 or repeats.empty:
        return OF_THEMSELVES
    [turned] = as_rows(orders)
    is_less = turned["high"] < repeats["low"].min()
    return (
        f"The judge repeats {words.percent(repeats['value'].min())} of its labels, "
        f"{'but only' if is_less else 'and'} {words.percent(turned['value'])} with the two texts reversed"
    )


def _draw_consistency(table: pd.DataFrame) -> None:
    """A row per comparison: percent agreement on the scale, kappa of two or else alpha beside it."""
    rows = []
    # The name of one judge is said once, above.
    first, *others = table["judge"].unique()
    for (judge, compared), group in table.groupby(
        ["judge", "compared"], sort=False
    ):
        of = {row["coefficient"]: row for row in as_rows(group)}
        agreed, kappa = of[agreement.PERCENT], of[agreement.KAPPA]
        corrected = of[NOMINAL.name] if kappa["value"] is None else kappa
        # "kappa" or "alpha": the whole name is in the fold below.
        short = corrected["coefficient"].partition(",")[0].split()[-1]
        rows.append(
            agreement_row(
                f"{judge}: {compared}" if others else str(compared),
                f"percent agreement; corrected: {corrected['coefficient']}",
                agreed,
                f"{short} {_with_interval(corrected)}",
                f"n {words.count(agreed['n'])}, {words.count(agreed['n_cases'])} cases",
            )
        )
    head = "Compared" if others else words.sentence_case(str(first))
    _draw_scale(rows, (head, "Agree", "Corrected for chance"))


def _with_interval(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return words.NOTHING
    if row["low"] is None:
        return f"{phrases.value(row)} ({phrases.NO_INTERVAL})"
    # The interval stays on one line.
    return (
        f"{phrases.value(row)} ({phrases.bounds(row).replace(' ', chr(160))})"
    )


def draw_repeats() -> None:
    """Self-agreement per annotator of every campaign; without repeats yet, how they come about."""
    table = computed.repeats()
    if len(table) and not is_leading():
        table = table[~table["campaign"].isin(data.blind_campaigns())]
    if table.empty:
        st.caption(
            "No hidden repeat has been labelled yet. A campaign shows about one item in twenty again to its "
            "annotator, at least 20 items later; these second labels count only here."
        )
        return
    rows = as_rows(table)
    shown = phrases.readable(
        rows,
        {"Annotator": "annotator", "Coefficient": "coefficient"},
        with_remarks=False,
    )
    grid(shown, width=720, height="content")
    if told := phrases.remarks(
        [
            row | {"who": f"{row['coefficient']} of {row['annotator']}"}
            for row in rows
        ],
        "who",
    ):
        st.caption(told)
    st.caption(
        f"Over hidden repeats. 95% interval of percent agreement: {phrases.interval_method(agreement.PERCENT)}; "
        f"of kappa: {phrases.interval_method(agreement.KAPPA)}."
    )

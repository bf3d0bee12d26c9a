"""Consistency: LLM judges with a person, and judges and annotators each with themselves."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from crane_core.charts.agreement import MARK, forest
from crane_core.pipeline.agreement.agreement import (
    KAPPA,
    MIN_COMMON_WHEN_BLIND,
    PERCENT,
)
from crane_core.pipeline.agreement.judge_differs import ALL, ON_SCALE
from crane_core.pipeline.rows import as_rows
from crane_core.stats.krippendorff_alpha import NOMINAL
from crane_core.ui import data
from crane_core.ui.access import is_leading
from crane_core.ui.agreement import computed
from crane_core.ui.agreement.computed import AgreementChoice
from crane_core.ui.agreement.phrases import (
    NO_INTERVAL,
    beside,
    bounds,
    interval_method,
    readable,
    remarks,
    value,
)
from crane_core.ui.chart_box import draw_chart, finished
from crane_core.ui.grid import grid
from crane_core.ui.words import (
    NOTHING,
    bullets,
    coefficient,
    count,
    interval,
    literal,
    percent,
)


def draw_with_judges(chosen: AgreementChoice) -> None:
    """One person against each repetition and order of each judge."""
    person, table = computed.with_judges(chosen)
    if table.empty:
        st.info(
            "No LLM judge has labels here. The published archive brings the study's, on the Data page."
        )
        return
    # One pass with few in common is enough: its totals would reveal single labels.
    if chosen.blind_campaigns and table["n"].min() < MIN_COMMON_WHEN_BLIND:
        st.info(
            f"Shown from {MIN_COMMON_WHEN_BLIND} {chosen.noun} in common on, as the campaign is not locked."
        )
        return
    kappa = table[table["coefficient"] == KAPPA].reset_index(drop=True)
    rows = as_rows(kappa)
    labels = [
        f"{name}  n {count(row['n'])}"
        for name, row in zip(
            _short([row["judge"] for row in rows]), rows, strict=True
        )
    ]
    drawn = kappa.assign(
        label=labels, text=[beside(row) for row in rows], colour=MARK
    )
    draw_chart(
        finished(forest, drawn, labels=labels, coefficient=KAPPA, whole=None),
        readable(
            as_rows(table), {"Judge": "judge", "Coefficient": "coefficient"}
        ),
        numbers=table,
        name="agreement_with_judges",
        note=f"{literal(str(person))} against each pass of a judge. n: {chosen.noun} with two labels on the scale. "
        "Lines: 95% intervals. Reversed: the judge's two texts in the other order.",
    )


def _short(judges: list[str]) -> list[str]:
    """The passes without the name of their judge where there is one judge: a narrow window has no room for it."""
    heads = {name.partition(", ")[0] for name in judges}
    return (
        [name.partition(", ")[2] or name for name in judges]
        if len(heads) == 1
        else judges
    )


def draw_differs(chosen: AgreementChoice) -> None:
    """How often each judge labels a detected crash differently: of the labels on the scale, and of all."""
    person, table = computed.differs(chosen)
    # The sentences count single labels, which a blind campaign hides until its lock.
    if table.empty or chosen.blind_campaigns:
        return
    st.markdown(bullets(differing_words(str(person), table)))


def differing_words(person: str, table: pd.DataFrame) -> list[str]:
    """A sentence per judge; `table` as `pipeline.agreement.judge_differs` makes it."""
    sentences = []
    for judge, rows in table.groupby("judge", sort=False):
        of = {row["counted"]: row for row in as_rows(rows)}
        every = of[ALL]
        said = f"{literal(str(judge))} differs from {literal(person)} in {_share(of.get(ON_SCALE, every))}"
        n_off = every["n"] - of[ON_SCALE]["n"] if ON_SCALE in of else 0
        if n_off:
            off = f"{count(n_off)} labels that are not about a diagnosis (not detected, unverifiable)"
            said += f"; with its {off} in {_share(every)}"
        sentences.append(f"{said}.")
    return sentences


def _share(row: dict[str, Any]) -> str:
    bounds = interval(row["low"], row["high"])
    return f"{count(row['n_differ'])} of {count(row['n'])} diagnoses, **{percent(row['value'])}** ({bounds})"


def draw_powered(chosen: AgreementChoice) -> None:
    """The share of correct diagnoses by one person's labels, and with the judges' labels of the rest."""
    person, table = computed.powered(chosen)
    if table.empty or chosen.blind_campaigns:
        return
    grid(
        pd.DataFrame(
            {
                "Judge": row["judge"],
                "Correct, person only": percent(row["alone"]),
                "95% interval": interval(row["alone_low"], row["alone_high"]),
                "Correct, with the judge": percent(row["value"]),
                "95% interval, with the judge": interval(
                    row["low"], row["high"]
                ),
                "Labelled by both": row["n"],
                "By the judge only": row["n_more"],
                "Weight of the judge": coefficient(row["weight"]),
            }
            for row in as_rows(table)
        ),
        height="content",
    )
    st.caption(
        "Prediction-powered inference: the judge's labels of all diagnoses, corrected by how far they differ from "
        f"those of {literal(str(person))} where both labelled. It holds however good the judge is, if the person's "
        "labels are a random sample of the diagnoses. Weight 0: the judge adds nothing."
    )


def draw_consistency(chosen: AgreementChoice) -> None:
    """Repetition against repetition, and one order of texts against the other."""
    table = computed.consistency(chosen.scope)
    if table.empty:
        st.caption("No judge labelled an item twice.")
        return
    rows = as_rows(table)
    shown = [
        {"Judge": judge, "Compared": compared}
        | _columns([r for r in rows if _is_of(r, judge, compared)])
        for judge, compared in table[["judge", "compared"]]
        .drop_duplicates()
        .itertuples(index=False)
    ]
    grid(pd.DataFrame(shown), height="content")
    st.caption(
        f"In brackets: 95% intervals; of percent agreement {interval_method(PERCENT)}, of the others "
        f"{interval_method(KAPPA)}. Of several repetitions, the mean over their pairs; kappa is of two. "
        "The study's own measure is the percent agreement of the most frequent labels, over all verdicts."
    )


def _is_of(row: dict[str, Any], judge: str, compared: str) -> bool:
    return bool(row["judge"] == judge and row["compared"] == compared)


def _columns(rows: list[dict[str, Any]]) -> dict[str, str]:
    of = {row["coefficient"]: row for row in rows}
    texts = {name: _with_interval(row) for name, row in of.items()}
    n = {
        "n": count(max(row["n"] for row in rows)),
        "Cases": count(max(row["n_cases"] for row in rows)),
    }
    return {name: texts[name] for name in (PERCENT, KAPPA, NOMINAL.name)} | n


def _with_interval(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return NOTHING
    return (
        f"{value(row)} ({NO_INTERVAL if row['low'] is None else bounds(row)})"
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
    shown = readable(
        rows,
        {"Annotator": "annotator", "Coefficient": "coefficient"},
        with_remarks=False,
    )
    grid(shown, width=720, height="content")
    if told := remarks(
        [
            row | {"who": f"{row['coefficient']} of {row['annotator']}"}
            for row in rows
        ],
        "who",
    ):
        st.caption(told)
    st.caption(
        f"Over hidden repeats. 95% interval of percent agreement: {interval_method(PERCENT)}; of kappa: "
        f"{interval_method(KAPPA)}."
    )

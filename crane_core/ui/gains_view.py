"""The headline: what one input changes against another, per detector, with how sure one can be."""

import math
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.charts.gains import gains
from crane_core.charts.theme import in_order
from crane_core.pipeline.results import case_measures, measures
from crane_core.pipeline.results.outcomes import under_bound
from crane_core.pipeline.rows import as_rows
from crane_core.stats.outcome import DIRECTED, Outcome
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from crane_core.ui import data, words
from crane_core.ui.caption import p_sentence, sampled
from crane_core.ui.chart_box import draw_figure, draw_method, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.gains_words import headline
from crane_core.ui.label_coverage import draw_coverage
from crane_core.ui.model_across_view import draw_model_across
from crane_core.ui.one_input_view import draw_one_input
from crane_core.ui.outcome_words import comparison_cells, smaller_sentence
from crane_core.ui.plan_view import draw_exploratory
from crane_core.ui.result_switches import STUDY, ResultChoice
from crane_core.ui.rows_html import rows_html

PRINTED_IN = {measures.Credit.STRICT: "2a", measures.Credit.DETECTION: "2b"}
TEST_WORDS = {
    measures.PairedTest.MCNEMAR: "on the instances that only one input has right",
    measures.PairedTest.SIGN_FLIP: "(the difference of each case takes either sign by chance)",
    measures.PairedTest.SWAP: "(the two inputs of each case change places by chance)",
}
SAMPLED = "Not tested: the labels of a sample stand for others, so it is unknown which instance is right."


@data.kept(data.answers, 16, copied=True)
def compared(chosen: ResultChoice) -> case_measures.Compared:
    """The comparison for these switches."""
    # With the published labels the database counts; those of others have to be laid over each row.
    found = (
        _by_row(chosen)
        if chosen.annotator != PUBLISHED_HUMAN
        else _by_case(chosen)
    )
    if found.comparison.empty:
        return found
    decided = under_bound(found.comparison, chosen.bound)
    titles = in_order(found.comparison["detector_title"].tolist())
    return found._replace(
        comparison=decided.set_index("detector_title", drop=False).loc[titles]
    )


def _by_case(chosen: ResultChoice) -> case_measures.Compared:
    how: Any = {
        "rule": chosen.rule,
        "credit": chosen.credit,
        "inputs": chosen.inputs,
    }
    return case_measures.compared_by_case(
        data.store(), chosen.benchmark, chosen.conditions(), **how
    )


def _by_row(chosen: ResultChoice) -> case_measures.Compared:
    """Where the labels of a sample may stand for others, which takes every instance."""
    asked = chosen.rows()
    asked = asked[asked["setting"].isin(chosen.inputs)]
    how: Any = {
        "rule": chosen.rule,
        "credit": chosen.credit,
        "inputs": chosen.inputs,
    }
    rows = measures.paired_rows(asked, **how)
    comparison = measures.gain_table(rows, **how)
    is_shown = rows["experiment"].isin(chosen.beside)
    # A run beside the study is shown with one input, too; a detector of the study only where it has both.
    is_shown |= rows["detector"].isin(
        comparison["detector"] if not comparison.empty else []
    )
    values = measures.rate_table(
        rows[is_shown],
        by=case_measures.BY,
        rate="Accuracy",
        rule=chosen.rule,
        credit=chosen.credit,
    )
    left_out = (
        asked[~asked.index.isin(rows.index)]
        .groupby("detector_title")["instance_id"]
        .nunique()
    )
    return case_measures.Compared(
        comparison,
        values,
        {str(title): int(n) for title, n in left_out.items()},
    )


def gain_figure(chosen: ResultChoice) -> ChartFigure:
    """The dumbbells; some detector has one of the inputs."""
    comparison, values, n_unpaired = compared(chosen)
    printed = _printed_accuracy(chosen)
    n_of = values.groupby("detector_title")["n"].agg(["min", "max"])
    drawn = values.assign(
        label=[
            words.with_n(title, *n_of.loc[title])
            for title in values["detector_title"]
        ],
        setting=values["setting"].map(words.setting_short),
        text=[
            f"{words.setting_short(s)} {words.percent(v)}"
            for s, v in zip(values["setting"], values["value"], strict=True)
        ],
    )
    drawn["printed"] = [
        printed.get(key, math.nan)
        for key in zip(drawn["detector_title"], drawn["setting"], strict=True)
    ]
    base, other = chosen.inputs
    note = f"Hollow: {words.setting_words(base)}. Filled: {words.setting_words(other)}. Lines: 95% intervals by case."
    note += (
        " Thin upright marks: the paper's printed values."
        if drawn["printed"].notna().any()
        else ""
    )
    note += "".join(
        f" {title}: {words.count(n)} instances without an outcome with both inputs are left out."
        for title, n in n_unpaired.items()
    )
    numbers = drawn.drop(columns=["text", "label"]).assign(
        setting=values["setting"]
    )
    if not comparison.empty:
        # Rates and changes each have an n; in the download it is that of the rate.
        changes = comparison.drop(columns=["n", "n_cases"]).reset_index(
            drop=True
        )
        numbers = numbers.merge(
            changes,
            on="detector_title",
            how="left",
            suffixes=("", "_of_change"),
        )
    inputs = words.setting_short(base), words.setting_short(other)
    name = (
        "accuracy_gain"
        if chosen.inputs == measures.WITH_STATE
        else f"accuracy_{base}_to_{other}"
    )
    return ChartFigure(
        name,
        [finished(gains, drawn, inputs=inputs)],
        shown=None if comparison.empty else readable(comparison, inputs),
        numbers=numbers,
        caption=chosen.captioned(
            headline(comparison, chosen.kind, chosen.inputs),
            note,
            sampled(values),
            p_sentence(comparison),
        ),
        note=note,
    )


def draw_gains(chosen: ResultChoice) -> None:
    """The dumbbells alone, whose table is on the page."""
    draw_figure(gain_figure(chosen), is_table_on_page=True)


def draw_runtime_state(chosen: ResultChoice) -> None:
    """The section of Results: the dumbbells, the paired comparison with its n, and what its tests assume."""
    comparison, values, _ = compared(chosen)
    if values.empty:
        draw_one_input(chosen)
        return
    st.header("Accuracy with each input", anchor="gain")
    draw_gains(chosen)
    if not comparison.empty:
        base, other = chosen.inputs
        shown = readable(
            comparison, (words.setting_short(base), words.setting_short(other))
        )
        st.html(rows_html(shown))
        draw_method(*_about_tests(comparison), smaller_sentence(comparison))
        draw_exploratory(chosen)
    draw_coverage(chosen)
    draw_model_across(chosen)


def _about_tests(comparison: pd.DataFrame) -> list[str]:
    """What the p-values and the minimum detectable difference assume, and why an interval and a test may disagree."""
    tested = comparison[comparison["test"].notna()]
    if tested.empty:
        return (
            [SAMPLED]
            if (comparison["outcome"] == Outcome.NOT_TESTED).any()
            else []
        )
    test, n = measures.PairedTest(tested["test"].iloc[0]), len(tested)
    said = [
        f"p: {test} {TEST_WORDS[test]}, Holm-adjusted over the detectors shown."
    ]
    if test is measures.PairedTest.MCNEMAR:
        said[0] += (
            " It takes instances as independent; p by case flips whole cases, because the two notebooks of a case are"
            " alike. A gain or a loss is what both tests find at the 5% level."
        )
        said.append(
            "Minimum detectable difference: what the exact McNemar test at Holm's strictest step (0.05 / "
            f"{n}) would find with 80% power, if as many instances differ as here."
        )
    # The interval is of one detector, the tests are adjusted over several: a reader who sees zero inside one
    # and a finding beside it has to read why.
    apart = [
        row["detector_title"]
        for row in as_rows(tested)
        if (row["outcome"] in DIRECTED) != (row["low"] > 0 or row["high"] < 0)
    ]
    if apart:
        said.append(
            f"{', '.join(apart)}: the interval leads to another conclusion than the tests, which decide the outcome. It"
            " is of this detector alone and goes by cases; p is adjusted for several detectors."
        )
    return said


def _printed_accuracy(chosen: ResultChoice) -> dict[tuple[str, str], float]:
    is_printed = (
        chosen.experiment == STUDY
        and chosen.inputs == measures.WITH_STATE
        and chosen.credit in PRINTED_IN
    )
    # The paper prints the majority of five runs; under another rule its numbers would be compared with
    # something else.
    if not is_printed or chosen.rule is not measures.VoteRule.MAJORITY:
        return {}
    numbers = data.printed_numbers()
    rows = numbers[
        (numbers["publication"] == "paper")
        & (numbers["table_id"] == PRINTED_IN[chosen.credit])
    ]
    shown = {"Accuracy (-RT)": "−RT", "Accuracy (+RT)": "+RT"}
    rows = rows[rows["column"].isin(shown)]
    return {
        (row["row"], shown[row["column"]]): float(
            row["printed"].removesuffix("%")
        )
        / 100
        for row in as_rows(rows)
    }


def readable(comparison: pd.DataFrame, inputs: tuple[str, str]) -> pd.DataFrame:
    """The comparison as people read it: one row per detector."""
    rows = as_rows(comparison)
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            f"Accuracy {inputs[0]}": words.percent(row["without"]),
            f"Accuracy {inputs[1]}": words.percent(row["with_"]),
            **comparison_cells(row),
            "Minimum detectable": words.points(row["detectable"]).lstrip("+"),
            "Instances": row["n"],
            "Cases": row["n_cases"],
        }
        for row in rows
    )

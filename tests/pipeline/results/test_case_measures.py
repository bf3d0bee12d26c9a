"""The comparison from counts per case against the one from rows: on the published study, and on random answers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core import domain
from crane_core.domain import AnnotatorKind, DetectorKind, Record, Setting
from crane_core.pipeline.results.case_measures import (
    BY,
    Compared,
    compared_by_case,
)
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.results.measures import (
    Credit,
    Inputs,
    VoteRule,
    gain_table,
    paired_rows,
    rate_table,
)
from crane_core.pipeline.study.table_scores import BENCHMARK, STUDY
from crane_core.storage import write
from crane_core.storage.case_counts import conditions
from crane_core.storage.inventory import empty
from crane_core.storage.store import Store
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from tests.examples import examples

RULES = list(itertools.product(VoteRule, Credit))
TEXTS = ["detector", "detector_title", "test", "setting", "outcome"]


def by_row(frame: pd.DataFrame, rate: str, asked: dict[str, Any]) -> Compared:
    """The same from the verdict frame: every instance in Python."""
    both = frame[frame["setting"].isin(asked["inputs"])]
    rows = paired_rows(both, **asked)
    gains = gain_table(rows, rate=rate, **asked)
    is_compared = rows["detector"].isin(gains["detector"] if len(gains) else [])
    rule = {name: asked[name] for name in ("rule", "credit")}
    rates = rate_table(rows[is_compared], by=BY, rate=rate, **rule)
    left_out = (
        both[~both.index.isin(rows.index)]
        .groupby("detector_title")["instance_id"]
        .nunique()
    )
    return Compared(
        gains, rates, {str(name): int(n) for name, n in left_out.items()}
    )


def shown_of(store: Store, experiment: str) -> pd.DataFrame:
    known = conditions(store.cursor()).query("experiment == @experiment")
    return known.assign(asked=known["detector"], is_beside=False)


def assert_same(counted: Compared, rows: Compared) -> None:
    for ours, theirs, key in (
        (counted.comparison, rows.comparison, ["detector"]),
        (counted.rates, rows.rates, BY),
    ):
        assert len(ours) == len(theirs)
        if len(ours):
            ours, theirs = (
                table.sort_values(key).reset_index(drop=True)[theirs.columns]
                for table in (ours, theirs)
            )
            numbers = [name for name in theirs if name not in TEXTS]
            assert ours[[n for n in TEXTS if n in ours]].equals(
                theirs[[n for n in TEXTS if n in theirs]]
            )
            found = [
                table[numbers].to_numpy(dtype=float) for table in (ours, theirs)
            ]
            np.testing.assert_allclose(*found, rtol=0, atol=1e-12)
    assert counted.n_unpaired == rows.n_unpaired


@pytest.mark.parametrize(("rule", "credit"), RULES)
@pytest.mark.parametrize("rate", ["Accuracy", "Recall"])
def test_counts_per_case_give_what_the_rows_of_the_study_give(
    embedded_store: Store,
    study: pd.DataFrame,
    rule: VoteRule,
    credit: Credit,
    rate: str,
) -> None:
    asked: dict[str, Any] = {
        "rule": rule,
        "credit": credit,
        "inputs": Inputs(Setting.CODE, Setting.RUNTIME),
    }
    shown = shown_of(embedded_store, STUDY)
    counted = compared_by_case(
        embedded_store, BENCHMARK, shown, rate=rate, **asked
    )
    theirs = by_row(study, rate, asked)
    if rate == "Recall":
        counted, theirs = (
            counted._replace(n_unpaired={}),
            theirs._replace(n_unpaired={}),
        )
    assert len(counted.comparison) >= 3
    assert_same(counted, theirs)


ANSWER = st.sampled_from([True, False, None])
LABELS = st.sampled_from(
    [None, "correct", "partial", "wrong", "misdetected", "unverifiable"]
)
ONE = st.tuples(st.lists(ANSWER, min_size=0, max_size=3), LABELS)
"""The answers to an instance in one setting, none if it was not asked, and the label of their verdict."""
CASES = st.lists(st.lists(ONE, min_size=4, max_size=4), min_size=1, max_size=8)
"""Of each case the crashing and the fixed notebook, each with code alone and with runtime state."""


def records(
    cases: list[list[tuple[list[bool | None], str | None]]],
) -> list[Record]:
    found: list[Record] = [
        domain.Benchmark("b", "B"),
        domain.Detector("d", "D", DetectorKind.LLM),
    ]
    for number, answered in enumerate(cases):
        found.append(domain.Case("b", f"c_{number}"))
        asked = itertools.product(
            ("reproduced", "fixed"), (Setting.CODE, Setting.RUNTIME)
        )
        found += [
            domain.Instance("b", f"c_{number}", version)
            for version in domain.Version
        ]
        for (version, setting), (answers, label) in zip(
            asked, answered, strict=True
        ):
            key = ("b", f"c_{number}_{version}", "d", setting, "e")
            found += [
                domain.Run(*key, k, crashes)
                for k, crashes in enumerate(answers, start=1)
            ]
            if label and answers:
                found.append(
                    domain.Judgement(
                        *key, PUBLISHED_HUMAN, AnnotatorKind.HUMAN, label
                    )
                )
    return found


@pytest.mark.slow
@examples(30 * len(RULES))
@given(cases=CASES, rule_and_credit=st.sampled_from(RULES))
def test_counts_per_case_give_what_the_rows_of_any_answers_give(
    emptied_store: Store,
    cases: list[list[tuple[list[bool | None], str | None]]],
    rule_and_credit: tuple[VoteRule, Credit],
) -> None:
    rule, credit = rule_and_credit
    emptied_store.write(empty)
    emptied_store.write(
        lambda cursor: write.add_records(
            cursor, records(cases), source_id="random"
        )
    )
    frame, shown = verdict_frame(emptied_store), shown_of(emptied_store, "e")
    asked: dict[str, Any] = {
        "rule": rule,
        "credit": credit,
        "inputs": Inputs(Setting.CODE, Setting.RUNTIME),
    }
    assert_same(
        compared_by_case(emptied_store, "b", shown, **asked),
        by_row(frame, "Accuracy", asked),
    )

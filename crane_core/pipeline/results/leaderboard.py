"""The leaderboard: every detector with every input on one benchmark, ranked as far as paired tests reach.

Takes the verdict frame as one annotator judged it, of one benchmark. A board has one vote rule and one scoring policy,
so that strict accuracy and detection alone are never in one order. What answered too few of the board's instances, or
lacks labels, is on the board without a rank, with the reason.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.domain import EXECUTED_KINDS, DetectorKind
from crane_core.llm.prices import list_price
from crane_core.pipeline.results import input_cost, measures
from crane_core.pipeline.rows import as_rows
from crane_core.stats import ranking, rates
from crane_core.stats.ranking import PairTest, RankRange
from crane_core.storage.verdicts import PUBLISHED_HUMAN

KEY = ["experiment", "detector", "setting"]
NAMES = ["detector_title", "detector_kind"]
COMPLETE = 0.95
"""The share of the board's instances that a ranked row has an outcome for: a few failed answers exclude no row."""
QUESTIONS = 1_000
"""Prices are for this many answers."""
OTHER_RATES = {"Precision": "precision", "Recall": "recall", "F1": "f1"}


class BoardPolicy(NamedTuple):
    """What one board counts: rule and credit as in `measures`, and whose labels; none for detection alone."""

    benchmark: str
    rule: measures.VoteRule = measures.VoteRule.MAJORITY
    credit: measures.Credit = measures.Credit.STRICT
    annotator: str = ""


class Board(NamedTuple):
    """A board and the tests behind its ranks.

    rows: the ranked ones by accuracy, the best first, then those without a rank. Columns: KEY, NAMES, is_own (a job of
    this data folder), best and worst (rank range, nan without a rank), groups (a tuple of numbers of the brackets
    that the row is in), why_unranked (None for ranked rows), value, low, high (accuracy, 95% interval by case),
    precision, recall, f1 (shares, nan where undefined), n, n_cases, n_asked (instances with an answer), k (the most
    answers to one question), n_flips
    (instances whose repeats differ, nan where each has one answer), n_labelled of n_to_label, tokens (mean per answer),
    usd (per QUESTIONS answers), is_input_only (tokens and usd are of the input, at list price), seconds (median per
    answer). tests: of every pair of ranked rows, by their place. n_groups: how many brackets. n_instances: those that
    any row answers.
    """

    policy: BoardPolicy
    rows: pd.DataFrame
    tests: list[PairTest]
    n_groups: int
    n_instances: int

    @property
    def ranked(self) -> pd.DataFrame:
        """The rows with a rank."""
        return self.rows[self.rows["why_unranked"].isna()]


def leaderboard(
    judged: pd.DataFrame,
    runs: pd.DataFrame,
    policy: BoardPolicy,
) -> Board:
    """The board of the rows of one benchmark, as `policy.annotator` judged them.

    judged: of the verdict frame. runs: `run_list.run_list`. What was executed, a rehearsal or repair, predicts nothing
    and is on no board.
    """
    frame = judged[~judged["detector_kind"].isin(EXECUTED_KINDS)]
    frame = frame.reset_index(drop=True)
    if frame.empty:
        return Board(policy, _no_rows(), [], 0, 0)
    right = _outcome_table(frame, policy)
    rows = _rates(frame, policy).merge(
        _known(frame, policy, right), on=KEY, how="left"
    )
    rows = rows.merge(cost_of_runs(runs, policy.benchmark), on=KEY, how="left")
    rows["is_own"] = rows["is_own"].eq(other=True)
    rows = with_cost(rows, frame)
    n_instances = right.values.shape[1]
    rows["why_unranked"] = [
        _why_unranked(row, n_instances, policy) for row in as_rows(rows)
    ]
    # A rate over the instances that happen to need no label would be of another population.
    lacks_labels = rows["n_labelled"] < COMPLETE * rows["n_to_label"]
    hidden = ["value", "low", "high", *OTHER_RATES.values()]
    rows.loc[lacks_labels & ~rows["is_sampled"], hidden] = np.nan
    rows = _in_order(rows)
    return _ranked(rows, right, policy, n_instances)


class _OutcomeTable(NamedTuple):
    """values: outcomes in 0..1, a row per condition and a column per instance, nan for none; case: of each column."""

    conditions: list[Any]
    values: NDArray[np.float64]
    case: NDArray[np.intp]


def _outcome_table(frame: pd.DataFrame, policy: BoardPolicy) -> _OutcomeTable:
    of = measures.outcomes(frame, policy.rule, policy.credit)
    parts = rates.confusion_parts(of.truth, of.predicted, credit=of.worth)
    found = np.where(
        np.asarray(parts.left_out) > 0,
        np.nan,
        np.asarray(parts.tp) + np.asarray(parts.tn),
    )
    is_answered = ~np.isnan(of.predicted)
    grouped = frame.groupby(KEY, sort=False, observed=True)
    instance, names = pd.factorize(frame["instance_id"].where(is_answered))
    table = np.full((grouped.ngroups, len(names)), np.nan)
    place = grouped.ngroup().to_numpy()
    table[place[is_answered], instance[is_answered]] = found[is_answered]
    case = np.zeros(len(names), dtype=np.intp)
    case[instance[is_answered]] = pd.factorize(frame["case_id"])[0][is_answered]
    conditions = frame.drop_duplicates(KEY)[KEY]
    return _OutcomeTable(
        list(conditions.itertuples(index=False, name=None)), table, case
    )


def _rates(frame: pd.DataFrame, policy: BoardPolicy) -> pd.DataFrame:
    """Accuracy with its interval and counts, and the other rates, per condition."""
    how: Any = {
        "by": [*KEY, *NAMES],
        "rule": policy.rule,
        "credit": policy.credit,
    }
    table = measures.rate_table(frame, rate="Accuracy", **how)
    table = table.drop(columns=["part", "whole"])
    for rate, name in OTHER_RATES.items():
        table[name] = measures.rate_table(frame, rate=rate, **how)["value"]
    return table


def _known(
    frame: pd.DataFrame, policy: BoardPolicy, right: _OutcomeTable
) -> pd.DataFrame:
    """How many instances have an answer and an outcome, and whether labels of a sample stand for others."""
    n_answers = frame["n_crash"] + frame["n_safe"]
    by = frame.assign(n_answers=n_answers, is_asked=n_answers > 0).groupby(
        KEY, sort=False, observed=True
    )
    found = by.agg(
        n_asked=("is_asked", "sum"), k=("n_answers", "max")
    ).reset_index()
    known = pd.DataFrame(right.conditions, columns=KEY).assign(
        n_known=(~np.isnan(right.values)).sum(axis=1),
        is_sampled=[
            measures.is_sampled(rows, policy.rule, policy.credit)
            for _, rows in by
        ],
    )
    return found.merge(known, on=KEY)


def cost_of_runs(runs: pd.DataFrame, benchmark: str) -> pd.DataFrame:
    """What the list of runs knows of each condition: whose it is, repeats that differ, tokens, price and time."""
    of = runs[runs["benchmark"] == benchmark]
    answers = of["n_answers"].where(of["n_answers"] > 0).astype(float)
    has_repeats = of["agreement"].notna()
    tokens = of["input_tokens"].astype(float) + of["output_tokens"].astype(
        float
    )
    return of[KEY].assign(
        is_own=of["is_job"].astype(bool),
        n_flips=of["n_flips"].astype(float).where(has_repeats),
        tokens=tokens / answers,
        usd=QUESTIONS * of["usd"].astype(float) / answers,
        seconds=of["seconds_median"].astype(float),
    )


def with_cost(rows: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """Of imported models, whose replies do not say it, the tokens of the inputs and their list price."""
    facts = input_cost.published_tokens()
    facts = facts[facts["instance_id"].isin(frame["instance_id"])]
    mean = facts.groupby(["experiment", "setting"])["tokens"].mean()
    is_model = rows["detector_kind"] == DetectorKind.LLM
    inputs = [
        mean.get(key, np.nan)
        for key in zip(rows["experiment"], rows["setting"], strict=True)
    ]
    is_input_only = is_model & ~rows["is_own"]
    priced = [list_price(name) for name in rows["detector"]]
    usd = [
        np.nan if price is None else QUESTIONS * mean * price.input / 1_000_000
        for mean, price in zip(inputs, priced, strict=True)
    ]
    return rows.assign(
        # Without a model nothing is asked for tokens.
        tokens=rows["tokens"].where(~is_input_only, inputs).where(is_model, 0),
        usd=rows["usd"].where(~is_input_only, usd).where(is_model, 0),
        is_input_only=is_input_only,
    )


def _why_unranked(
    row: dict[str, Any], n_instances: int, policy: BoardPolicy
) -> str | None:
    if row["is_sampled"]:
        return "labels of a sample stand for others, so pairs cannot be tested"
    if row["n_known"] >= COMPLETE * n_instances:
        return None
    if row["n_asked"] < COMPLETE * n_instances:
        return f"answers {row['n_asked']:,} of {n_instances:,} instances"
    return (
        f"{row['n_labelled']:,} of {row['n_to_label']:,} detected crashes have a label"
        + (f" by {policy.annotator}" if policy.annotator else "")
    )


def _in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Ranked rows first; by accuracy, then by name, so that equal ones keep their order."""
    is_ranked = rows["why_unranked"].isna()
    ordered = rows.assign(is_unranked=~is_ranked).sort_values(
        ["is_unranked", "value", "detector_title", "experiment", "setting"],
        ascending=[True, False, True, True, True],
        kind="stable",
    )
    return ordered.drop(columns="is_unranked").reset_index(drop=True)


def _ranked(
    rows: pd.DataFrame,
    right: _OutcomeTable,
    policy: BoardPolicy,
    n_instances: int,
) -> Board:
    """The rows with rank ranges and brackets, of tests over all pairs of those that are ranked."""
    n_ranked = int(rows["why_unranked"].isna().sum())
    names = rows[KEY].head(n_ranked).itertuples(index=False, name=None)
    places = [right.conditions.index(name) for name in names]
    tests = ranking.pair_tests(
        right.values[places], right.case, seed=measures.SEED
    )
    better = ranking.shown_better(n_ranked, tests)
    ranges = ranking.rank_ranges(better)
    groups = ranking.letter_groups(better | better.T)
    mine = [
        tuple(number for number, group in enumerate(groups) if place in group)
        for place in range(len(rows))
    ]
    rows = rows.assign(
        best=_of_ranked((one.best for one in ranges), len(rows)),
        worst=_of_ranked((one.worst for one in ranges), len(rows)),
        groups=pd.Series(mine, index=rows.index, dtype=object),
    )
    return Board(policy, rows, tests, len(groups), n_instances)


def _of_ranked(ranks: Iterable[int], n_rows: int) -> list[float]:
    found = [float(rank) for rank in ranks]
    return found + [np.nan] * (n_rows - len(found))


def usual_boards(verdicts: pd.DataFrame, runs: pd.DataFrame) -> list[Board]:
    """The boards of every benchmark: by correct diagnosis where people of a study judged, and by detection alone."""
    found = []
    for benchmark, rows in verdicts.groupby("benchmark", sort=False):
        is_judged = bool(rows["human"].notna().any())
        policies = [
            BoardPolicy(str(benchmark), credit=measures.Credit.DETECTION)
        ]
        if is_judged:
            strict = BoardPolicy(str(benchmark), annotator=PUBLISHED_HUMAN)
            policies.insert(0, strict)
        found += [leaderboard(rows, runs, policy) for policy in policies]
    return found


def rank_words(best: float, worst: float) -> str:
    """A rank range as people write it: "1", "2–5"; a dash without a rank."""
    if np.isnan(best):
        return "–"
    first, last = RankRange(int(best), int(worst))
    return str(first) if first == last else f"{first}–{last}"


def _no_rows() -> pd.DataFrame:
    return pd.DataFrame(columns=[*KEY, *NAMES, "why_unranked"])

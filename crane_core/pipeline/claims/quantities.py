"""The computed quantity behind each claim: one function per word of the column `quantity` of claims.csv.

Each takes the loaded data and the text of the column `of`, and returns estimates and their basis, or raises
NotTestableError, which names the data to load.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from crane_core.domain import CellRole, Label, Setting, Version
from crane_core.pipeline.agreement import agreement, labelled
from crane_core.pipeline.claims import changes
from crane_core.pipeline.claims.terms import read_contrasts, read_fields
from crane_core.pipeline.claims.verdicts import ClaimEstimate
from crane_core.pipeline.loading.editions import without_edition
from crane_core.pipeline.results.measures import SEED
from crane_core.pipeline.results.time_saved import published_times
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.study import measured_tables, table_cells, table_scores
from crane_core.prompts.tokens_apart import count_apart
from crane_core.stats.mean import mean
from crane_core.stats.sample_size import required_sample
from crane_core.storage import inputs
from crane_core.storage.store import Store
from crane_core.storage.verdicts import PUBLISHED_HUMAN

ARCHIVE = (
    "load the release of October 2025: python -m crane_core fetch crane-llm"
)
LATER = "load the release of 2026: python -m crane_core fetch crane-llm@main"
SECOND_EVALUATOR = f"{PUBLISHED_HUMAN}, validation"


class NotTestableError(Exception):
    """The loaded data do not contain the quantity; the text says which data would."""


class PromptTokens(NamedTuple):
    """Input tokens per instance with documentation in the prompt, and without it."""

    documented: np.ndarray[Any, Any]
    bare: np.ndarray[Any, Any]


@dataclass(frozen=True)
class Loaded:
    """What claims are compared with: verdicts, answers by condition, labels, and the store for states and texts."""

    verdicts: pd.DataFrame
    conditions: changes.Conditions
    labels: pd.DataFrame
    store: Store

    @cached_property
    def prompt_tokens(self) -> PromptTokens:
        """Counted once for the eight claims about them. Raises NotTestableError."""
        return _prompt_tokens(self)


class FoundEstimates(NamedTuple):
    """Estimates, and what they were computed from."""

    estimates: list[ClaimEstimate]
    basis: str


def measure(
    loaded: Loaded,
    quantity: str,
    of: str,
) -> FoundEstimates:
    """Raises NotTestableError; ValueError or KeyError where quantity or `of` is not one."""
    return QUANTITIES[quantity](loaded, of)


def _changes(loaded: Loaded, of: str) -> FoundEstimates:
    estimates = []
    for asked in read_contrasts(of):
        try:
            estimates.append(
                changes.contrast(loaded.conditions, asked.name, asked.terms)
            )
        except changes.MissingAnswersError as error:
            settings = {term.rate.setting for term in asked.terms}
            raise NotTestableError(_release(settings)) from error
    # Printed cells give a value without an interval, and the page says which of the two it was.
    has_intervals = all(one.has_interval for one in estimates)
    return FoundEstimates(
        estimates, "answers" if has_intervals else "printed cells"
    )


def _release(settings: set[Setting]) -> str:
    return ARCHIVE if settings <= set(table_scores.SIGNS) else LATER


def _largest_change(loaded: Loaded, of: str) -> FoundEstimates:
    """The largest of several changes, without an interval: the ordinary one of a change is too high for a maximum."""
    estimates, basis = _changes(loaded, of)
    largest = max(estimates, key=lambda one: one.value)
    remark = f"the largest of {len(estimates)} differences, chosen for being so, has no ordinary interval"
    return FoundEstimates(
        [ClaimEstimate(largest.name, largest.value, remark=remark)], basis
    )


def _counted(
    value: int,
    basis: str = "answers",
    remark: str = "",
) -> FoundEstimates:
    return FoundEstimates(
        [ClaimEstimate("", Fraction(value), remark=remark)], basis
    )


def _cases(loaded: Loaded, of: str) -> FoundEstimates:
    """Cases of the benchmark, or those of some libraries."""
    known = _known(loaded).drop_duplicates("case_id")
    for column, value in read_fields(of).items():
        known = known[known[column].isin(value.split("+"))]
    return _counted(len(known), "case labels")


def _instances(loaded: Loaded, of: str) -> FoundEstimates:
    return _counted(_known(loaded)["instance_id"].nunique(), "case labels")


def _libraries(loaded: Loaded, of: str) -> FoundEstimates:
    """Libraries that a group joins."""
    known = _known(loaded)
    is_mine = known["library_group"] == read_fields(of)["library_group"]
    return _counted(known.loc[is_mine, "library"].nunique(), "case labels")


def _known(loaded: Loaded) -> pd.DataFrame:
    known = loaded.conditions.benchmark
    if known.empty:
        raise NotTestableError(ARCHIVE)
    return known


def _condition(
    loaded: Loaded,
    detector: str,
    setting: str,
) -> pd.DataFrame:
    rows = loaded.conditions.rows(detector, setting)
    if rows is None:
        raise NotTestableError(_release({Setting(setting)}))
    return rows


def _study(loaded: Loaded) -> pd.DataFrame:
    """The published answers of the three LLMs, with and without runtime state."""
    conditions = product(table_scores.STUDY_LLMS, table_scores.SIGNS)
    return pd.concat(
        [_condition(loaded, *condition) for condition in conditions]
    )


def _verdicts(loaded: Loaded, of: str) -> FoundEstimates:
    return _counted(len(_study(loaded)))


def _runs(loaded: Loaded, of: str) -> FoundEstimates:
    """Runs of a verdict: the fewest and the most."""
    rows = _study(loaded)
    runs = rows[["n_crash", "n_safe", "n_unanswered"]].sum(axis=1)
    fewest = ClaimEstimate("fewest runs", Fraction(int(runs.min())))
    most = ClaimEstimate("most runs", Fraction(int(runs.max())))
    return FoundEstimates([fewest, most], "answers")


def _diagnoses(loaded: Loaded, of: str) -> FoundEstimates:
    """Detected crashes, which ask for a diagnosis; the sample of them by Equation 1, or as allocated (table 1)."""
    _study(loaded)
    cells = loaded.conditions.cells(measured_tables.stratified_sample)
    applicable = int(cells["Total", "Applicable cases"].value)
    counts = {
        "applicable": applicable,
        "required": required_sample(applicable),
        "allocated": int(cells["Total", "Sampled cases"].value),
    }
    return _counted(counts[read_fields(of)["what"]])


def _flawed_counts(loaded: Loaded, of: str) -> FoundEstimates:
    """Of the six changes of table 3 (partial and wrong, for three LLMs): how many have the given direction."""
    _study(loaded)
    cells = loaded.conditions.cells(measured_tables.flawed_diagnoses)
    went: Counter[str] = Counter()
    for row, column in product({row for row, _ in cells}, ("PC", "RW")):
        with_it, without = (
            cells[row, f"{column} ({sign}RT)"].value for sign in "+-"
        )
        went["fell"] += with_it < without
        went["unchanged"] += with_it == without
    return _counted(went[read_fields(of)["went"]], "labels")


def _predicted(loaded: Loaded, of: str) -> FoundEstimates:
    """How many of the detectors named predict a crash of an instance."""
    return _counted(sum(_votes(loaded, of, diagnosed=False).values()))


def _diagnosed(loaded: Loaded, of: str) -> FoundEstimates:
    """How many of them predict it and were called correct; which of those predict a crash of the fixed version too."""
    votes = _votes(loaded, of, diagnosed=True)
    fixed = str(Version.FIXED).join(of.rsplit(str(Version.REPRODUCED), 1))
    alarms = _votes(loaded, fixed, diagnosed=False)
    right = [detector for detector, said in votes.items() if said]
    remark = ""
    if right and read_fields(of)["setting"] == Setting.CODE:
        named = []
        for name in right:
            also = (
                " (and a crash of the fixed version too)"
                if alarms[name]
                else ""
            )
            named.append(name + also)
        remark = f"found by {', '.join(named)}"
    return _counted(len(right), "labels", remark)


def _votes(
    loaded: Loaded,
    of: str,
    *,
    diagnosed: bool,
) -> dict[str, bool]:
    """By detector."""
    asked = read_fields(of)
    detectors = asked["detector"].split("+")
    if detectors == ["each"]:
        detectors = list(table_scores.STUDY_LLMS)
    found = {}
    for detector in detectors:
        rows = _condition(loaded, detector, asked["setting"])
        row = rows[rows["instance_id"] == asked["instance"]]
        found[detector] = bool((table_scores.detected(row) == 1).all())
        if diagnosed:
            found[detector] &= bool((row["human"] == Label.CORRECT).all())
    return found


def _state(loaded: Loaded, of: str) -> FoundEstimates:
    """A number in the published kernel state of an instance, by variable and path."""
    asked = read_fields(of)
    # Only the published state: a capture made here is not what the paper counted.
    states = inputs.instance_states(
        loaded.store.cursor(), table_scores.BENCHMARK, asked["instance"]
    )
    for state in states:
        if (state.setting, state.origin) == (
            Setting.RUNTIME,
            table_scores.STUDY,
        ):
            variable = state.to_json()["variables"][asked["variable"]]
            return _counted(_number_at(variable, asked["at"]), "kernel states")
    raise NotTestableError(ARCHIVE)


def _number_at(value: Any, path: str) -> int:
    """A step of the path is a key or a position; what represents a tuple or a call is passed through."""
    for step in path.split("."):
        if isinstance(value, Mapping) and len(value) == 1:
            if "$tuple" in value:
                value = value["$tuple"]
            elif "$call" in value:
                value = value["$call"][1]
        value = value[int(step)] if isinstance(value, list) else value[step]
    return int(value)


def _code_lines(loaded: Loaded, of: str) -> FoundEstimates:
    """Lines of the cells before the target as published, where a comment has become a blank line."""
    instance = read_fields(of)["instance"]
    cells = inputs.instance_cells(
        loaded.store.cursor(), table_scores.BENCHMARK, instance
    )
    n_lines = [
        len(cell.code.splitlines())
        for cell in cells
        if (cell.role, cell.origin) == (CellRole.EXECUTED, table_scores.STUDY)
    ]
    if not n_lines:
        raise NotTestableError(ARCHIVE)
    return _counted(sum(n_lines), "cells")


def _kappa(loaded: Loaded, of: str) -> FoundEstimates:
    """Cohen's kappa of the two evaluators over the verdicts that both labelled."""
    known = set(loaded.labels["annotator"].unique())
    # Both evaluators of the same release: another release may have other labels.
    edition = _edition_of(SECOND_EVALUATOR, known)
    first = edition.replace(SECOND_EVALUATOR, PUBLISHED_HUMAN)
    if first not in known:
        raise NotTestableError(LATER)
    diagnoses = agreement.ComparedVerdicts.DIAGNOSES
    items = agreement.common_items(
        labelled.labelled_verdicts(loaded.labels, loaded.verdicts),
        [first, edition],
        diagnoses,
    )
    [row] = as_rows(agreement.pairwise(items))
    if row["value"] is None:
        raise NotTestableError(f"kappa is undefined: {row['why']}")
    found = ClaimEstimate(
        "",
        Fraction(row["value"]),
        row["low"],
        row["high"],
    )
    return FoundEstimates([found], "labels")


def _edition_of(name: str, known: Iterable[str]) -> str:
    """The first edition of a name in the release of 2026. Raises NotTestableError without one."""
    for edition in sorted(known):
        if without_edition(edition)[0] == name:
            return edition
    raise NotTestableError(LATER)


def _tokens(loaded: Loaded, of: str) -> FoundEstimates:
    """Input tokens that documentation adds to an instance (table 5): their mean, or a percentile."""
    asked = read_fields(of)
    documented, bare = loaded.prompt_tokens
    extra = documented - bare
    if asked["as"] != "tokens":
        extra = table_cells.PERCENT * (documented / bare - 1)
    if asked["statistic"] == "mean":
        number = float(np.mean(extra))
    else:
        number = float(np.percentile(extra, int(asked["statistic"])))
    return FoundEstimates([ClaimEstimate("", Fraction(number))], "prompts")


def _prompt_tokens(loaded: Loaded) -> PromptTokens:
    population = set(_known(loaded)["instance_id"].unique())
    cursor = loaded.store.cursor()
    by_release = inputs.prompt_addresses(
        cursor, table_scores.BENCHMARK, Setting.RUNTIME_DOCS
    )
    origin = _edition_of(table_scores.LATER_RELEASE, by_release)
    documented = by_release[origin]
    bare = inputs.prompt_addresses(
        cursor, table_scores.BENCHMARK, Setting.RUNTIME
    ).get(origin, {})
    # A mean over a part of the instances is another number than the paper's.
    if not population == documented.keys() == bare.keys():
        raise NotTestableError(LATER)
    texts = inputs.texts(cursor, {*documented.values(), *bare.values()})
    counted = dict(zip(texts, count_apart(list(texts.values())), strict=True))
    # An estimate may be off by more than the last digit that the paper prints.
    if not all(one.is_exact for one in counted.values()):
        raise NotTestableError(
            "tokens can only be estimated here; for an exact count install bpe-openai or the o200k_base table"
        )
    in_order = sorted(population)
    return PromptTokens(
        *(
            np.array([counted[of[name]].n for name in in_order], dtype=float)
            for of in (documented, bare)
        )
    )


def _times(loaded: Loaded, of: str) -> FoundEstimates:
    """Recorded seconds of GPT-5 with runtime state; what: one of those in TIMES."""
    asked = read_fields(of)
    times = published_times()
    return FoundEstimates(
        [TIMES[asked["what"]](times, asked)], "recorded times"
    )


def _query(times: pd.DataFrame, asked: dict[str, str]) -> ClaimEstimate:
    """The mean over all queries, or that of one instance."""
    if "instance" in asked:
        [seconds] = times.loc[
            times["instance_id"] == asked["instance"], "seconds_of_query"
        ]
        return ClaimEstimate(
            "",
            Fraction(float(seconds)),
            remark="one recorded query of GPT-5 with runtime state",
        )
    found = mean(times["seconds_of_query"], seed=SEED)
    return ClaimEstimate(
        "",
        Fraction(found.value),
        found.low,
        found.high,
    )


def _saved(times: pd.DataFrame, asked: dict[str, str]) -> ClaimEstimate:
    """What all crashes together save."""
    return ClaimEstimate("", Fraction(float(_saved_by_crash(times).sum())))


def _median_saved(times: pd.DataFrame, asked: dict[str, str]) -> ClaimEstimate:
    """What the crash in the middle saves, of those that were timed: all of the benchmark, not a sample of it."""
    saved = _saved_by_crash(times)
    n_saving, total = int((saved > 0).sum()), float(saved.sum())
    # A few crashes may make up much of the sum, which a reader of the mean must know.
    share = (
        table_cells.PERCENT * float(saved.nlargest(MOST_SAVING).sum()) / total
    )
    remark = (
        f"the median of {len(saved)} crashes; {n_saving} of them save time, and the {MOST_SAVING} that save most make "
        f"up {share:.0f}% of the sum"
    )
    return ClaimEstimate("", Fraction(float(saved.median())), remark=remark)


def _saved_by_crash(times: pd.DataFrame) -> pd.Series[float]:
    """Seconds of the cells before the target less those of the query, one for each crash that was timed."""
    crashing = times.dropna(subset=["seconds_before"])
    return crashing["seconds_before"] - crashing["seconds_of_query"]


MOST_SAVING = 5
TIMES: dict[str, Callable[[pd.DataFrame, dict[str, str]], ClaimEstimate]] = {
    "query": _query,
    "saved": _saved,
    "median saved": _median_saved,
}


def _not_published(loaded: Loaded, of: str) -> FoundEstimates:
    raise NotTestableError(of)


QUANTITIES: dict[str, Callable[[Loaded, str], FoundEstimates]] = {
    "change": _changes,
    "largest change": _largest_change,
    "cases": _cases,
    "instances": _instances,
    "libraries": _libraries,
    "verdicts": _verdicts,
    "runs": _runs,
    "diagnoses": _diagnoses,
    "flawed counts": _flawed_counts,
    "predicted": _predicted,
    "diagnosed": _diagnosed,
    "state": _state,
    "code lines": _code_lines,
    "kappa": _kappa,
    "tokens": _tokens,
    "times": _times,
    "not published": _not_published,
}

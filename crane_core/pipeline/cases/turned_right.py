"""One case in which runtime state turned a wrong answer into a right one, with the words of both answers.

Knows how such a case is chosen: always the same one for the same data. Refuses to know how it is drawn.
"""

from typing import Any, NamedTuple

import pandas as pd

from crane_core.crash_place import crash_place
from crane_core.domain import CellRole, DetectorKind, Label, Setting, Version
from crane_core.pipeline.cases.pairs import best_origin, voted
from crane_core.pipeline.rows import as_rows
from crane_core.storage import cases
from crane_core.storage.store import Store

MOST_TRIED = 40
"""Candidates, of those whose code is loaded, whose texts are looked for."""
STATE_SETTINGS = (Setting.RUNTIME_PLUS, Setting.RUNTIME)
"""Whose state is shown: one captured here, which is more complete, before the published one."""
LONGEST_CODE = 12
"""Lines of a target cell that fits on the first screen."""


class Diagnosis(NamedTuple):
    """What the majority of the runs predicts, and the first of their texts."""

    crashes: bool
    text: str


class Example(NamedTuple):
    """A crashing notebook's target cell, the state that was given with it (JSON text), and one detector's answers."""

    benchmark: str
    experiment: str
    case_id: str
    exception: str | None
    detector_title: str
    code: str
    crash_line: int | None
    state: str | None
    without: Diagnosis
    with_: Diagnosis


def turned_right(store: Store, verdicts: pd.DataFrame) -> Example | None:
    """The first case of these rows of the verdict frame whose code and both texts are in the store; None: none has.

    Candidates are crashes that one detector misses from the code alone and predicts with runtime state; those that
    people diagnosed as correct come first, then those that help most detectors.
    """
    with_code = {
        (benchmark, case_id)
        for benchmark in verdicts["benchmark"].unique()
        for case_id in _with_code(cases.case_list(store.cursor(), benchmark))
    }
    known = [
        row
        for row in candidates(verdicts)
        if (row["benchmark"], row["case_id"]) in with_code
    ]
    return next(
        # Each try reads texts from the database, and the first page should not wait for all of them.
        (
            example
            for row in known[:MOST_TRIED]
            if (example := _example(store, row))
        ),
        None,
    )


def _with_code(listed: pd.DataFrame) -> list[str]:
    return [
        str(case_id)
        for case_id in listed.loc[listed["has_code"].astype(bool), "case_id"]
    ]


def candidates(verdicts: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows (with runtime state) of detectors that miss the crash from the code alone and predict it with the state."""
    crashing = voted(verdicts[verdicts["truth"]])
    key = ["benchmark", "experiment", "detector", "instance_id"]
    without = crashing[
        (crashing["setting"] == Setting.CODE) & (crashing["said"] == "safe")
    ][key]
    found = crashing[
        (crashing["setting"] == Setting.RUNTIME) & (crashing["said"] == "crash")
    ].merge(without, on=key)
    found = found.assign(
        is_correct=found["human"] == Label.CORRECT,
        n_helped=found.groupby("instance_id")["detector"].transform("nunique"),
    )
    # Ends with names, so that the same data always show the same case.
    order = ["is_correct", "n_helped", "case_id", "detector"]
    return as_rows(
        found.sort_values(
            order, ascending=[False, False, True, True], kind="stable"
        )
    )


def _example(store: Store, row: dict[str, Any]) -> Example | None:
    benchmark, case_id = row["benchmark"], row["case_id"]
    case = cases.case(store.cursor(), benchmark, case_id) or {}
    target = _target(store, benchmark, case_id)
    # A longer cell would not fit beside both answers.
    if target is None or len(target["code"].splitlines()) > LONGEST_CODE:
        return None
    runs = cases.runs(store.cursor(), benchmark, case_id)
    of = (runs["detector"] == row["detector"]) & (
        runs["experiment"] == row["experiment"]
    )
    runs = runs[of & (runs["version"] == Version.REPRODUCED)]
    without = _said(runs[runs["setting"] == Setting.CODE], crashes=False)
    with_ = _said(runs[runs["setting"] == Setting.RUNTIME], crashes=True)
    if not with_.text or (
        # An analyzer that reports nothing has no text to show.
        not without.text and row["detector_kind"] == DetectorKind.LLM
    ):
        return None
    place = crash_place(
        case.get("traceback"), case.get("diagnosis"), target["code"]
    )
    line = target["crash_line"] or (place.line if place else None)
    states = shown_states(
        cases.kernel_states(store.cursor(), benchmark, case_id)
    )
    return Example(
        benchmark=benchmark,
        experiment=str(row["experiment"]),
        case_id=case_id,
        exception=case.get("exception"),
        detector_title=row["detector_title"],
        code=target["code"],
        crash_line=line,
        state=states.get(Version.REPRODUCED),
        without=without,
        with_=with_,
    )


def _target(
    store: Store, benchmark: str, case_id: str
) -> dict[str, Any] | None:
    rows = cases.cells(store.cursor(), benchmark, case_id)
    rows = rows[
        (rows["version"] == Version.REPRODUCED)
        & (rows["role"] == CellRole.TARGET)
    ]
    return (
        as_rows(rows[rows["origin"] == best_origin(rows["origin"])])[0]
        if len(rows)
        else None
    )


def shown_states(states: pd.DataFrame) -> dict[str, str]:
    """Version to state, of the rows of `storage.cases.kernel_states`: of one setting and origin, the best there is."""
    for setting in STATE_SETTINGS:
        of = states[states["setting"] == setting]
        if not of.empty:
            best = of[of["origin"] == best_origin(of["origin"])]
            return dict(zip(best["version"], best["state"], strict=True))
    return {}


def _said(runs: pd.DataFrame, *, crashes: bool) -> Diagnosis:
    texts = [
        str(row["reasoning"]).strip()
        for row in as_rows(runs[runs["crashes"] == crashes])
        if row["reasoning"]
    ]
    return Diagnosis(crashes, texts[0] if texts else "")


class Votes(NamedTuple):
    """Answers of one detector about one crash, without and with runtime state, of which so many predict it.

    label: of the diagnosis with runtime state; None without one.
    """

    detector_title: str
    n_without: int
    of_without: int
    n_with: int
    of_with: int
    label: str | None


class VotedExample(NamedTuple):
    """A crash that runtime state turned right, by facts alone: its labels and the votes of the detectors it helped."""

    benchmark: str
    case_id: str
    exception: str | None
    root_cause: str | None
    votes: tuple[Votes, ...]


def turned_right_by_votes(verdicts: pd.DataFrame) -> VotedExample | None:
    """The first candidate of these rows, whose texts nothing needs to hold; None without a candidate."""
    found = candidates(verdicts)
    if not found:
        return None
    first = found[0]
    same_case = ("benchmark", "experiment", "instance_id")
    helped = [
        row
        for row in found
        if all(row[name] == first[name] for name in same_case)
    ]
    of_code = verdicts[
        (verdicts["instance_id"] == first["instance_id"])
        & (verdicts["setting"] == Setting.CODE)
    ]
    without = {
        row["detector"]: row
        for row in as_rows(
            of_code[of_code["experiment"] == first["experiment"]]
        )
    }
    votes = [_votes(without[row["detector"]], row) for row in helped]
    return VotedExample(
        first["benchmark"],
        first["case_id"],
        first["exception"],
        first["root_cause"],
        tuple(votes),
    )


def _votes(without: dict[str, Any], with_: dict[str, Any]) -> Votes:
    return Votes(
        str(with_["detector_title"]),
        n_without=int(without["n_crash"]),
        of_without=int(without["n_crash"] + without["n_safe"]),
        n_with=int(with_["n_crash"]),
        of_with=int(with_["n_crash"] + with_["n_safe"]),
        label=with_["human"],
    )

"""Do detectors do better together than the best of them alone? From stored runs, detection alone.

Takes a slice of the verdict frame (one benchmark, as `beside` returns it). Only instances that every member answered
count. Nothing is fitted: members and rule are given. The best single member is found on the same
instances, which favours it, so a combination that beats it does so against the odds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from crane_core.domain import EXECUTED_KINDS, DetectorKind, Setting
from crane_core.pipeline.results import beside, exported_statistic, measures
from crane_core.pipeline.results.measures import Credit, PairedTest, VoteRule
from crane_core.pipeline.results.outcomes import one_family
from crane_core.pipeline.rows import as_rows
from crane_core.stats import combination, equivalence, intervals, rates

Array = NDArray[np.bool_]


class Way(StrEnum):
    """How several predictions become one; see `stats.combination`."""

    ANY = "any"
    MAJORITY = "majority"
    CASCADE = "cascade"


RULES: dict[Way, Callable[[ArrayLike], Array]] = {
    Way.ANY: combination.any_of,
    Way.MAJORITY: combination.majority_of,
    Way.CASCADE: combination.cascade,
}
RATE_COLUMNS = [
    "accuracy", "accuracy_low", "accuracy_high", "precision", "precision_low", "precision_high",
    "recall", "recall_low", "recall_high", "f1", "f1_low", "f1_high",
]  # fmt: skip
TEST_COLUMNS = [
    "difference", "low", "high", "gained", "lost", "p_value", "p_by_case", "p_holm", "p_by_case_holm", "outcome",
]  # fmt: skip
COLUMNS = [
    "way",
    "members",
    *RATE_COLUMNS,
    "n",
    "n_cases",
    "left_out",
    "best",
    "n_asked",
    *TEST_COLUMNS,
]


INPUTS = (
    Setting.RUNTIME,
    Setting.RUNTIME_PLUS,
    Setting.RUNTIME_DOCS,
    Setting.CODE,
    *Setting,
)
"""The order of preference if one input must be chosen: first the one that most detectors have."""


class Member(NamedTuple):
    """A detector with one input."""

    detector: str
    setting: str


def rules_in(frame: pd.DataFrame) -> Member | None:
    """The rules with their richest input; None if none answered."""
    rules = members_of(frame[frame["detector_kind"] == DetectorKind.RULES])
    rules.sort(key=lambda member: INPUTS.index(Setting(member.setting)))
    return rules[0] if rules else None


def members_of(frame: pd.DataFrame) -> list[Member]:
    """Everything that answered anything: rules first, then models, then analyzers, in the order of the frame."""
    answered = frame[frame["n_crash"] + frame["n_safe"] > 0]
    found = answered.drop_duplicates(["detector", "setting"])
    rank = found["detector_kind"].map(
        {DetectorKind.RULES: 0, DetectorKind.LLM: 1}
    )
    found = found.loc[rank.fillna(2).sort_values(kind="stable").index]
    return _members(found)


def _members(named: pd.DataFrame) -> list[Member]:
    return list(map(Member, named["detector"], named["setting"]))


def usual_members(frame: pd.DataFrame) -> list[Member]:
    """The rules and the models with one input, without a choice; the first members there are, where few fit."""
    # What executes the target is never counted among predictions.
    others = (DetectorKind.ANALYZER, *EXECUTED_KINDS)
    known = members_of(frame[~frame["detector_kind"].isin(others)])
    most: list[Member] = []
    for setting in INPUTS:
        same = [member for member in known if member.setting == setting]
        most = max(most, same, key=len)
    return most if len(most) > 1 else members_of(frame)[:2]


def ways_for(n_members: int) -> tuple[Way, ...]:
    """All distinct ways: a cascade of two predicts the same as `any`, with fewer questions."""
    return tuple(Way) if n_members > 2 else (Way.ANY, Way.MAJORITY)


def combine(
    frame: pd.DataFrame,
    members: Sequence[Member],
    *,
    rule: measures.VoteRule,
    bound: float = equivalence.SMALLEST_EFFECT,
) -> pd.DataFrame:
    """The members alone, then every way of combining them, each against the best single member.

    A member's runs become one prediction by `rule`, but the mean of answers is not binary: the majority represents
    it. A row per member and way, columns COLUMNS: way (None for a member alone), members (tuple), each rate with its
    95% interval (shares), n instances of n_cases cases, left_out (instances that not every member answered), best (the
    member compared with), n_asked (instances at which a cascade asks the others), then the paired comparison of
    accuracy: difference with its interval, gained and lost, exact McNemar and sign flips by case, both with Holm over
    the ways, and the outcome that both decide with `bound`, the smallest effect of interest. Empty if no instance was
    answered by all of at least two members.
    """
    table = _Table.of(_said(frame, rule), members)
    if table is None:
        return pd.DataFrame(columns=COLUMNS)
    best = table.best()
    alone = [
        table.row((member,), None, table.predicted[place])
        for place, member in enumerate(members)
    ]
    ways = [table.combined(way, best) for way in ways_for(len(members))]
    return _adjusted(pd.DataFrame([*alone, *ways], columns=COLUMNS), bound)


def with_rules(
    frame: pd.DataFrame,
    rules: Member,
    *,
    rule: measures.VoteRule,
    bound: float = equivalence.SMALLEST_EFFECT,
) -> pd.DataFrame:
    """The rules first, then each model with each input, and the majority of the models with each: one planned family.

    A row per cascade; columns as in `combine`, with Holm over all rows, and alone (accuracy of what answers where the
    rules are silent, on the same instances).
    """
    others = [
        member
        for member in members_of(
            frame[frame["detector_kind"] == DetectorKind.LLM]
        )
        if member != rules
    ]
    groups: list[tuple[Member, ...]] = [(member,) for member in others]
    for setting in (Setting.CODE, Setting.RUNTIME):
        same = tuple(member for member in others if member.setting == setting)
        if len(same) > 2:
            groups.append(same)
    said = _said(frame, rule)
    rows = []
    for group in groups:
        table = _Table.of(said, (rules, *group))
        if table is not None:
            row = table.combined(Way.CASCADE, table.best())
            others_alone = combination.majority_of(table.predicted[1:])
            rows.append(row | {"alone": table.accuracy_of(others_alone)})
    return _adjusted(pd.DataFrame(rows, columns=[*COLUMNS, "alone"]), bound)


class _Said(NamedTuple):
    """What every member predicts, 1 or 0 or nan, a row per instance; and of each instance the truth and its case."""

    wide: pd.DataFrame
    truth: Array
    cases: NDArray[np.int64]


def _said(frame: pd.DataFrame, rule: measures.VoteRule) -> _Said:
    # Combining needs yes or no of each member, which the mean of answers does not give.
    by = rule if rule is measures.VoteRule.ALL else measures.VoteRule.MAJORITY
    number = (
        frame.groupby(["detector", "setting"], sort=False).ngroup().to_numpy()
    )
    named = frame[["detector", "setting"]].drop_duplicates()
    instance, names = pd.factorize(frame["instance_id"], sort=True)
    place = instance * len(named) + number
    if np.bincount(place).max(initial=0) > 1:
        raise ValueError(
            "a detector has several answers to an instance in one setting"
        )
    said = np.full(len(names) * len(named), np.nan)
    said[place] = measures.detected(frame, by)
    wide = pd.DataFrame(said.reshape(len(names), len(named)), index=names)
    wide.columns = pd.Index(_members(named), tupleize_cols=False)
    facts = frame.drop_duplicates("instance_id").set_index("instance_id")
    facts = facts.loc[wide.index]
    truth = facts["truth"].to_numpy(dtype=bool)
    return _Said(wide, truth, pd.factorize(facts["case_id"])[0])


class _Table(NamedTuple):
    """Predictions of the members, shape (m, n), about the instances that all of them answered."""

    members: tuple[Member, ...]
    predicted: Array
    truth: Array
    cases: NDArray[np.int64]
    left_out: int

    @classmethod
    def of(cls, said: _Said, members: Sequence[Member]) -> _Table | None:
        """None if no instance has an answer of every member, or there is only one."""
        known = [
            member
            for member in dict.fromkeys(members)
            if member in said.wide.columns
        ]
        if len(known) < max(2, len(members)):
            return None
        columns = [
            said.wide[member].to_numpy(dtype=np.float64) for member in known
        ]
        values = np.column_stack(columns)
        n_answers = np.count_nonzero(~np.isnan(values), axis=1)
        # Only instances that all members answered: a missing answer is neither a crash nor none.
        is_complete = n_answers == len(known)
        n_complete = int(np.count_nonzero(is_complete))
        if not n_complete:
            return None
        return cls(
            members=tuple(known),
            predicted=values[is_complete].T == 1,
            truth=said.truth[is_complete],
            cases=said.cases[is_complete],
            left_out=int(np.count_nonzero(n_answers)) - n_complete,
        )

    def accuracy_of(self, predicted: Array) -> float:
        """The share of instances that the predictions, shape (n,), have right."""
        return rates.accuracy(rates.confusion(self.truth, predicted)).value

    def best(self) -> Member:
        """The first of those with the highest accuracy."""
        accuracies = [self.accuracy_of(one) for one in self.predicted]
        return self.members[int(np.argmax(accuracies))]

    def row(
        self,
        members: tuple[Member, ...],
        way: Way | None,
        predicted: Array,
    ) -> dict[str, Any]:
        """The rates of one prediction with their intervals; way: None for a member alone."""
        parts = rates.confusion_parts(self.truth, predicted)
        row: dict[str, Any] = {
            "way": way,
            "members": members,
            "left_out": self.left_out,
        }
        for name, rate in rates.RATES.items():
            ratio, key = rate(parts), name.lower()
            found = intervals.clustered_rate(
                ratio.part, ratio.whole, self.cases
            )
            row[key] = found.value
            row[f"{key}_low"] = found.low
            row[f"{key}_high"] = found.high
        return row | {"n": len(self.truth), "n_cases": len(set(self.cases))}

    def combined(self, way: Way, best: Member) -> dict[str, Any]:
        """The row of one way of combining all members, with its paired comparison against the best member."""
        predicted = RULES[way](self.predicted)
        of_best = self.predicted[self.members.index(best)]
        one = rates.accuracy(rates.confusion_parts(self.truth, of_best))
        other = rates.accuracy(rates.confusion_parts(self.truth, predicted))
        found = intervals.clustered_difference(
            one.part,
            one.whole,
            other.part,
            other.whole,
            self.cases,
        )
        n_asked = len(self.truth)
        if way is Way.CASCADE:
            n_asked = int(np.count_nonzero(~self.predicted[0]))
        return {
            **self.row(self.members, way, predicted),
            "best": best,
            "n_asked": n_asked,
            "difference": found.value,
            "low": found.low,
            "high": found.high,
            **measures.tested(
                one,
                other,
                self.cases,
                measures.PairedTest.MCNEMAR,
            ),
        }


def _adjusted(table: pd.DataFrame, bound: float) -> pd.DataFrame:
    """With Holm over the rows that were tested; a member alone is compared with nothing, so it has no outcome."""
    if table.empty:
        return table
    decided = one_family(table, bound)
    return decided.assign(
        outcome=decided["outcome"].where(decided["way"].notna(), None)
    )


RATES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
}


def exported_combinations(
    material: exported_statistic.JudgedAnswers,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of every experiment, detection alone, by the majority and by all answers."""
    verdicts = material.verdicts
    for (benchmark, experiment), _ in verdicts.groupby(
        ["benchmark", "experiment"], sort=False
    ):
        of_benchmark = verdicts[verdicts["benchmark"] == benchmark]
        frame = beside.beside(of_benchmark, str(experiment), ())
        titles = dict(
            zip(frame["detector"], frame["detector_title"], strict=True)
        )
        rules, usual = (
            rules_in(frame),
            usual_members(frame),
        )
        for rule in (VoteRule.MAJORITY, VoteRule.ALL):
            head = exported_statistic.ExportedStatistic(
                "Results",
                "together",
                "",
                benchmark=str(benchmark),
                experiment=str(experiment),
                runs=str(rule),
                credit=str(Credit.DETECTION),
                by="way",
            )
            if len(usual) > 1:
                ways = combine(frame, usual, rule=rule)
                yield from _rows(
                    head, ways, titles, "ways of combining these members"
                )
            if rules is not None:
                first = with_rules(frame, rules, rule=rule)
                yield from _rows(
                    head, first, titles, "the rules before each model"
                )


def _rows(
    head: exported_statistic.ExportedStatistic,
    table: pd.DataFrame,
    titles: dict[str, str],
    family: str,
) -> Iterator[exported_statistic.ExportedStatistic]:
    for row in as_rows(table):
        note = None
        if row["left_out"]:
            note = f"{row['left_out']} instances lack an answer of a member and are left out"
        of = head._replace(
            detector=" + ".join(
                _name(member, titles) for member in row["members"]
            ),
            group=str(row["way"] or "alone"),
            n=row["n"],
            n_cases=row["n_cases"],
            note=note,
        )
        for key, name in RATES.items():
            ends = {"low": row[f"{key}_low"], "high": row[f"{key}_high"]}
            yield of._replace(statistic=name).rated({key: row[key]} | ends, key)
        if row["way"]:
            of = of._replace(family=family)
            name = f"difference of accuracy from the best member, {_name(row['best'], titles)}"
            difference = of._replace(statistic=name).compared(row)
            tests = row | {"test": str(PairedTest.MCNEMAR)}
            yield from difference.tested(tests, exported_statistic.HOLM, family)
            yield from of.discordant(row)
            of = of._replace(statistic="instances asked of the others")
            yield of.measured(row["n_asked"], unit="instances")


def _name(member: Member, titles: dict[str, str]) -> str:
    return f"{titles[member.detector]} ({member.setting})"

"""Agreement: every coefficient of pairs of people, by group, with judges, consistency of judges and annotators.

Blind campaigns that are open are not in it: their totals, read after each label, would reveal single labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import pandas as pd

from crane_core.annotation.label_set import LabelSet, means_the_study
from crane_core.pipeline.agreement import agreement
from crane_core.pipeline.agreement.agreement import (
    COEFFICIENTS,
    PERCENT,
    ComparedVerdicts,
)
from crane_core.pipeline.agreement.judge_powered import judge_powered
from crane_core.pipeline.campaigns.blinded import open_blind_campaigns
from crane_core.pipeline.campaigns.label_frame import (
    DIFFERENCES_ONLY,
    LabellerKind,
    labels_differences_only,
    repeat_frame,
)
from crane_core.pipeline.campaigns.label_sets import common_set, label_sets
from crane_core.pipeline.export.exported_statistic import (
    RATE_INTERVAL,
    ExportedStatistic,
    Material,
)
from crane_core.pipeline.judging.judges import judge_passes, pooled_judges
from crane_core.pipeline.results.measures import SEED
from crane_core.pipeline.rows import as_rows
from crane_core.storage.verdicts import PUBLISHED_HUMAN

PAGE = "Agreement"
GROUPINGS = ("detector_title", "setting", "library_group", "root_cause")
BOOTSTRAP = "BCa bootstrap over cases"
POWERED = (
    "prediction-powered inference, Wilson's interval, effective sample size by case"
)


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """Both scopes; the pairs are those of people (of campaigns too) and the one that the page begins with."""
    passes = judge_passes(material.store)
    for scope in ComparedVerdicts:
        for pair in _pairs(material.labels):
            yield from _of_pair(material, scope, pair)
        yield from _of_judges(material, scope, passes)
    yield from _powered(material, passes)
    for row in as_rows(_repeats(material)):
        yield _coefficient("repeats", row, ComparedVerdicts.DIAGNOSES, row["annotator"])


def _repeats(material: Material) -> pd.DataFrame:
    found = agreement.self_agreement(
        repeat_frame(material.folder), label_sets(material.folder)
    )
    return (
        found[~found["campaign"].isin(list(open_blind_campaigns(material.folder)))]
        if len(found)
        else found
    )


def _pairs(labels: pd.DataFrame) -> list[tuple[str, ...]]:
    people = (
        labels[labels["kind"] != LabellerKind.JUDGE]
        .drop_duplicates("annotator")["annotator"]
        .tolist()
    )
    usual = tuple(agreement.usual_pair(labels))
    return list(
        dict.fromkeys([*([usual] if len(usual) == 2 else []), *combinations(people, 2)])
    )


def _of_pair(
    material: Material, scope: ComparedVerdicts, pair: tuple[str, ...]
) -> Iterator[ExportedStatistic]:
    label_set = common_set(material.labels, pair, label_sets(material.folder))
    items = agreement.common_items(
        material.labels, material.verdicts, pair, scope, label_set
    )
    if items.facts.empty:
        return
    who = " and ".join(pair)
    for row in as_rows(agreement.agreement_table(items)):
        yield _coefficient(
            "coefficients", row | {"why": _noted(row["why"], pair)}, scope, who
        )
    asked = [
        name
        for name, one in COEFFICIENTS.items()
        if not one.ordered
        or (label_set.is_ordinal and scope is not ComparedVerdicts.ALL)
    ]
    for name in asked:
        for by in GROUPINGS:
            for row in as_rows(agreement.agreement_by(items, name, by)):
                noted = row | {"why": _noted(row["why"], pair)}
                yield _coefficient("groups", noted, scope, who)._replace(
                    by=by, group=row[by]
                )


def _noted(why: str | None, pair: tuple[str, ...]) -> str | None:
    """The reason of a missing value or interval, and of an annotator who labelled differences alone that they are."""
    said = [why] if why else []
    said += [
        f"{name} {DIFFERENCES_ONLY}" for name in pair if labels_differences_only(name)
    ]
    return "; ".join(said) or None


def _coefficient(
    section: str, row: dict[str, Any], scope: ComparedVerdicts, who: str
) -> ExportedStatistic:
    is_rate = row["coefficient"] == PERCENT
    unit, method, seed = (
        ("share", RATE_INTERVAL, None) if is_rate else ("coefficient", BOOTSTRAP, SEED)
    )
    of = ExportedStatistic(
        PAGE,
        section,
        row["coefficient"],
        runs=str(scope),
        judged_by=who,
        seed=seed,
        note=row["why"],
    )
    return of.measured(
        row["value"],
        row["low"],
        row["high"],
        unit=unit,
        method=method,
        n=row["n"],
        n_cases=row["n_cases"],
    )


def person_of(labels: pd.DataFrame, sets: Mapping[str, LabelSet]) -> str | None:
    """The person with whom judges are compared: the first that the page begins with, else the study's.

    sets: `label_sets.label_sets`; judges give the study's labels, so a campaign of other labels has none.
    """
    people = (
        labels.loc[labels["kind"] != LabellerKind.JUDGE, "annotator"].unique().tolist()
    )
    chosen = [
        name
        for name in (*agreement.usual_pair(labels), PUBLISHED_HUMAN)
        if name in people
    ]
    chosen = [
        name for name in chosen if means_the_study(common_set(labels, [name], sets))
    ]
    return chosen[0] if chosen else None


def _of_judges(
    material: Material, scope: ComparedVerdicts, passes: pd.DataFrame
) -> Iterator[ExportedStatistic]:
    judges, person = (
        passes["annotator"].tolist(),
        person_of(material.labels, label_sets(material.folder)),
    )
    if not judges:
        return
    if person is not None:
        items = agreement.common_items(
            material.labels, material.verdicts, [*judges, person], scope
        )
        for row in as_rows(agreement.agreement_with_judges(items, person, judges)):
            yield _coefficient("judges", row, scope, f"{person} and {row['judge']}")
    items = agreement.common_items(material.labels, material.verdicts, judges, scope)
    for row in as_rows(agreement.judge_consistency(items, passes)):
        yield _coefficient("consistency", row, scope, row["judge"])._replace(
            by="compared", group=row["compared"]
        )


def _powered(material: Material, passes: pd.DataFrame) -> Iterator[ExportedStatistic]:
    person = person_of(material.labels, label_sets(material.folder))
    if person is None:
        return
    for row in as_rows(
        judge_powered(material.labels, material.verdicts, person, pooled_judges(passes))
    ):
        of = ExportedStatistic(PAGE, "judges", "", n_cases=row["n_cases"], n=row["n"])
        alone = of._replace(
            statistic="correct diagnoses, person alone",
            judged_by=person,
            note=f"of those that {row['judge']} labelled too",
        )
        yield alone.measured(
            row["alone"],
            row["alone_low"],
            row["alone_high"],
            unit="share",
            method=POWERED,
        )
        note = f"{row['n_more']} labels of the judge only; weight of the judge {row['weight']:.4f}"
        with_judge = of._replace(
            statistic="correct diagnoses, with the judge",
            judged_by=f"{person} and {row['judge']}",
            note=note,
        )
        yield with_judge.measured(
            row["value"], row["low"], row["high"], unit="share", method=POWERED
        )

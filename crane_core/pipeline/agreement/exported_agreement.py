"""The exported rows of agreement: coefficients of pairs of people, by group, with judges, and who repeats themselves.

Blind campaigns that are open are not in it: their totals, read after each label, would reveal single labels.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any

import pandas as pd

from crane_core.annotation.label_set import LabelSet, means_the_study
from crane_core.pipeline.agreement import agreement, judges_beside
from crane_core.pipeline.agreement.judges_beside import judge_powered
from crane_core.pipeline.agreement.labelled import (
    LabelledVerdicts,
    labelled_verdicts,
)
from crane_core.pipeline.campaigns import campaigns, label_frame
from crane_core.pipeline.campaigns.label_sets import common_set, label_sets
from crane_core.pipeline.judging.judges import judge_passes, pooled_judges
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.results import exported_statistic, measures
from crane_core.pipeline.rows import as_rows
from crane_core.storage.verdicts import PUBLISHED_HUMAN

PAGE = "Agreement"
GROUPINGS = ("detector_title", "setting", "library_group", "root_cause")
BOOTSTRAP = "BCa bootstrap over cases"
POWERED = "prediction-powered inference, Wilson's interval, effective sample size by case"


def exported_agreement(
    material: Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Both scopes; the pairs are those of people (of campaigns too) and the one that the page begins with."""
    labelled = labelled_verdicts(material.labels, material.verdicts)
    passes = judge_passes(material.store)
    for scope in agreement.ComparedVerdicts:
        for pair in _pairs(material.labels):
            yield from _of_pair(material, labelled, scope, pair)
        yield from _of_judges(material, labelled, scope, passes)
    yield from _powered(material, labelled, passes)
    yield from _repeats(material)


def exported_judge_differs(
    material: Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """How often each judge labels a detected crash differently from a person, of the labels on the scale and of all."""
    person = _person_beside_judges(material)
    if person is None:
        return
    judges = pooled_judges(judge_passes(material.store))
    for row in as_rows(
        judges_beside.judge_differs(
            labelled_verdicts(material.labels, material.verdicts),
            person,
            judges,
        )
    ):
        of = exported_statistic.ExportedStatistic(
            PAGE,
            "judges",
            "labels that differ",
            by="counted",
            group=row["counted"],
            judged_by=f"{person} and {row['judge']}",
            note=f"{row['n_differ']} differ",
        )
        yield of.rated(row)


def _pairs(labels: pd.DataFrame) -> list[tuple[str, ...]]:
    is_person = labels["kind"] != label_frame.LabellerKind.JUDGE
    people = labels.loc[is_person, "annotator"].unique().tolist()
    usual = tuple(agreement.usual_pair(labels))
    first = [usual] if len(usual) == 2 else []
    # The page's first pair may include a judge, which the combinations of people do not have.
    return list(dict.fromkeys([*first, *combinations(people, 2)]))


def _of_pair(
    material: Material,
    labelled: LabelledVerdicts,
    scope: agreement.ComparedVerdicts,
    pair: tuple[str, ...],
) -> Iterator[exported_statistic.ExportedStatistic]:
    label_set = common_set(material.labels, pair, label_sets(material.folder))
    items = agreement.common_items(
        labelled,
        pair,
        scope,
        label_set,
    )
    if items.facts.empty:
        return
    who = " and ".join(pair)
    for row in as_rows(agreement.agreement_table(items)):
        noted = row | {"why": _noted(row["why"], pair)}
        yield _coefficient("coefficients", noted, scope, who)
    # Outcomes of detection beside those of diagnosis have no order, whatever the labels have.
    has_order = (
        label_set.is_ordinal and scope is not agreement.ComparedVerdicts.ALL
    )
    # A coefficient that needs an order of labels has no value without one: it would be a row of reasons per
    # group.
    asked = [
        name
        for name, one in agreement.COEFFICIENTS.items()
        if has_order or not one.ordered
    ]
    for name, by in product(asked, GROUPINGS):
        for row in as_rows(agreement.agreement_by(items, name, by)):
            noted = row | {"why": _noted(row["why"], pair)}
            of = _coefficient("groups", noted, scope, who)
            yield of._replace(by=by, group=row[by])


def _noted(why: str | None, pair: tuple[str, ...]) -> str | None:
    """The reason of a missing value or interval, and of an annotator who labelled differences alone that they are."""
    said = [why] if why else []
    said += [
        f"{name} {label_frame.DIFFERENCES_ONLY}"
        for name in pair
        if label_frame.labels_differences_only(name)
    ]
    return "; ".join(said) or None


def _coefficient(
    section: str,
    row: dict[str, Any],
    scope: agreement.ComparedVerdicts,
    who: str,
) -> exported_statistic.ExportedStatistic:
    of = exported_statistic.ExportedStatistic(
        PAGE,
        section,
        row["coefficient"],
        runs=str(scope),
        judged_by=who,
        note=row["why"],
    )
    # Percent agreement is a share with a share's interval; only the other intervals are drawn and need a
    # seed.
    if row["coefficient"] == agreement.PERCENT:
        return of.rated(row)
    of = of._replace(seed=measures.SEED)
    return of.measured_row(row, unit="coefficient", method=BOOTSTRAP)


def person_of(labels: pd.DataFrame, sets: Mapping[str, LabelSet]) -> str | None:
    """The person with whom judges are compared: the first that the page begins with, else the study's.

    sets: `label_sets.label_sets`; judges give the study's labels, so a campaign of other labels has none.
    """
    is_person = labels["kind"] != label_frame.LabellerKind.JUDGE
    people = set(labels.loc[is_person, "annotator"])
    for name in (*agreement.usual_pair(labels), PUBLISHED_HUMAN):
        if name in people and means_the_study(common_set(labels, [name], sets)):
            return name
    return None


def _person_beside_judges(material: Material) -> str | None:
    return person_of(material.labels, label_sets(material.folder))


def _of_judges(
    material: Material,
    labelled: LabelledVerdicts,
    scope: agreement.ComparedVerdicts,
    passes: pd.DataFrame,
) -> Iterator[exported_statistic.ExportedStatistic]:
    judges = passes["annotator"].tolist()
    if not judges:
        return
    person = _person_beside_judges(material)
    if person is not None:
        items = agreement.common_items(labelled, [*judges, person], scope)
        for row in as_rows(
            agreement.agreement_with_judges(items, person, judges)
        ):
            yield _coefficient(
                "judges", row, scope, f"{person} and {row['judge']}"
            )
    items = agreement.common_items(labelled, judges, scope)
    for row in as_rows(agreement.judge_consistency(items, passes)):
        of = _coefficient("consistency", row, scope, row["judge"])
        yield of._replace(by="compared", group=row["compared"])


def _powered(
    material: Material,
    labelled: LabelledVerdicts,
    passes: pd.DataFrame,
) -> Iterator[exported_statistic.ExportedStatistic]:
    person = _person_beside_judges(material)
    if person is None:
        return
    judges = pooled_judges(passes)
    for row in as_rows(
        judge_powered(
            labelled,
            person,
            judges,
        )
    ):
        of = exported_statistic.ExportedStatistic(
            PAGE, "judges", "", n_cases=row["n_cases"], n=row["n"]
        )
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
        with_judge = of._replace(
            statistic="correct diagnoses, with the judge",
            judged_by=f"{person} and {row['judge']}",
            note=f"{row['n_more']} labels of the judge only; weight of the judge {row['weight']:.4f}",
        )
        yield with_judge.measured_row(row, unit="share", method=POWERED)


def _repeats(
    material: Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Annotators with themselves."""
    repeats = label_frame.repeat_frame(material.folder)
    hidden = campaigns.open_blind_campaigns(material.folder)
    for row in as_rows(
        agreement.self_agreement(repeats, label_sets(material.folder))
    ):
        # The frame of repeats holds every campaign; the other frames were cleared of blind ones before.
        if row["campaign"] not in hidden:
            scope = agreement.ComparedVerdicts.DIAGNOSES
            yield _coefficient("repeats", row, scope, row["annotator"])

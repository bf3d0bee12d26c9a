"""How far labels agree: which items annotators have in common, and every coefficient over them, as tidy frames.

Starts from the label frame and the verdict frame; the coefficients live in stats. Every annotator is treated alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.annotation.label_set import LabelSet, study_labels
from crane_core.domain import DetectorKind, Label
from crane_core.pipeline.agreement.labelled import NONE, LabelledVerdicts
from crane_core.pipeline.campaigns.label_frame import KEY, LabellerKind
from crane_core.pipeline.results.measures import SEED, estimate_row
from crane_core.stats import (
    agreement,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    vote,
)
from crane_core.storage.verdicts import PUBLISHED_HUMAN

FACTS = ["case_id", "detector_title", "library_group", "root_cause"]
"""The columns of the verdict frame besides the key."""
MIN_COMMON_WHEN_BLIND = 10
"""Common items from which totals of a blind campaign are shown: with fewer they would reveal single labels."""


class ComparedVerdicts(StrEnum):
    """Which verdicts are compared; this decides the scale."""

    DIAGNOSES = "diagnoses of detected crashes"
    ALL = "all verdicts"


class CoefficientKind(NamedTuple):
    """A coefficient and its requirements: an order of the labels, exactly two annotators."""

    statistic: agreement.Statistic
    ordered: bool
    of_two: bool


COEFFICIENTS = {
    asked.statistic.name: asked
    for asked in (
        CoefficientKind(cohen_kappa.NOMINAL, ordered=False, of_two=True),
        CoefficientKind(cohen_kappa.LINEAR, ordered=True, of_two=True),
        CoefficientKind(fleiss_kappa.FLEISS, ordered=False, of_two=False),
        CoefficientKind(krippendorff_alpha.ORDINAL, ordered=True, of_two=False),
        CoefficientKind(
            krippendorff_alpha.NOMINAL, ordered=False, of_two=False
        ),
        CoefficientKind(gwet_ac.AC1, ordered=False, of_two=False),
        CoefficientKind(gwet_ac.AC2_LINEAR, ordered=True, of_two=False),
        CoefficientKind(gwet_ac.AC2_ORDINAL, ordered=True, of_two=False),
        CoefficientKind(
            agreement.PERCENT_AGREEMENT, ordered=False, of_two=False
        ),
    )
}
"""Every coefficient by its name, in the order in which they are shown."""
KAPPA, PERCENT = cohen_kappa.NOMINAL.name, agreement.PERCENT_AGREEMENT.name
NO_ORDER = (
    "it needs ordered labels, and the five labels of all verdicts have no order"
)
NO_ORDER_OF_OWN = (
    "it needs ordered labels, and the labels of this campaign have no order"
)


@dataclass(frozen=True, eq=False)
class Items:
    """Verdicts that two annotators or more labelled, one row each.

    facts: the columns of KEY and FACTS, and `case`, what the bootstrap draws. codes: labels as places on the scale,
    shape (n_items, n_annotators), -1 if there is none or one outside of the scale; how many of those there are tells
    off_scale (annotator, label, n). weights: of the labels, in the same shape, 1 but for second labels that were drawn
    by chance; an item has the largest. label_set: what the annotators chose from.
    """

    facts: pd.DataFrame
    weights: NDArray[np.float64]
    codes: agreement.Codes
    annotators: tuple[str, ...]
    scope: ComparedVerdicts
    off_scale: pd.DataFrame
    label_set: LabelSet = field(default_factory=study_labels)

    @property
    def scale(self) -> tuple[str, ...]:
        """The labels that may be compared, in their order if they have one."""
        return scale_of(self.scope, self.label_set)

    @cached_property
    def counts(self) -> agreement.LabelCounts:
        """The labels by case, which all coefficients share."""
        cases, _ = pd.factorize(self.facts["case"])
        return agreement.count_labels(
            self.codes, cases, len(self.scale), self.weights.max(axis=1)
        )

    def labels(self) -> pd.DataFrame:
        """A column of words per annotator, in the rows of `facts`; None for a missing label."""
        # The last place is that of -1.
        words = np.array([*self.scale, None], dtype=object)
        return pd.DataFrame(
            words[self.codes],
            index=self.facts.index,
            columns=list(self.annotators),
        )

    def among(self, annotators: Sequence[str]) -> Items:
        """The same for some of the annotators. Labels off the scale are not counted again."""
        columns = [self.annotators.index(name) for name in annotators]
        return replace(
            self,
            codes=self.codes[:, columns],
            weights=self.weights[:, columns],
            annotators=tuple(annotators),
        ).at((self.codes[:, columns] != agreement.UNLABELLED).sum(axis=1) >= 2)

    def at(self, is_kept: NDArray[np.bool_]) -> Items:
        """Some of the rows."""
        return replace(
            self,
            facts=self.facts[is_kept],
            codes=self.codes[is_kept],
            weights=self.weights[is_kept],
        )


def scale_of(scope: ComparedVerdicts, labels: LabelSet) -> tuple[str, ...]:
    """The labels that are compared. DIAGNOSES: those of the set, in its order, so distances count if it is ordinal.

    ALL: outcomes of detection and diagnosis, which have no order, and further labels of the set.
    """
    if scope is ComparedVerdicts.DIAGNOSES:
        return labels.codes
    return tuple(dict.fromkeys((*map(str, Label), *labels.codes)))


def common_items(
    labelled: LabelledVerdicts,
    annotators: Sequence[str],
    scope: ComparedVerdicts,
    label_set: LabelSet = study_labels(),  # noqa: B008 - a frozen set, read once
) -> Items:
    """The verdicts in scope that these annotators have in common. label_set: `label_sets.common_set` of theirs."""
    said = labelled.said(annotators)
    rows = np.flatnonzero((said != NONE).sum(axis=1) >= 2)
    verdicts = in_scope(labelled.verdicts.iloc[rows], scope)
    said = said[verdicts.index]
    codes = labelled.as_places(scale_of(scope, label_set))[said]
    facts = verdicts[[*KEY, *FACTS]].reset_index(drop=True)
    everything = Items(
        # Two benchmarks may have cases of one name; the bootstrap must not take them for one.
        facts=facts.assign(
            case=facts["benchmark"] + "/" + facts["case_id"],
        ),
        weights=labelled.weights(annotators)[verdicts.index],
        codes=codes,
        annotators=tuple(annotators),
        scope=scope,
        off_scale=_off_scale(labelled, annotators, said, codes),
        label_set=label_set,
    )
    # Counted again: a label off the scale may have been one of the two.
    return everything.among(annotators)


def _off_scale(
    labelled: LabelledVerdicts,
    annotators: Sequence[str],
    said: agreement.Codes,
    codes: agreement.Codes,
) -> pd.DataFrame:
    strange = np.where(codes == agreement.UNLABELLED, said, NONE)
    rows = [
        (annotator, labelled.words[place], int(n))
        for annotator, places in zip(annotators, strange.T, strict=True)
        for place, n in zip(
            *np.unique(places[places != NONE], return_counts=True), strict=True
        )
    ]
    return pd.DataFrame(sorted(rows), columns=["annotator", "label", "n"])


def in_scope(verdicts: pd.DataFrame, scope: ComparedVerdicts) -> pd.DataFrame:
    """DIAGNOSES: crash predicted by most runs of an LLM and truly crashing, the study's population (paper, 4.5)."""
    if scope is ComparedVerdicts.ALL:
        return verdicts
    votes = vote.majority(
        verdicts["n_crash"].to_numpy(), verdicts["n_safe"].to_numpy()
    )
    is_of_llm = verdicts["detector_kind"] == DetectorKind.LLM
    return verdicts[verdicts["truth"] & votes.crash & is_of_llm]


def main_coefficients(items: Items) -> tuple[str, str, str]:
    """The three that a reader needs, the headline's first: the study's kappa of two annotators, of more alpha.

    They differ in the agreement that they expect by chance; AC1 is the one that a frequent label lowers least.
    """
    has_order = (
        items.scope is ComparedVerdicts.DIAGNOSES and items.label_set.is_ordinal
    )
    alpha = (
        krippendorff_alpha.ORDINAL if has_order else krippendorff_alpha.NOMINAL
    )
    if len(items.annotators) == 2:
        return KAPPA, alpha.name, gwet_ac.AC1.name
    return alpha.name, fleiss_kappa.FLEISS.name, gwet_ac.AC1.name


def agreement_table(
    items: Items, names: Iterable[str] = tuple(COEFFICIENTS)
) -> pd.DataFrame:
    """One row per coefficient of these names, whether it has a value or not.

    Columns: coefficient, source, value, low, high (nan where undefined), n, n_cases, n_undefined (resamples without a
    value), why (in words, where a value or its interval is missing; else None).
    """
    return pd.DataFrame(
        [_estimated(items, COEFFICIENTS[name]) for name in names]
    )


def pairwise(items: Items) -> pd.DataFrame:
    """Cohen's kappa of each two of the annotators: pair (in words), and the columns of `agreement_table`."""
    return pd.DataFrame(
        {"pair": f"{first} and {second}"}
        | _estimated(items.among([first, second]), COEFFICIENTS[KAPPA])
        for first, second in combinations(items.annotators, 2)
    )


def agreement_by(
    items: Items,
    coefficient: str,
    by: str,
) -> pd.DataFrame:
    """One coefficient per group of the column `by` of the facts: that column, and those of `agreement_table`."""
    rows = []
    groups = items.facts[by]
    for group in groups.dropna().unique():
        part = items.at((groups == group).to_numpy(dtype=bool))
        rows.append({by: group} | _estimated(part, COEFFICIENTS[coefficient]))
    return pd.DataFrame(rows)


def _estimated(items: Items, asked: CoefficientKind) -> dict[str, object]:
    named: dict[str, object] = {
        "coefficient": asked.statistic.name,
        "source": asked.statistic.source,
    }
    why_not = _why_not(items, asked)
    if why_not:
        nothing = dict.fromkeys(("value", "low", "high"), np.nan)
        counts = dict.fromkeys(("n", "n_cases", "n_undefined"), 0)
        return named | nothing | counts | {"why": why_not}
    *found, n_undefined, why = agreement.estimate_counted(
        asked.statistic, items.counts, seed=SEED
    )
    told = {"n_undefined": n_undefined, "why": why and str(why)}
    return named | estimate_row(found) | told


def _why_not(items: Items, asked: CoefficientKind) -> str | None:
    """Why a coefficient does not apply."""
    if asked.ordered and items.scope is ComparedVerdicts.ALL:
        return NO_ORDER
    if asked.ordered and not items.label_set.is_ordinal:
        return NO_ORDER_OF_OWN
    n = len(items.annotators)
    if asked.of_two and n != 2:
        return f"it needs exactly two annotators, and {n} are compared"
    return None


def confusions(items: Items) -> pd.DataFrame:
    """Items by the label of the first (rows) and the second annotator (columns), in the order of the scale."""
    first, second = items.annotators
    q = len(items.scale)
    cell = items.codes[:, 0] * q + items.codes[:, 1]
    return pd.DataFrame(
        np.bincount(cell, minlength=q * q).reshape(q, q),
        index=pd.Index(items.scale, name=first),
        columns=pd.Index(items.scale, name=second),
    )


def differing(items: Items) -> pd.DataFrame:
    """Facts and labels of the items whose annotators disagree."""
    given = np.ma.masked_equal(items.codes, agreement.UNLABELLED)
    is_unlike = (given.max(axis=1) != given.min(axis=1)).filled(False)
    unlike = items.at(is_unlike)
    both = [unlike.facts, unlike.labels()]
    return pd.concat(both, axis=1).reset_index(drop=True)


def self_agreement(
    repeats: pd.DataFrame, sets: Mapping[str, LabelSet]
) -> pd.DataFrame:
    """Kappa and percent agreement of each annotator with themselves, over the repeats of `label_frame.repeat_frame`.

    sets: `label_sets.label_sets`. Columns: campaign, annotator, and those of `agreement_table`.
    """
    rows = []
    by = ["campaign", "annotator"]
    for (campaign, annotator), again in repeats.groupby(by, sort=False):
        items = Items(
            facts=again.assign(
                case=again["benchmark"] + "/" + again["case_id"]
            ),
            weights=np.ones((len(again), 2)),
            codes=agreement.label_codes(
                again[["first", "again"]],
                scale_of(ComparedVerdicts.DIAGNOSES, sets[str(campaign)]),
            ),
            annotators=("first", "again"),
            scope=ComparedVerdicts.DIAGNOSES,
            off_scale=pd.DataFrame(),
            label_set=sets[str(campaign)],
        )
        who = {"campaign": campaign, "annotator": annotator}
        rows += [
            who | _estimated(items, COEFFICIENTS[name])
            for name in (KAPPA, PERCENT)
        ]
    return pd.DataFrame(rows)


def agreement_with_judges(
    items: Items,
    person: str,
    judges: Sequence[str],
) -> pd.DataFrame:
    """Kappa and percent agreement of one annotator with each judge: judge, and the columns of `agreement_table`."""
    pairs = {judge: items.among([person, judge]) for judge in judges}
    return pd.DataFrame(
        {"judge": judge} | _estimated(pair, COEFFICIENTS[name])
        for judge, pair in pairs.items()
        for name in (KAPPA, PERCENT)
    )


BOTH_ORDERS = "normal and reversed order"


def judge_consistency(
    items: Items, passes: pd.DataFrame, *, single: bool | None = None
) -> pd.DataFrame:
    """How far each judge agrees with itself: its repetitions with each other, and its two orders of texts.

    passes: `judges.judge_passes`, of annotators among the items. single: only the two orders of each single
    repetition, or only the others; None for all. Columns: judge, compared (in words), and those of
    `agreement_table`, for kappa, nominal alpha and percent agreement.
    """
    rows = []
    for judge, mine in passes.groupby("judge", sort=False):
        for words, annotators, is_single in _comparisons(mine):
            if single is not None and is_single != single:
                continue
            pair = items.among(annotators)
            names = (KAPPA, krippendorff_alpha.NOMINAL.name, PERCENT)
            said = {"judge": judge, "compared": words}
            rows += [
                said | _estimated(pair, COEFFICIENTS[name]) for name in names
            ]
    return pd.DataFrame(rows)


def _comparisons(
    passes: pd.DataFrame,
) -> list[tuple[str, list[str], bool]]:
    """The comparisons in words, the annotators of each, and whether it is of one repetition of several."""
    of_one = passes[passes["repetition"] > 0]
    is_repeated = (passes["repetition"] == 0).any()
    found = []
    for order, rows in of_one.groupby("presentation", sort=False):
        words = f"{len(rows)} repetitions, {order} order"
        found.append((words, rows["annotator"].tolist(), False))
    for repetition, rows in passes.groupby("repetition", sort=True):
        which = f"repetition {repetition}"
        if repetition == 0:
            which = "most frequent label of all repetitions"
        words = f"{BOTH_ORDERS}, {which}"
        is_single = is_repeated and repetition != 0
        found.append((words, rows["annotator"].tolist(), bool(is_single)))
    return [one for one in found if len(one[1]) > 1]


def usual_pair(labels: pd.DataFrame, blind: Collection[str] = ()) -> list[str]:
    """The annotators compared by default; fewer than two if no two share labels.

    blind: campaigns of which totals of few common labels are withheld.

    The two annotators of the newest campaign with the most common labels, else the published human and the first judge.
    """
    of_campaigns = labels[labels["kind"] == LabellerKind.ANNOTATOR]
    for campaign, rows in of_campaigns.groupby("campaign", sort=False):
        fewest = MIN_COMMON_WHEN_BLIND if campaign in blind else 1
        labelled = {
            str(name): set(map(tuple, mine[KEY].to_numpy()))
            for name, mine in rows.groupby("annotator", sort=False)
        }
        pair, most = [], 0
        for one, other in combinations(labelled, 2):
            n_shared = len(labelled[one] & labelled[other])
            if n_shared > most:
                pair, most = [one, other], n_shared
        if most >= fewest:
            return pair
    is_imported = labels["campaign"].isna()
    is_imported &= labels["kind"].isin([LabellerKind.HUMAN, LabellerKind.JUDGE])
    imported = labels[is_imported].drop_duplicates("annotator")
    names = imported["annotator"].tolist()
    judges = imported.loc[
        imported["kind"] == LabellerKind.JUDGE, "annotator"
    ].tolist()
    if judges and PUBLISHED_HUMAN in names:
        return [PUBLISHED_HUMAN, judges[0]]
    return names[:2]

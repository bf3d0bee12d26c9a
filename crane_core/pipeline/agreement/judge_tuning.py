"""Which rule makes a judge's labels agree best with a person's, and how far it can be trusted on other cases.

The prompt variants of a judge are its jobs (`judge --template FILE`), each in either order of texts or in both; the
thresholds are how many of their labels have to say correct. `judge tune` says whose labels, which judges and which
verdicts a certificate is about, and its place is in the ledger.
"""

import fnmatch
import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.annotation.label_set import LabelSet, study_labels
from crane_core.annotation.plan import Plan
from crane_core.domain import JudgeCertificate
from crane_core.errors import DetectorError
from crane_core.importers.published_detectors import slug
from crane_core.pipeline.agreement import agreement, judges_beside
from crane_core.pipeline.agreement.labelled import NONE, labelled_verdicts
from crane_core.pipeline.campaigns.label_frame import KEY, label_frame
from crane_core.pipeline.jobs.files import now
from crane_core.pipeline.judging import certificates
from crane_core.pipeline.judging.certificates import BOTH_ORDERS
from crane_core.pipeline.judging.judge import CAMPAIGN
from crane_core.pipeline.judging.judges import judge_passes
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.rows import as_rows
from crane_core.prompts.judge_reply import Presentation
from crane_core.stats import judge_certificate
from crane_core.stats.arrays import Array
from crane_core.stats.intervals import RateEstimate, clustered_difference
from crane_core.storage import jobs
from crane_core.storage.store import Store
from crane_core.storage.verdicts import PUBLISHED_HUMAN


@dataclass(frozen=True, slots=True)
class TuningRequest:
    """Judges by the name of their labels, the person they are compared with, and the gate in 0..1.

    own_models: per judge the name of its model; its answers are those of the detectors of that name. seed: of the
    split by case. attempt: which certificate against this person it is. label_set: what the person chose from.
    """

    judges: tuple[str, ...]
    person: str
    gate: float
    seed: int
    certified_by: str
    own_models: dict[str, str]
    attempt: int = 1
    label_set: LabelSet = study_labels()  # noqa: RUF009 - a frozen set, read once


class _Variant(NamedTuple):
    """A judge in some orders of texts; votes: shape (n, n_labels), 1 for correct, 0 for not, nan for no label."""

    judge: str
    orders: str
    votes: Array


class _LabelledItems(NamedTuple):
    """facts: rows of the verdict frame. right: 1 where the person says correct, 0 where not; case: of each."""

    facts: pd.DataFrame
    right: Array
    case: NDArray[np.str_]


def tuned(
    labels: pd.DataFrame,
    verdicts: pd.DataFrame,
    passes: pd.DataFrame,
    request: TuningRequest,
) -> JudgeCertificate:
    """The certificate of the judge and rule that were best on the one half of the cases, from the other half.

    labels: the label frame; verdicts: those that count; passes: `judges.judge_passes`. Raises DetectorError if a
    half lacks diagnoses that the person calls correct, or others.
    """
    items, variants = _read(
        labels,
        verdicts,
        passes,
        request,
    )
    is_tuning = judge_certificate.tuning_part(items.case, seed=request.seed)
    rule = judge_certificate.best_rule(
        [variant.votes[is_tuning] for variant in variants],
        items.right[is_tuning],
        items.case[is_tuning],
    )
    if rule is None:
        raise _too_few(request, "choose a rule on")
    chosen = variants[rule.variant]
    called = judge_certificate.called_correct(chosen.votes, rule.needed)
    rates = judge_certificate.error_rates(
        called[~is_tuning], items.right[~is_tuning], items.case[~is_tuning]
    )
    is_hidden = (
        rates.sensitivity.n + rates.specificity.n
        < agreement.MIN_COMMON_WHEN_BLIND
    )
    if isnan(rates.lowest) or is_hidden:
        raise _too_few(request, "certify it on")
    is_own = _own_answers(items.facts, request.own_models.get(chosen.judge))
    about = _about(rule, chosen, rates, sum(v.votes.shape[1] for v in variants))
    return JudgeCertificate(
        judge=chosen.judge,
        person=request.person,
        certified_at=now(),
        certified_by=request.certified_by,
        gate=request.gate,
        seed=request.seed,
        attempt=request.attempt,
        tuned_cases=len(np.unique(items.case[is_tuning])),
        n_cases=len(np.unique(items.case[~is_tuning])),
        n_left_out=int(np.isnan(called[~is_tuning]).sum()),
        **about,
        **_bias("order_bias", _order_bias(chosen.judge, variants, items.case)),
        **_bias(
            "self_preference",
            judge_certificate.self_preference(
                called,
                items.right,
                is_own,
                items.case,
            ),
        ),
    )


def _about(
    rule: judge_certificate.LabelRule,
    chosen: _Variant,
    rates: judge_certificate.ErrorRates,
    n_rules: int,
) -> dict[str, Any]:
    return {
        "orders": chosen.orders,
        "needed": rule.needed,
        "n_labels": chosen.votes.shape[1],
        "n_rules": n_rules,
        "n_correct": rates.sensitivity.n,
        "sensitivity": float(rates.sensitivity.value),
        "sensitivity_bound": float(rates.sensitivity.low),
        "n_other": rates.specificity.n,
        "specificity": float(rates.specificity.value),
        "specificity_bound": float(rates.specificity.low),
    }


def _read(
    labels: pd.DataFrame,
    verdicts: pd.DataFrame,
    passes: pd.DataFrame,
    request: TuningRequest,
) -> tuple[_LabelledItems, list[_Variant]]:
    """The items that the person labelled, and what each variant says of them."""
    single = passes[passes["repetition"] > 0]
    single = single[single["judge"].isin(request.judges)]
    names = list(map(str, single["annotator"]))
    labelled = labelled_verdicts(labels, verdicts)
    said = labelled.said([request.person, *names])
    rows = np.flatnonzero((said[:, 0] != NONE) & (said[:, 1:] != NONE).any(1))
    facts = agreement.in_scope(
        labelled.verdicts.iloc[rows], agreement.ComparedVerdicts.DIAGNOSES
    )
    credits = judges_beside.credits_of(request.label_set)
    is_correct = labelled.as_numbers(
        lambda word: float(credits[word] == 1) if word in credits else np.nan
    )
    person, *of_passes = is_correct[said[facts.index]].T
    votes = dict(zip(names, of_passes, strict=True))
    items = _LabelledItems(
        facts=facts,
        right=person,
        case=(facts["benchmark"] + "/" + facts["case_id"]).to_numpy(dtype=str),
    )
    return items, list(_variants(single, votes, request.judges))


def _variants(
    passes: pd.DataFrame, votes: dict[str, Array], judges: tuple[str, ...]
) -> Iterator[_Variant]:
    for judge in judges:
        mine = passes[passes["judge"] == judge]
        orders = sorted(mine["presentation"].unique().tolist())
        for order in orders:
            names = mine.loc[mine["presentation"] == order, "annotator"]
            yield _Variant(
                judge, order, np.column_stack([votes[name] for name in names])
            )
        if len(orders) > 1:
            every = [votes[name] for name in mine["annotator"]]
            yield _Variant(judge, BOTH_ORDERS, np.column_stack(every))


def _order_bias(
    judge: str, variants: list[_Variant], case: NDArray[np.str_]
) -> RateEstimate | None:
    """Share of correct labels with the texts reversed minus that in normal order, over items with both."""
    of = {
        variant.orders: variant.votes
        for variant in variants
        if variant.judge == judge
    }
    if not {*Presentation} <= set(of):
        return None
    normal, reversed_ = (of[str(order)].mean(axis=1) for order in Presentation)
    is_known = ~np.isnan(normal) & ~np.isnan(reversed_)
    return clustered_difference(
        np.nan_to_num(normal) * is_known,
        is_known,
        np.nan_to_num(reversed_) * is_known,
        is_known,
        case,
    )


def _own_answers(facts: pd.DataFrame, model: str | None) -> NDArray[np.bool_]:
    """Which items are answers of this model: of the detector whose id or title it is, with or without its provider."""
    if model is None:
        return np.zeros(len(facts), dtype=bool)
    names = {slug(model), slug(model.rpartition("/")[2])}
    is_own = facts["detector"].map(slug).isin(names)
    is_own |= facts["detector_title"].map(slug).isin(names)
    return is_own.to_numpy(dtype=bool)


def _bias(name: str, found: RateEstimate | None) -> dict[str, Any]:
    if found is None or isnan(found.value):
        return {}
    return {
        name: float(found.value),
        f"{name}_low": float(found.low),
        f"{name}_high": float(found.high),
    }


def _too_few(request: TuningRequest, purpose: str) -> DetectorError:
    return DetectorError(
        f"Too few diagnoses have labels of {request.person} and a judge to {purpose}: each half of the cases needs "
        f"some that {request.person} calls correct and some others, and the certifying half "
        f"{agreement.MIN_COMMON_WHEN_BLIND}.",
        remedy="Label more, or ask the judge about more with `judge`.",
    )


@dataclass(frozen=True, slots=True)
class CertificateRequest:
    """What a certificate is wanted about. judges: empty for all; person: None for the usual one.

    campaign: its items; else the verdicts of a benchmark, and of `experiment` if one is named, whose detector and
    setting match the globs. own_model: None for the model that each judge's job names.
    """

    campaign: Plan | None
    benchmark: str
    gate: float
    seed: int
    certified_by: str
    experiment: str | None = None
    detector: str = "*"
    setting: str = "*"
    judges: tuple[str, ...] = ()
    person: str | None = None
    own_model: str | None = None


def certify_judge(
    store: Store, folder: DataFolder, request: CertificateRequest
) -> JudgeCertificate:
    """Choose judge and rule on one half of the cases, certify them on the other, and keep the certificate.

    Raises DetectorError for unknown judges or people, and for too few labels; LedgerError.
    """
    labels, passes = label_frame(store, folder), judge_passes(store)
    models, others = _models(store, request.campaign)
    known = sorted(set(passes["judge"]) - others)
    if request.campaign is not None:
        known = [judge for judge in known if judge in models]
    judges = _chosen(request.judges, known)
    person = _person(request, labels)
    n_before = sum(
        kept.person == person for kept in certificates.all_certificates(folder)
    )
    found = tuned(
        labels,
        _verdicts(store, request),
        passes,
        TuningRequest(
            judges=judges,
            person=person,
            gate=request.gate,
            seed=request.seed,
            certified_by=request.certified_by,
            own_models=models
            if request.own_model is None
            else dict.fromkeys(judges, request.own_model),
            attempt=n_before + 1,
            label_set=request.campaign.labels
            if request.campaign
            else study_labels(),
        ),
    )
    certificates.keep_certificate(folder, found)
    return found


def _models(
    store: Store, campaign: Plan | None
) -> tuple[dict[str, str], set[str]]:
    """The model of each judge that labels for this campaign (None: for none), and the judges of other campaigns."""
    models: dict[str, str] = {}
    others: set[str] = set()
    name = campaign.campaign if campaign else None
    for job in as_rows(jobs.judge_job_list(store.cursor())):
        options = json.loads(job["options"])
        if options.get(CAMPAIGN) == name:
            models[job["annotator"]] = str(options.get("model", ""))
        else:
            others.add(job["annotator"])
    return models, others


def _chosen(wanted: tuple[str, ...], known: list[str]) -> tuple[str, ...]:
    if not known:
        raise DetectorError(
            "No LLM judge has labels here.",
            remedy="Have one label with `judge`, then repeat this command.",
        )
    for name in wanted:
        if name not in known:
            raise DetectorError(
                f"There is no judge {name[:80]!r} here; there are: {', '.join(known)}.",
                remedy="Name one of them with --judge.",
            )
    return wanted or tuple(known)


def _person(request: CertificateRequest, labels: pd.DataFrame) -> str:
    """The name in the label frame; of a campaign's annotators without the campaign too."""
    campaign = request.campaign.campaign if request.campaign else None
    usual = f"{campaign}: final" if campaign else PUBLISHED_HUMAN
    wanted = request.person or usual
    known = set(labels["annotator"].unique())
    for name in (wanted, f"{campaign}: {wanted}"):
        if name in known:
            return name
    raise DetectorError(
        f"There are no labels of {wanted[:80]!r}.",
        remedy="Name a person with --person as Agreement does, such as 'pilot: ana'.",
    )


def _verdicts(store: Store, request: CertificateRequest) -> pd.DataFrame:
    verdicts = verdict_frame(store)
    if request.campaign is not None:
        keys = [item.verdict.key for item in request.campaign.items]
        return verdicts[pd.MultiIndex.from_frame(verdicts[KEY]).isin(keys)]
    is_meant = verdicts["benchmark"] == request.benchmark
    if request.experiment is not None:
        is_meant &= verdicts["experiment"] == request.experiment
    for column in ("detector", "setting"):
        pattern = fnmatch.translate(getattr(request, column))
        is_meant &= verdicts[column].astype(str).str.match(pattern)
    return verdicts[is_meant]

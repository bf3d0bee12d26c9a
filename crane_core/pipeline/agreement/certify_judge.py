"""`judge tune`: whose labels, which judges and which verdicts a certificate is about, and its place in the ledger."""

import fnmatch
import json
from dataclasses import dataclass

import pandas as pd

from crane_core.annotation.label_set import study_labels
from crane_core.annotation.plan import Plan
from crane_core.domain import JudgeCertificate
from crane_core.errors import DetectorError
from crane_core.pipeline.agreement.judge_tuning import TuningRequest, tuned
from crane_core.pipeline.campaigns.label_frame import KEY, label_frame
from crane_core.pipeline.judging import certificates
from crane_core.pipeline.judging.judge import CAMPAIGN
from crane_core.pipeline.judging.judges import judge_passes
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.rows import as_rows
from crane_core.storage import jobs
from crane_core.storage.store import Store
from crane_core.storage.verdicts import PUBLISHED_HUMAN


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

"""LLM judges of the campaign beside its people: do they agree, and what do both say together?"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.annotation.label_set import LabelSet, means_the_study
from crane_core.domain import JudgeCertificate
from crane_core.pipeline.agreement import campaign_judges
from crane_core.pipeline.agreement.agreement import MIN_COMMON_WHEN_BLIND
from crane_core.pipeline.agreement.judges_beside import credits_of
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.campaigns.guideline import current_guideline
from crane_core.pipeline.campaigns.status import CampaignStatus
from crane_core.pipeline.judging.certificates import (
    certificate_words,
    certificates,
)
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data, words
from crane_core.ui.grid import grid

NONE_YET = (
    "No LLM judge has labelled these items. The command `judge` has one label them under this guideline; its help says "
    "how."
)
NOTE = (
    "In brackets: 95% intervals over cases, where there are enough for one. Items: both gave one of the campaign's "
    "labels; a judge may also say unverifiable."
)
POWERED = (
    "{}, with the judge: prediction-powered inference over the items that both labelled, and the ones that only the "
    "judge did (Both + judge), where its labels are corrected by how far the two differ. It holds, however good the "
    "judge is, where the person's items are a random sample; annotators label in random order."
)


@data.kept(data.revision, 8, copied=True)
def _beside(
    campaign: str,
) -> tuple[list[campaign_judges.CampaignJudge], pd.DataFrame]:
    plan, lock = kept_campaign(data.folder(), campaign)
    judges = campaign_judges.judges_of(data.store(), campaign)
    names = [judge.name for judge in judges]
    return judges, campaign_judges.beside_people(
        data.labels(), data.verdicts(), plan, names, locked=lock is not None
    )


def draw_judges(status: CampaignStatus) -> None:
    """Each judge with its guideline, and a row per judge and person."""
    plan = status.plan
    judges, table = _beside(plan.campaign)
    if not judges:
        st.caption(NONE_YET)
        return
    now = current_guideline(data.folder(), plan).version
    certified = certificates(data.folder())
    gate = plan.design.judge_gate
    st.markdown(words.bullets(judge_words(judges, now, certified, gate)))
    if table.empty:
        hidden = plan.blind and status.lock is None
        fewest = f" {MIN_COMMON_WHEN_BLIND}" if hidden else ""
        st.caption(
            f"Nobody has{fewest} labels on the same items as a judge yet."
        )
        return
    grid(
        pd.DataFrame(
            [shown(row, plan.campaign, plan.labels) for row in as_rows(table)]
        ),
        height="content",
    )
    st.caption(note(plan.labels))


def note(labels: LabelSet) -> str:
    """What the columns say, for Markdown."""
    counted = words.literal(campaign_judges.counted_words(labels))
    if not credits_of(labels):
        return f"{NOTE} {counted}"
    return f"{NOTE} {POWERED.format('Credit' if counted else 'Correct')} {counted}".rstrip()


def judge_words(
    judges: list[campaign_judges.CampaignJudge],
    now: str,
    certified: Mapping[str, JudgeCertificate],
    gate: float,
) -> list[str]:
    """A sentence per judge, for Markdown; now: the version of the guideline in force. certified: by `labels_of`.

    gate: what the plan wants of a judge's bounds.
    """
    return [
        f"{words.literal(judge.name)}: guideline {judge.guideline}"
        + (
            ", in force"
            if judge.guideline == now
            else f"; {now} is in force now"
        )
        + f"; {words.literal(certificate_words(certified.get(judge.labels_of), gate))}"
        for judge in judges
    ]


def shown(
    row: dict[str, Any], campaign: str, labels: LabelSet
) -> dict[str, str]:
    """A row of `agreement.campaign_judges.beside_people` in words; labels without any credit have no estimates."""
    has_more = row["n_more"] is not None
    counted = "Correct" if means_the_study(labels) else "Credit"
    agreed = {
        "Person": row["person"].removeprefix(f"{campaign}: "),
        "Judge": row["judge"].replace(f" on {campaign}", "", 1),
        "Items": words.count(row["n"]),
        "Agreement": f"{words.percent(row['percent'])} (no interval)"
        if row["percent_why"]
        else _share(row, "percent"),
        "Cohen's kappa": _kappa(row) if row["kappa"] is not None else "–",
    }
    if not credits_of(labels):
        return agreed
    return agreed | {
        f"{counted}, person only": _share(row, "alone") if has_more else "–",
        f"{counted}, with the judge": _share(row, "powered")
        if has_more
        else "–",
        "Both + judge": f"{words.count(int(row['n_both']))} + {words.count(int(row['n_more']))}"
        if has_more
        else "–",
    }


def _share(row: dict[str, Any], name: str) -> str:
    return f"{words.percent(row[name])} ({words.interval(row[f'{name}_low'], row[f'{name}_high'])})"


def _kappa(row: dict[str, Any]) -> str:
    bounds = (
        "no interval"
        if row["kappa_why"]
        else words.coefficient_interval(row["kappa_low"], row["kappa_high"])
    )
    return f"{words.coefficient(row['kappa'])} ({bounds})"

"""The tab Result: after the lock the shares of each label; before it final labels so far, the lock and the export.

Below them the LLM judges of the campaign: do they agree with its people, and what do both say together?
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.annotation.label_set import LabelSet, means_the_study
from crane_core.annotation.outcome import Final, Provenance
from crane_core.annotation.plan import Plan
from crane_core.charts.label_shares import label_shares
from crane_core.charts.theme import in_order
from crane_core.domain import AuditAction, JudgeCertificate
from crane_core.identity.visitor import Role
from crane_core.pipeline.agreement import campaign_judges
from crane_core.pipeline.agreement.agreement import MIN_COMMON_WHEN_BLIND
from crane_core.pipeline.agreement.judges_beside import credits_of
from crane_core.pipeline.audit import note
from crane_core.pipeline.campaigns import label_sets
from crane_core.pipeline.campaigns.campaigns import kept_campaign, lock_campaign
from crane_core.pipeline.campaigns.export.files import export_zip
from crane_core.pipeline.campaigns.guideline import current_guideline
from crane_core.pipeline.campaigns.label_frame import final_outcomes
from crane_core.pipeline.campaigns.result import CampaignResult, GroupShares
from crane_core.pipeline.campaigns.status import CampaignStatus, open_words
from crane_core.pipeline.judging import certificates
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data, keys, words
from crane_core.ui.access import acting, note_act
from crane_core.ui.campaigns import campaign_words
from crane_core.ui.campaigns.progress import colours_of
from crane_core.ui.caption import captioned, source_words
from crane_core.ui.chart_box import draw_chart, finished
from crane_core.ui.grid import grid
from crane_core.ui.navigation import go, show_here
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.rows_html import rows_html
from crane_core.ui.visit import carried, require, require_still, visitor
from crane_core.ui.words import count, interval, literal, percent, setting_short

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


def draw_result(status: CampaignStatus) -> None:
    """The whole tab."""
    if status.result is None:
        _draw_so_far(status)
    else:
        _draw_locked(status, status.result)
    st.header("LLM judges", anchor="judges")
    draw_judges(status)


def _draw_so_far(status: CampaignStatus) -> None:
    with st.container(key=keys.BESIDE_EACH_OTHER):
        left, right = st.columns(2, gap="large")
    with left:
        st.header("Final labels so far", anchor="final")
        _draw_outcomes(status.plan)
    with right:
        if not campaign_words.is_lock_above(status):
            st.header("Lock", anchor="lock")
            draw_lock(status)
        st.header("Export", anchor="export")
        draw_export(status, is_next=False)
        st.caption(export_words(status))


def _draw_locked(status: CampaignStatus, result: CampaignResult) -> None:
    plan = status.plan
    with st.container(key=keys.BESIDE_EACH_OTHER):
        left, right = st.columns([3, 2], gap="large")
    with left:
        _draw_shares(status, result)
    with right:
        if label_sets.enters_results(plan.labels):
            st.header("Scores by these labels", anchor="use")
            if st.button("Use in Results"):
                go("results", **results_address(plan))
        st.header("How the labels came about", anchor="final")
        _draw_outcomes(plan)


def results_address(plan: Plan) -> dict[str, str]:
    """The parameters of Results by the final labels of this campaign."""
    return {
        keys.BENCHMARK: plan.population.benchmark,
        keys.EXPERIMENT: plan.population.experiment,
        keys.JUDGED_BY: f"{plan.campaign}: final",
    }


def _draw_shares(status: CampaignStatus, result: CampaignResult) -> None:
    plan = status.plan
    if result.is_empty:
        st.info("The campaign was locked before any item had a final label.")
        return
    table = _share_table(result, plan.labels)
    note = about(result, n_undecided=status.outcomes[Provenance.OPEN])
    draw_chart(
        finished(label_shares, table, colours=colours_of(plan.labels)),
        _readable(table),
        numbers=table.drop(columns=["text", "group"]),
        name=f"label_shares_{plan.campaign}",
        caption=captioned(
            campaign_words.headline(status),
            [note, f"n: {count(result.whole.n)} items. Not tested."],
            source=source_words(
                data.benchmark_title(plan.population.benchmark),
                plan.population.experiment,
            ),
        ),
        note=note,
    )


def about(result: CampaignResult, *, n_undecided: int) -> str:
    """What the shares are of, how they are weighted, and what is missing; plain text. n_undecided: of the items."""
    n = result.whole.n
    words = [
        f"{count(n)} items of {count(result.whole.n_cases)} cases stand for {count(result.n_population)} verdicts: "
        "each for as many as its stratum has per labelled item. Lines: 95% intervals by case."
    ]
    if result.n_open:
        words.append(
            f"{count(result.n_open)} items have no final label and are left out."
        )
    if n_undecided:
        # Items on which people differ are the harder ones, and they are missing.
        words.append(
            f"{count(n_undecided)} of them got different labels and were not decided, so the rest is easier than the "
            "whole."
        )
    if result.n_uncovered:
        words.append(
            f"No label stands for {count(result.n_uncovered)} verdicts of strata without one."
        )
    return " ".join(words)


def _share_table(result: CampaignResult, labels: LabelSet) -> pd.DataFrame:
    """A row per group and label, all items first, as the chart takes it."""
    titles = data.detector_titles()
    of_title: dict[str, list[GroupShares]] = {}
    for group in result.groups:
        detector = str(group.detector)
        of_title.setdefault(titles.get(detector, detector), []).append(group)
    rows = _share_rows("All", result.whole, labels)
    for title in in_order(list(of_title)):
        for group in of_title[title]:
            name = f"{title}, {setting_short(str(group.setting))}"
            rows += _share_rows(name, group, labels)
    return pd.DataFrame(rows)


def _share_rows(
    name: str, group: GroupShares, labels: LabelSet
) -> list[dict[str, object]]:
    rows = []
    for label in labels.labels:
        found = group.shares[label.code]
        rows.append(
            {
                "group": f"{name} ({count(found.n)} items)",
                "of": name,
                "label": label.word,
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "text": percent(found.value),
                "n": found.n,
                "n_cases": found.n_clusters,
            }
        )
    return rows


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """A row per group, a column per label."""
    shown = []
    for name, rows in table.groupby("of", sort=False):
        shown.append(
            {
                "Model and input": name,
                "n": count(rows["n"].iloc[0]),
                "Cases": count(rows["n_cases"].iloc[0]),
            }
            | {
                row[
                    "label"
                ]: f"{row['text']} ({interval(row['low'], row['high'])})"
                for row in as_rows(rows)
            }
        )
    return pd.DataFrame(shown)


def _draw_outcomes(plan: Plan) -> None:
    """Final labels by how they came about; every item is counted once."""
    finals = final_outcomes(data.folder(), plan)
    st.html(rows_html(_table(finals, plan.labels)))
    if told := label_sets.standing_words(plan.labels):
        st.caption(literal(told))


def _table(finals: dict[str, Final], labels: LabelSet) -> pd.DataFrame:
    counts = Counter(
        (final.provenance, final.label) for final in finals.values()
    )
    rows = []
    for provenance in Provenance:
        of = {
            label.words: counts[provenance, label.code]
            for label in labels.labels
        }
        n = sum(of.values()) + counts[provenance, None]
        has_label = provenance not in (Provenance.OPEN, Provenance.UNLABELLED)
        shown = {name: count(k) if has_label else "" for name, k in of.items()}
        rows.append({"Provenance": str(provenance), "Items": count(n)} | shown)
    return pd.DataFrame(rows)


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
    certified = certificates.certificates(data.folder())
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
    st.caption(labels_note(plan.labels))


def labels_note(labels: LabelSet) -> str:
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
        + f"; {words.literal(certificates.certificate_words(certified.get(judge.labels_of), gate))}"
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


RESULT = "Result"
"""Name of the tab that has the shares after the lock."""
ABOUT_EXPORT = "Labels as a table, every act as JSON lines, JSON Schemas of both, the plan, and a README."
HIDES = (
    "Until the lock it hides the model, the input and the case of every item."
)


def draw_export(status: CampaignStatus, *, is_next: bool) -> None:
    """A button for labels, acts and plan as one archive, made on request; is_next: it is the page's main one."""
    campaign = status.plan.campaign
    folder, actor, brought = data.folder(), acting(), carried()

    def export() -> bytes:
        require_still(brought, Role.LEAD)
        note(folder, actor, AuditAction.EXPORT, f"campaign {campaign}")
        return export_zip(folder, campaign)

    st.download_button(
        "Export",
        export,
        f"{campaign}_export.zip",
        "application/zip",
        on_click="ignore",
        type="primary" if is_next else "secondary",
        help=export_words(status),
    )


def export_words(status: CampaignStatus) -> str:
    """What the archive holds and hides."""
    is_hidden = status.plan.blind and status.lock is None
    return f"{ABOUT_EXPORT} {HIDES}" if is_hidden else ABOUT_EXPORT


def draw_lock(status: CampaignStatus) -> None:
    """What is open, and the button that ends an open campaign."""
    found = open_words(status)
    if found:
        st.warning(
            "Still open. "
            + " ".join(
                f"{words[0].upper()}{words[1:]}."
                for words in map(literal, found)
            )
        )
    with st.form("lock", border=False):
        by = visitor().name or st.text_input("Locked by", width=260)
        anyway = (
            st.checkbox("Lock it although items are open") if found else True
        )
        pressed = st.form_submit_button("Lock campaign")
    st.caption(
        "After the lock labels and decisions do not change any more, and what was hidden is shown."
    )
    if pressed:
        _lock(status, by.strip(), anyway=bool(anyway))


def _lock(status: CampaignStatus, by: str, *, anyway: bool) -> None:
    if not by:
        st.error("Enter the name of the person who locks it.")
    elif not anyway:
        st.error("Items are open: finish them, or tick the box to lock anyway.")
    else:
        with refusals_shown():
            require(Role.LEAD)
            lock_campaign(data.folder(), status.plan.campaign, by=by)
            note_act(
                AuditAction.LOCK,
                f"campaign {status.plan.campaign}",
                f"locked by {by}",
            )
            # The lock leaves the person who locked on the tab where they pressed it; they come for the result.
            show_here(
                **{keys.CAMPAIGN: status.plan.campaign, keys.PART: RESULT}
            )
            st.rerun()

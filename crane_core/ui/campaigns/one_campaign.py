"""One campaign for its lead: its answer as title, its state, a button for what comes next, three tabs, its guideline.

Of the guideline: the text in force, its history, and a new version while the campaign is open. Of people: who labels
from now on, people who come and go, items labelled again.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import streamlit as st

from crane_core.annotation import guideline
from crane_core.annotation.plan import Plan
from crane_core.annotation.redeal import PeopleChange, is_main_open
from crane_core.annotation.rounds import Round
from crane_core.domain import AuditAction, Listed
from crane_core.errors import CraneError
from crane_core.identity.roles import configured_roles
from crane_core.identity.visitor import Role
from crane_core.pipeline.campaigns import rounds
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.campaigns.guideline import (
    change_guideline,
    guideline_versions,
)
from crane_core.pipeline.campaigns.label_frame import (
    judges_of_verdicts,
    labels_of_judge,
)
from crane_core.pipeline.campaigns.plan_outline import query_words
from crane_core.pipeline.campaigns.status import CampaignStatus, campaign_status
from crane_core.pipeline.campaigns.stop_advice import stop_words
from crane_core.ui import data, keys
from crane_core.ui.access import note_act
from crane_core.ui.campaigns import campaign_words, result
from crane_core.ui.campaigns.plan_view import titles_of
from crane_core.ui.campaigns.progress import draw_progress
from crane_core.ui.guideline_view import change_html, draw_guideline
from crane_core.ui.headline import draw_headline, name_part
from crane_core.ui.inventory_view import draw_one
from crane_core.ui.label_view import label_words
from crane_core.ui.navigation import go, show_here, turn
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.url_state import one_tab
from crane_core.ui.visit import require, visitor
from crane_core.ui.words import (
    count,
    listed,
    literal,
    moment,
    names_typed,
    quantity,
)

PROGRESS = "Progress"
PEOPLE = "People and guideline"


def draw_campaign(campaign: str) -> None:
    """The whole page of one campaign. Raises CampaignError, after a title and a way back."""
    try:
        status = campaign_status(data.folder(), campaign)
    except CraneError:
        draw_headline("This campaign cannot be opened", tab="Campaigns")
        turn("All campaigns")
        raise
    title = campaign_words.short_title(status.plan.title)
    draw_headline(campaign_words.headline(status), tab=title)
    _draw_next(status)
    _draw_stop(status)
    parts = {
        PROGRESS: draw_progress,
        PEOPLE: _draw_people_and_guideline,
        result.RESULT: result.draw_result,
    }
    # After the lock the result is what one comes for.
    names = [result.RESULT, PROGRESS, PEOPLE] if status.lock else list(parts)
    name, tab = one_tab(names, key=keys.PART)
    name_part(name, names, title)
    with tab:
        parts[name](status)
    draw_one(Listed.CAMPAIGN, campaign)


def _draw_next(status: CampaignStatus) -> None:
    """The state, the main button, why it is next, and the way back to the list."""
    with st.container(
        horizontal=True, vertical_alignment="center", key=keys.NEXT_STEP
    ):
        st.html(campaign_words.chip_html(status), width="content")
        draw_main_button(status)
        st.caption(literal(campaign_words.next_words(status)), width="stretch")
        turn("All campaigns")


def _draw_stop(status: CampaignStatus) -> None:
    """The stop rule; where it holds, the way to end the campaign although items are open."""
    words = stop_words(status.stop) if status.stop else ""
    if status.stop is None or not words:
        return
    if not status.stop.may_stop:
        st.caption(literal(words))
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.success(literal(words), width="stretch")
        # Where the lock is what comes next anyway, its button is the main one.
        if campaign_words.next_step(status) is not campaign_words.NextStep.LOCK:
            with st.popover("Stop and lock"):
                result.draw_lock(status)


def draw_main_button(status: CampaignStatus) -> None:
    """What the lead does next."""
    step, campaign = campaign_words.next_step(status), status.plan.campaign
    if step is campaign_words.NextStep.EXPORT:
        result.draw_export(status, is_next=True)
        return
    if step is campaign_words.NextStep.LABEL:
        _draw_label_button(status)
        return
    if step is campaign_words.NextStep.LOCK:
        with st.popover("Lock", type="primary"):
            result.draw_lock(status)
        return
    n_waiting = len(status.waiting)
    label, query = {
        campaign_words.NextStep.DECIDE: (
            f"Decide {quantity(n_waiting, 'item')}",
            {keys.DECIDE: "next"},
        ),
        campaign_words.NextStep.OPEN_MAIN: (
            "Go on to the main round",
            {keys.PART: PEOPLE},
        ),
        campaign_words.NextStep.DRAW_SECOND: (
            "Go on to second labels",
            {keys.PART: PEOPLE},
        ),
    }[step]
    st.button(
        label,
        type="primary",
        on_click=show_here,
        kwargs={keys.CAMPAIGN: campaign} | query,
    )


def _draw_label_button(status: CampaignStatus) -> None:
    """For those who label here; without logins a visitor chooses a name on the next page."""
    person = visitor()
    plan = status.plan
    query = {keys.CAMPAIGN: plan.campaign, keys.ANNOTATOR: person.name}
    is_elsewhere = person.is_known and person.name not in plan.present
    if is_elsewhere or not st.button("Label items", type="primary"):
        return
    go("annotate", **(query if person.is_known else {}))


def _draw_people_and_guideline(status: CampaignStatus) -> None:
    st.markdown(literal(_sample_words(status)))
    st.header("People and rounds", anchor="people")
    draw_people(status)
    st.header("Guideline", anchor="guideline")
    draw_guideline_of(status)


def _sample_words(status: CampaignStatus) -> str:
    """Who labels what, and since when."""
    plan = status.plan
    label = "labels" if len(plan.present) == 1 else "label"
    by = f" by {plan.created_by}" if plan.created_by else ""
    blind = "blind" if plan.blind else "not blind"
    asked = query_words(plan.population, titles_of(plan.population))
    return (
        f"{listed(plan.present)} {label} {count(len(plan.items))} of {count(plan.population_size)} verdicts ({asked}), "
        f"{blind}. Created {plan.created_at[:10]}{by} as {plan.campaign}."
    )


def draw_guideline_of(status: CampaignStatus) -> None:
    """What annotators read now, what each version changed, and the form for the next."""
    versions = guideline_versions(data.folder(), status.plan)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Read it", width="content"):
            draw_guideline(versions[-1].text)
        st.caption(literal(_told(versions[-1])), width="stretch")
    for older, newer in reversed(list(pairwise(versions))):
        with st.expander(
            literal(f"Changed {moment(newer.since)} by {newer.by}")
        ):
            st.html(change_html(older.text, newer.text))
    if status.lock is None:
        _draw_change(status.plan.campaign, versions)


def _told(version: guideline.GuidelineVersion) -> str:
    return f"Version {version.version}, in force since {moment(version.since)}"


def _draw_change(
    campaign: str, versions: Sequence[guideline.GuidelineVersion]
) -> None:
    _begin_draft(campaign, versions)
    with st.expander("Change the guideline"):
        st.caption(
            "Labels keep the version that they were given under. Annotators are told at their next item. Sections "
            "under a heading of the third level (###) are folded."
        )
        left, right = st.columns(2, gap="medium")
        with left:
            text = st.text_area(
                "Text, Markdown",
                key=keys.guideline(campaign),
                height=480,
                max_chars=guideline.MOST_CHARACTERS,
            )
        with right:
            changes, preview = st.tabs(["Changes", "Preview"])
        with changes:
            if text.strip() == versions[-1].text.strip():
                st.caption(
                    "Nothing is changed yet. Click outside the text to see what you changed."
                )
            else:
                st.html(change_html(versions[-1].text, text))
        with preview:
            draw_guideline(text)
        by = visitor().name or st.text_input("Author", width=260, max_chars=80)
        if st.button("Store new version"):
            _store(campaign, text, by, versions)


def _begin_draft(
    campaign: str, versions: Sequence[guideline.GuidelineVersion]
) -> None:
    """The form begins with the text in force, and does again when another lead changed what was not edited here."""
    draft, base = keys.guideline(campaign), keys.guideline_base(campaign)
    before = guideline.version_known(versions, st.session_state.get(base))
    if (
        draft not in st.session_state
        or before is None
        or st.session_state[draft] == before.text
    ):
        st.session_state[draft], st.session_state[base] = (
            versions[-1].text,
            versions[-1].version,
        )


def _store(
    campaign: str,
    text: str,
    by: str,
    versions: Sequence[guideline.GuidelineVersion],
) -> None:
    base = keys.guideline_base(campaign)
    with refusals_shown():
        require(Role.LEAD)
        instead_of, st.session_state[base] = (
            st.session_state[base],
            versions[-1].version,
        )
        changed = change_guideline(
            data.folder(), campaign, text, by=by, instead_of=instead_of
        )
        st.session_state[base] = changed.version
        st.rerun()


WIDTH = 260
KEEPS = "leaves; open items go to the others"
HANDS = "stays, and hands open items to the others"


def draw_people(status: CampaignStatus) -> None:
    """What has changed so far, and the forms to change more; a locked campaign can only be labelled again."""
    plan = status.plan
    for entry in plan.rounds:
        st.caption(
            literal(
                f"{entry.at[:10]}, {entry.by}: {rounds.round_words(entry)}."
            )
        )
    if missing := status.n_unassigned:
        st.warning(
            f"{count(missing)} labels that the design asks for have nobody to give them. Add people."
        )
    if status.lock is None:
        if not is_main_open(plan):
            _draw_main(plan)
        if status.n_undrawn:
            _draw_second(plan, status.n_undrawn)
    with st.container(key="folds_of_people"):
        if status.lock is None:
            with st.expander("Add annotators"):
                _draw_add(plan)
            with st.expander("Somebody leaves or is replaced"):
                _draw_leave(plan)
        with st.expander("Label items again"):
            _draw_again(plan, is_locked=status.lock is not None)


def _draw_main(plan: Plan) -> None:
    st.markdown(
        f"Everybody labels the {count(len(plan.calibration))} calibration items now. Compare the labels, improve the "
        "guideline, then open the main round."
    )
    with st.form("main", border=False):
        by, why = _signature()
        pressed = st.form_submit_button("Open the main round", type="primary")
    if pressed:
        _keep(
            lambda: rounds.open_main(
                data.folder(), plan.campaign, by=by, why=why
            )
        )


def _draw_second(plan: Plan, n_undrawn: int) -> None:
    st.markdown(
        f"{count(n_undrawn)} items with a first label wait for the draw of second labels: "
        f"{plan.design.second_share:.0%} of them, uncertain ones more often. Small batches learn from earlier ones."
    )
    judges = _judges(plan.campaign)
    with st.form("second", border=False):
        judge = (
            st.selectbox(
                "LLM judge",
                judges,
                index=None,
                placeholder="none",
                help="items that it labelled otherwise are drawn more often, if earlier second labels differed there",
                width=WIDTH,
            )
            if judges
            else None
        )
        by, why = _signature()
        pressed = st.form_submit_button("Draw second labels")
    if pressed:
        _keep(
            lambda: rounds.draw_second(
                data.folder(),
                plan.campaign,
                by=by,
                why=why,
                judge=labels_of_judge(data.store(), plan, judge)
                if judge
                else None,
            )
        )


@data.kept(data.revision, 4)
def _judges(campaign: str) -> list[str]:
    items = kept_campaign(data.folder(), campaign).plan.items
    return judges_of_verdicts(data.store(), [item.verdict for item in items])


def _draw_add(plan: Plan) -> None:
    with st.form("add", border=False):
        roles = configured_roles()
        if roles is not None:
            free = [
                name for name in roles.annotators() if name not in plan.present
            ]
            names = tuple(st.multiselect("New annotators", free, width=WIDTH))
        else:
            typed = st.text_input(
                "New annotators", placeholder="eva, finn", width=WIDTH
            )
            names = names_typed(typed)
        by, why = _signature()
        pressed = st.form_submit_button("Add")
    if pressed:
        _keep(
            lambda: rounds.change_people(
                data.folder(),
                plan.campaign,
                PeopleChange(add=names),
                by=by,
                why=why,
            )
        )


def _draw_leave(plan: Plan) -> None:
    with st.form("leave", border=False):
        name = st.selectbox("Annotator", plan.present, width=WIDTH)
        what = st.radio("What happens", [KEEPS, HANDS])
        successor = st.text_input(
            "Taken over by",
            placeholder="the others",
            width=WIDTH,
            help="one name, or nobody",
        )
        by, why = _signature()
        pressed = st.form_submit_button("Change")
    if pressed:
        heir = successor.strip()
        change = (
            PeopleChange(hand_back=(name,))
            if what == HANDS
            else PeopleChange(remove=(name,))
        )
        if heir:
            change = PeopleChange(replace={name: heir})
        _keep(
            lambda: rounds.change_people(
                data.folder(), plan.campaign, change, by=by, why=why
            )
        )


def _draw_again(plan: Plan, *, is_locked: bool) -> None:
    with st.form("again", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            labels = st.multiselect(
                "With label",
                plan.labels.codes,
                format_func=lambda code: label_words(code, plan.labels),
                width=WIDTH,
                placeholder="any",
            )
            reasons = _draw_reasons(plan.labels.reason_words)
        is_older = st.checkbox("Only labels given under an older guideline")
        is_flagged = st.checkbox("Only flagged items")
        by, why = _signature()
        pressed = st.form_submit_button(
            "Open the campaign and label again" if is_locked else "Label again"
        )
    st.caption(
        "Annotators who labelled them see these items again, before all others. The export keeps the old labels."
    )
    if pressed:
        older = plan.guideline if is_older else ""
        which = rounds.Which((), tuple(labels), reasons, older, is_flagged)

        def open_again() -> Round:
            opened = rounds.label_again(
                data.folder(), plan.campaign, which, by=by, why=why
            )
            if is_locked:
                note_act(
                    AuditAction.OPEN_AGAIN,
                    f"campaign {plan.campaign}",
                    f"by {by}",
                )
            return opened

        _keep(open_again)


def _draw_reasons(words: Mapping[str, str]) -> tuple[str, ...]:
    """Codes of reasons; empty where the campaign's labels have none."""
    if not words:
        return ()
    chosen = st.multiselect(
        "With reason",
        list(words),
        format_func=lambda code: words[code],
        width=WIDTH,
        placeholder="any",
    )
    return tuple(chosen)


def _signature() -> tuple[str, str]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = visitor().name or st.text_input("Changed by", width=180)
        why = st.text_input("Why", placeholder="optional", width=WIDTH)
    return by.strip(), why.strip()


def _keep(change: Callable[[], Round]) -> None:
    with refusals_shown():
        require(Role.LEAD)
        change()
        st.rerun()

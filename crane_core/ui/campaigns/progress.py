"""The tab Progress: how far and how fast each annotator is, how far they agree, how labels shift, and flagged items.

For the lead; annotators never see it, and never on which reasons and cases they disagree. Of a flagged item: who
flagged it and why, and the thread with the annotator. No label is shown.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from crane_core.annotation.label_set import LabelSet
from crane_core.annotation.pace import IDLE_CAP_S, N_FOR_ESTIMATE, QUICK_S
from crane_core.annotation.plan import Plan
from crane_core.annotation.thread import Thread, ThreadState
from crane_core.charts.label_mix import label_mix
from crane_core.charts.theme import between
from crane_core.domain import Side
from crane_core.identity.visitor import Role
from crane_core.pipeline.agreement.agreement import MIN_COMMON_WHEN_BLIND
from crane_core.pipeline.agreement.so_far import SoFar, agreement_so_far
from crane_core.pipeline.campaigns import threads, unlike_reasons
from crane_core.pipeline.campaigns.campaigns import journals_of, kept_campaign
from crane_core.pipeline.campaigns.cards import card
from crane_core.pipeline.campaigns.desk_names import desk_names
from crane_core.pipeline.campaigns.gold_scores import GoldScore
from crane_core.pipeline.campaigns.plan_outline import SECONDS_PER_ITEM
from crane_core.pipeline.campaigns.status import (
    AnnotatorProgress,
    CampaignStatus,
)
from crane_core.ui import data, keys, words
from crane_core.ui.annotate.card_html import card_html, card_style, thread_html
from crane_core.ui.campaigns.campaign_words import short_title
from crane_core.ui.caption import captioned
from crane_core.ui.chart_box import draw_figure, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.grid import grid
from crane_core.ui.headline import draw_headline
from crane_core.ui.linked_html import address, draw_linked
from crane_core.ui.navigation import link, turn
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.rows_html import rows_html
from crane_core.ui.visit import require, visitor
from crane_core.ui.words import count, listed, literal, moment

ORDINALS = ("first", "second", "third", "last")
ABOUT_MIX = "Each annotator's labels in the order of labelling, cut into quarters; hidden repeats included."
PANEL_WIDTH = 290
"""Pixels of the chart of one annotator; a phone has room for one."""
MOST_ROWS = 50
FEW_ROWS = 12
"""More than these scroll in their table, so that the charts below stay near."""
MOST_HEIGHT = 420
"""Pixels."""


def draw_progress(status: CampaignStatus) -> None:
    """The whole tab."""
    st.html(people_html(status))
    if _is_new(status):
        _draw_links(status.plan)
        return
    with st.container(key=keys.BESIDE_EACH_OTHER):
        left, right = st.columns(2, gap="large")
    with left:
        st.header("Flagged items", anchor="flagged")
        draw_flagged(status)
    with right:
        so_far = "" if status.lock else " so far"
        st.header(f"Agreement{so_far}", anchor="agreement")
        _draw_agreement(status)
    draw_differing(status)
    if status.gold:
        st.header("Gold items", anchor="gold")
        _draw_gold(status)
    if status.n_done:
        st.header("Labels over time", anchor="drift")
        _draw_drift(status)


class PeopleColumn(NamedTuple):
    """A fact of every annotator: its heading, what the heading explains, and the cell."""

    head: str
    about: str
    cell: Callable[[AnnotatorProgress], str]


def _hours(seconds: float | None) -> str:
    return words.NOTHING if seconds is None else f"{seconds / 3600:.1f}"


def _quick(entry: AnnotatorProgress) -> str:
    n, n_quick = entry.pace.n, entry.pace.n_quick
    return (
        f"{words.count(n_quick)} ({words.percent(n_quick / n, 0)})"
        if n
        else words.NOTHING
    )


def _median(entry: AnnotatorProgress) -> str:
    median_s = entry.pace.median_s
    return words.NOTHING if median_s is None else f"{median_s:.1f}"


def _hours_left(entry: AnnotatorProgress) -> str:
    if entry.pace.seconds_left is None and entry.n_left:
        return f"about {_hours(entry.n_left * SECONDS_PER_ITEM)}"
    return _hours(entry.pace.seconds_left)


COLUMNS = (
    PeopleColumn(
        "Flagged",
        "items flagged now, until the thread is resolved",
        lambda entry: words.count(entry.n_flagged),
    ),
    PeopleColumn(
        "Skipped", "items put off", lambda entry: words.count(entry.n_skipped)
    ),
    PeopleColumn(
        "Median seconds",
        f"visible time per label, pauses counted up to {IDLE_CAP_S / 60:.0f} minutes",
        _median,
    ),
    PeopleColumn(
        f"Under {QUICK_S:.0f} s",
        f"labels given in less than {QUICK_S:.0f} seconds",
        _quick,
    ),
    PeopleColumn(
        "Hours so far",
        "visible time of all labels",
        lambda entry: _hours(entry.pace.total_s),
    ),
    PeopleColumn(
        "Hours left",
        f"at this annotator's own median; about: at {SECONDS_PER_ITEM:.0f} s an item, before {N_FOR_ESTIMATE} labels",
        _hours_left,
    ),
)


def _is_new(status: CampaignStatus) -> bool:
    """Whether no annotator has begun."""
    return status.lock is None and not any(
        entry.n_done + entry.n_flagged + entry.n_skipped
        for entry in status.progress
    )


def people_html(status: CampaignStatus) -> str:
    """A row per annotator: the way to where they label, how far they are, and the facts of COLUMNS."""
    # Before anything is done, the others are empty.
    columns = COLUMNS[-1:] if _is_new(status) else COLUMNS
    heads = "".join(
        f'<th scope="col" title="{escape(column.about)}">{column.head}</th>'
        for column in columns
    )
    rows = "".join(_person(entry, status, columns) for entry in status.progress)
    return (
        '<table class="cw-people"><thead><tr><th scope="col">Annotator</th><th scope="col">Labelled</th>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _person(
    entry: AnnotatorProgress,
    status: CampaignStatus,
    columns: Sequence[PeopleColumn],
) -> str:
    name = escape(entry.annotator)
    address = escape(_desk(status.plan, entry.annotator))
    has_left = entry.annotator not in status.plan.present
    left = ' <span class="cw-dim">(left)</span>' if has_left else ""
    share = entry.n_done / entry.n_all if entry.n_all else 0.0
    facts = "".join(
        f'<td data-head="{column.head}">{column.cell(entry)}</td>'
        for column in columns
    )
    return (
        f'<tr><th scope="row"><a href="{address}">{name}</a>{left}</th>'
        f'<td class="cw-how-far"><i style="--share: {share:.3f}"></i>'
        f"<span>{words.count(entry.n_done)} of {words.count(entry.n_all)}</span></td>{facts}</tr>"
    )


def _desk(plan: Plan, annotator: str) -> str:
    """Where the annotator labels, below the address of the app."""
    query = {keys.CAMPAIGN: plan.campaign, keys.ANNOTATOR: annotator}
    return f"annotate?{urlencode(query)}"


def _draw_links(plan: Plan) -> None:
    """Before the first label: where each annotator labels, with Streamlit's button that copies it."""
    st.header(
        literal(f"Send {listed(plan.present)} their links"), anchor="links"
    )
    app = str(st.context.url or "").rpartition("/")[0]
    with st.container(key="links_of_desks", gap="xsmall"):
        for name in plan.present:
            st.code(
                f"{app}/{_desk(plan, name)}", language=None, wrap_lines=True
            )


def _draw_gold(status: CampaignStatus) -> None:
    """A row per annotator: how many are labelled, how many right, and the accuracy with its interval."""
    is_told = status.plan.gold_feedback
    st.html(rows_html(pd.DataFrame(_gold_row(one) for one in status.gold)))
    st.caption(
        "Items with a known label, mixed into everybody's order. "
        + (
            "Annotators are told after each; the first label counts. "
            if is_told
            else "Annotators are not told. "
        )
        + "95% intervals over cases. Gold items enter no outcome and no estimate."
    )


def _gold_row(score: GoldScore) -> dict[str, str]:
    found = score.accuracy
    return {
        "Annotator": score.annotator,
        "Labelled": f"{words.count(found.n)} of {words.count(score.n_all)}",
        "Right": words.count(score.n_right),
        "Accuracy": words.percent(found.value) if found.n else words.NOTHING,
        "95% interval": f"{words.percent(found.low)} to {words.percent(found.high)}"
        if found.n
        else words.NOTHING,
    }


def _draw_drift(status: CampaignStatus) -> None:
    """The label mix in four stretches per annotator, with speeds in the table."""
    labels = status.plan.labels
    table = pd.DataFrame(
        row for entry in status.progress for row in _mix(entry, labels)
    )
    if table.empty:
        st.caption(
            "All labels were imported, so there is no order of labelling."
        )
        return
    parts = [name for name in ORDINALS if name in set(table["part"])]
    how = {"parts": parts, "colours": colours_of(labels)}
    figure = ChartFigure(
        f"label_mix_{status.plan.campaign}",
        [
            finished(label_mix, rows, **how)
            for _, rows in table.groupby("annotator", sort=False)
        ],
        shown=_readable(table, labels),
        panel_width=PANEL_WIDTH,
        numbers=table.drop(columns="text"),
        caption=captioned(
            "How do the labels of each annotator change over time?",
            [
                ABOUT_MIX,
                f"n: {words.count(sum(entry.n_done for entry in status.progress))} labels of "
                f"{words.count(len(status.progress))} annotators of the campaign {status.plan.campaign}. Not tested.",
            ],
        ),
        note=ABOUT_MIX,
    )
    draw_figure(figure)


def colours_of(labels: LabelSet) -> dict[str, str]:
    """Word to the colour of a chart, for either ground."""
    return {
        label.word: between(label.colour, label.colour_dark)
        for label in labels.labels
    }


def _mix(entry: AnnotatorProgress, labels: LabelSet) -> list[dict[str, object]]:
    """A row per quarter and label; fewer quarters where there are fewer labels than that."""
    names = (
        ORDINALS
        if len(entry.parts) == len(ORDINALS)
        else ORDINALS[: len(entry.parts)]
    )
    return [
        {
            "annotator": entry.annotator,
            "part": name,
            "labels": f"{part.first}–{part.last}",
            "label": label.word,
            "share": part.shares.get(label.code, 0.0),
            "n": part.last - part.first + 1,
            "median_s": part.median_s,
            "text": label.word if place == len(names) - 1 else "",
        }
        for place, (name, part) in enumerate(
            zip(names, entry.parts, strict=True)
        )
        for label in labels.labels
    ]


def _readable(table: pd.DataFrame, labels: LabelSet) -> pd.DataFrame:
    wide = table.pivot(
        index=["annotator", "labels", "n", "median_s"],
        columns="label",
        values="share",
    )
    of = {
        name: wide.index.get_level_values(name)
        for name in ("annotator", "labels", "n", "median_s")
    }
    return pd.DataFrame(
        {
            "Annotator": of["annotator"],
            "Labels": of["labels"],
            "n": of["n"],
            "Median seconds": [f"{seconds:.1f}" for seconds in of["median_s"]],
        }
        | {
            label.words: [words.percent(share, 0) for share in wide[label.word]]
            for label in labels.labels
        }
    )


def _draw_agreement(status: CampaignStatus) -> None:
    """One coefficient over everything labelled by two or more, and the way to all the others."""
    plan = status.plan
    so_far = agreement_so_far(
        data.folder(), plan, locked=status.lock is not None
    )
    (st.markdown if so_far.found else st.caption)(_agreement(so_far))
    who = [f"{plan.campaign}: {name}" for name in plan.annotators]
    link("agreement", "All coefficients on the Agreement page", who=who)


def _agreement(so_far: SoFar) -> str:
    if so_far.found is None:
        if so_far.n_common == 0:
            return "No item has labels of two annotators yet, so agreement is undefined."
        return (
            f"{words.count(so_far.n_common)} items have labels of two annotators; the coefficient is shown from "
            f"{MIN_COMMON_WHEN_BLIND} on, because with fewer it would reveal single labels."
        )
    found = so_far.found
    over = f"over {words.count(found.n)} items of {words.count(found.n_clusters)} cases"
    if found.why is not None and words.coefficient(
        found.value
    ) == words.coefficient(float("nan")):
        return f"**{so_far.coefficient}** has no value {over}: {found.why}."
    bounds = f"95% {words.coefficient_interval(found.low, found.high)}, bootstrap over cases"
    told = str(found.why) if found.why else bounds
    return f"**{so_far.coefficient} {words.coefficient(found.value)}** ({told}) {over}."


def draw_differing(status: CampaignStatus) -> None:
    """Two tables; nothing where no item has two labels."""
    plan = status.plan
    journals = journals_of(data.folder(), plan)
    cases = unlike_reasons.differing_by_case(plan, journals)
    if not cases:
        return
    is_blind = plan.blind and status.lock is None
    fewest = MIN_COMMON_WHEN_BLIND if is_blind else 1
    st.header("Disagreements", anchor="disagreements")
    reasons = unlike_reasons.differing_by_reason(plan, journals)
    if any(row.n >= fewest for row in (*cases, *reasons)):
        st.caption(
            "Items with labels of two annotators or more. An item counts under each reason that somebody gave it."
        )
    # Without a reason the cases have the whole width.
    with st.container(key="two_tables"):
        with st.container():
            _draw_unlike(cases, "Case", {}, fewest)
        if reasons:
            with st.container():
                _draw_unlike(
                    reasons, "Reason", plan.labels.reason_words, fewest
                )


def _draw_unlike(
    rows: Sequence[unlike_reasons.DifferingItems],
    head: str,
    reason_words: Mapping[str, str],
    fewest: int,
) -> None:
    shown = [row for row in rows if row.n >= fewest]
    if shown:
        grid(
            pd.DataFrame(
                [cells(row, head, reason_words) for row in shown[:MOST_ROWS]]
            ),
            height="content" if len(shown) <= FEW_ROWS else MOST_HEIGHT,
        )
    if left_out := left_out_words(len(rows), shown, fewest):
        st.caption(f"{head}s: {left_out}")


def cells(
    row: unlike_reasons.DifferingItems,
    head: str,
    reason_words: Mapping[str, str],
) -> dict[str, str]:
    """A row of the table; reason_words: of the codes of reasons."""
    return {
        head: reason_words.get(row.name, row.name),
        "Items": words.count(row.n),
        "Unlike labels": f"{words.count(row.n_differ)} ({words.percent(row.n_differ / row.n, 0)})",
    }


def left_out_words(
    n_all: int, shown: Sequence[unlike_reasons.DifferingItems], fewest: int
) -> str:
    """How many rows are not in the table, and why; empty if all are."""
    n_few, n_more = n_all - len(shown), max(len(shown) - MOST_ROWS, 0)
    said = []
    if n_few:
        said.append(
            f"{words.count(n_few)} of {words.count(n_all)} are shown after the lock: they have fewer than {fewest} "
            "items, which would reveal single labels."
        )
    if n_more:
        said.append(
            f"{words.count(n_more)} with as many unlike labels or fewer are left out."
        )
    return " ".join(said)


MOST_THREADS = 100
MOST_OF_A_TEXT = 160
WAITS = {
    ThreadState.OPEN: "waits for an answer",
    ThreadState.ANSWERED: "has an answer",
    ThreadState.RESOLVED: "is resolved",
}
FOR_THE_LEAD = {
    ThreadState.OPEN: "open",
    ThreadState.ANSWERED: "answered",
    ThreadState.RESOLVED: "resolved",
}


def draw_flagged(status: CampaignStatus) -> None:
    """The list, those first that wait for the lead; a click opens one."""
    queue = threads.all_threads(
        data.folder(), status.plan, reader=visitor().name
    )
    if queue.n_withheld:
        st.caption(
            f"{count(queue.n_withheld)} more are shown when you have labelled these items yourself."
        )
    if not queue.threads:
        st.caption(
            "No item is flagged."
            if not queue.n_withheld
            else "No other item is flagged."
        )
        return
    n = {
        state: sum(thread.state is state for thread in queue.threads)
        for state in ThreadState
    }
    st.caption(
        ", ".join(
            f"{count(n[state])} {words}"
            for state, words in FOR_THE_LEAD.items()
        )
        + "."
    )
    if n_later := _n_later(status):
        items = "item comes" if n_later == 1 else "items come"
        st.caption(
            f"{count(n_later)} flagged {items} up for a decision once labelled by all."
        )
    shown = queue.threads[:MOST_THREADS]
    table = pd.DataFrame([_row(thread) for thread in shown])
    links = [
        address(
            {
                keys.CAMPAIGN: status.plan.campaign,
                keys.THREAD: name_of(status.plan, thread),
            }
        )
        for thread in shown
    ]
    # Without a note or a message its column says nothing.
    table = table.loc[:, (table != "").any()]
    draw_linked(rows_html(table, links=links), key=keys.THREAD_LIST)
    if len(queue.threads) > MOST_THREADS:
        st.caption(
            f"The first {count(MOST_THREADS)} of {count(len(queue.threads))}; those that are resolved make room."
        )


def _n_later(status: CampaignStatus) -> int:
    """Flagged items that do not wait for a decision yet; gold items never do."""
    known = {one.item for one in status.disputes} | status.plan.gold_items
    return len(status.flagged.keys() - known) if status.lock is None else 0


def name_of(plan: Plan, thread: Thread) -> str:
    """How the address names a thread."""
    names = desk_names(data.folder(), plan, thread.annotator)
    return f"{names.of(thread.showing)}.{thread.annotator}"


def _row(thread: Thread) -> dict[str, str]:
    written = [message.text for message in thread.messages if message.text]
    return {
        "Item": thread.showing.item,
        "State": FOR_THE_LEAD[thread.state],
        "Annotator": thread.annotator,
        "Flagged": moment(thread.flagged_at)
        if thread.flagged_at
        else "not any more",
        "Note": thread.note[:MOST_OF_A_TEXT],
        "Last message": (written[-1] if written else "")[:MOST_OF_A_TEXT],
    }


def draw_thread(campaign: str, asked: str) -> None:
    """One flagged item: its card, the annotator's note, the messages, and what the lead writes."""
    plan, lock = kept_campaign(data.folder(), campaign)
    queue = threads.all_threads(data.folder(), plan, reader=visitor().name)
    thread = next(
        (one for one in queue.threads if name_of(plan, one) == asked), None
    )
    title = short_title(plan.title)
    sentence = (
        f"The item that {thread.annotator} flagged {WAITS[thread.state]}"
        if thread
        else "No flagged item has this address"
    )
    draw_headline(sentence, tab=f"Flagged item: {title}")
    turn(literal(f"Back to {title}"), campaign=campaign)
    if thread is None:
        st.info("Nobody flagged this item, or you have not labelled it yet.")
        return
    st.markdown(_about(thread))
    if thread.note:
        st.markdown(f"**Note:** {literal(thread.note)}")
    st.html(card_style())
    talk = thread_html(thread) if thread.messages else ""
    st.html(
        f'<div class="cw-desk">{talk}{card_html(card(data.store(), plan, thread.showing.item))}</div>'
    )
    if lock is None:
        _draw_answer(plan, thread)
    else:
        st.info("The campaign is locked: it takes no more messages.")


def _about(thread: Thread) -> str:
    when = (
        f"flagged this item on {moment(thread.flagged_at)}"
        if thread.flagged_at
        else "flagged this item before"
    )
    return literal(
        f"{thread.annotator} {when}. Of the annotators, only {thread.annotator} sees what you write."
    )


def _draw_answer(plan: Plan, thread: Thread) -> None:
    with st.form(
        "answer", border=False, clear_on_submit=True, enter_to_submit=False
    ):
        text = st.text_area(
            "Message", max_chars=threads.MAX_MESSAGE, height=96, width=640
        )
        by = visitor().name or st.text_input(
            "Your name", value=st.session_state.get(keys.DECIDES, ""), width=180
        )
        with st.container(horizontal=True):
            sent = st.form_submit_button("Send", type="primary")
            ended = st.form_submit_button("Resolve")
    if sent or ended:
        st.session_state[keys.DECIDES] = by
        about = threads.About(thread.annotator, thread.showing)
        with refusals_shown():
            require(Role.LEAD)
            if sent:
                threads.write_message(
                    data.folder(),
                    plan.campaign,
                    about,
                    text,
                    by=by,
                    side=Side.LEAD,
                )
            else:
                threads.resolve(
                    data.folder(), plan.campaign, about, by=by, side=Side.LEAD
                )
            st.rerun()

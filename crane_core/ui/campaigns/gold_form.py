"""Gold items of a new campaign: a table, or items that a locked campaign decided; and whether annotators see them."""

from typing import NamedTuple

import streamlit as st

from crane_core.annotation.label_set import LabelSet, same_meaning
from crane_core.annotation.plan import Gold, Population
from crane_core.pipeline.campaigns import campaigns
from crane_core.pipeline.campaigns.gold import (
    COLUMNS,
    MOST_BYTES,
    MOST_ITEMS,
    Looks,
    gold_of_campaign,
    gold_of_table,
)
from crane_core.ui import data
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.words import quantity

SENTENCE = (
    "Gold items have a known label and are mixed into everybody's order, where nobody can tell them from others: they "
    "show you how accurate each annotator is, and enter no outcome and no estimate."
)
TABLE_HELP = f"CSV in UTF-8 with the columns {', '.join(COLUMNS)}, and optionally why and run"
FEEDBACK_HELP = "On: after each gold item the annotator reads what its label is. Off: you alone see how annotators do."


class GoldAnswers(NamedTuple):
    """The gold items, in no campaign yet, and whether annotators see them."""

    gold: tuple[Gold, ...] = ()
    feedback: bool = False


def draw_gold_choice(
    wanted: Population, looks: Looks, seed: int
) -> GoldAnswers | None:
    """What the lead chose; None, after saying why, while it cannot be used."""
    gold: tuple[Gold, ...] | None = None
    with st.expander("Gold items"), refusals_shown():
        st.caption(SENTENCE)
        table = st.file_uploader(
            "Gold items from a file",
            type="csv",
            help=TABLE_HELP,
            max_upload_size=MOST_BYTES >> 20,
        )
        with st.container(key="fields_gold"):
            locks = _locks(looks.labels)
            origin = st.selectbox(
                "Or from a locked campaign",
                list(locks),
                index=None,
                placeholder="none" if locks else "none is locked",
                disabled=not locks,
            )
            n = st.number_input("How many", 1, MOST_ITEMS, 10) if origin else 0
        feedback = st.toggle(
            "Tell annotators the label of each gold item", help=FEEDBACK_HELP
        )
        found = (
            _of_table(table.getvalue(), table.name, wanted, looks)
            if table
            else ()
        )
        if origin:
            found += _of_campaign(
                locks[origin], origin, int(n), wanted, looks, seed, found
            )
        if found:
            st.caption(
                f"{quantity(len(found), 'gold item')} in everybody's order."
            )
        elif feedback:
            st.caption("There is nothing to tell without gold items.")
        gold = found
    return None if gold is None else GoldAnswers(gold, bool(feedback and gold))


def _locks(labels: LabelSet) -> dict[str, str]:
    """Locked campaigns with these labels, and when each was locked."""
    kept = (
        (name, *campaigns.kept_campaign(data.folder(), name))
        for name in campaigns.campaign_names(data.folder())
    )
    return {
        name: lock.locked_at
        for name, plan, lock in kept
        if lock and same_meaning(plan.labels, labels)
    }


@data.kept(data.answers, 16, copied=True)
def _of_table(
    table: bytes,
    name: str,
    wanted: Population,
    looks: Looks,
) -> tuple[Gold, ...]:
    return gold_of_table(data.store(), table, name, wanted, looks)


@data.kept(data.answers, 16, copied=True)
def _of_campaign(
    locked_at: str,
    campaign: str,
    n: int,
    wanted: Population,
    looks: Looks,
    seed: int,
    but: tuple[Gold, ...],
) -> tuple[Gold, ...]:
    """locked_at: a campaign that was opened and locked again has other labels, so it is part of the key."""
    return gold_of_campaign(
        data.store(),
        data.folder(),
        campaign,
        n,
        wanted,
        looks,
        seed=seed,
        but=but,
    )

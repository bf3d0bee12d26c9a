"""Renaming, removing and restoring where a thing is shown; two clicks remove, and one restores."""

from collections.abc import Callable, Sequence

import streamlit as st

from crane_core.domain import Listed
from crane_core.identity.visitor import Role
from crane_core.pipeline.inventory import inventory
from crane_core.pipeline.maintenance import inventory_list
from crane_core.ui import data
from crane_core.ui.access import is_leading
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import may, require, visitor
from crane_core.ui.words import count, literal, moment

ROLES = {
    Listed.BENCHMARK: Role.ADMIN,
    Listed.SOURCE: Role.ADMIN,
    Listed.RUN: Role.LEAD,
    Listed.CAMPAIGN: Role.LEAD,
    Listed.ANSWER: Role.LEAD,
}
ALL_OF = {
    Listed.RUN: ", with all its detectors and inputs,",
    Listed.BENCHMARK: " and all answers about it",
}
WITHOUT_LOGIN = "somebody at the app"
"""Who did it, without logins."""
SHOWN_LETTERS = 80


def draw_one(kind: Listed, name: str) -> None:
    """Rename and remove one thing; nothing for those who may not, and for what the pages rest on."""
    if not may_change(kind) or inventory_list.is_needed(kind, name):
        return
    with st.container(
        horizontal=True, gap="small", key=f"inventory_{kind}_{name}"
    ):
        with st.popover("Rename", key=f"rename_{kind}_{name}"):
            given = inventory(data.folder()).title(kind, name) or name
            title = st.text_input(
                "New name",
                given,
                max_chars=inventory_list.LONGEST_TITLE,
                key=f"title_{kind}_{name}",
            )
            st.caption("Its id, files and links stay.")
            if st.button(f"Rename {kind}", key=f"renamed_{kind}_{name}"):
                change(
                    kind,
                    lambda by: inventory_list.rename(
                        data.store(), data.folder(), kind, name, title, by=by
                    ),
                )
        with st.popover("Remove", key=f"remove_{kind}_{name}"):
            st.markdown(
                f"Remove **{literal(name[:SHOWN_LETTERS])}**{ALL_OF.get(kind, '')} from every page, statistic and "
                "export? Nothing is deleted, and it can be restored."
            )
            if st.button(
                f"Yes, remove this {kind}",
                key=f"removed_{kind}_{name}",
                type="primary",
            ):
                change(
                    kind,
                    lambda by: inventory_list.remove(
                        data.store(), data.folder(), kind, name, by=by
                    ),
                    leave=True,
                )


def draw_many(*kinds: Listed) -> None:
    """The same for one that is chosen from a list."""
    if not all(map(may_change, kinds)):
        return
    listed = [
        entry
        for entry in _entries(kinds)
        if not inventory_list.is_needed(entry.kind, entry.name)
    ]
    if not listed:
        return
    chosen = st.selectbox(
        "Rename or remove",
        listed,
        index=None,
        format_func=_words,
        placeholder="Choose one",
        width=480,
    )
    if chosen is not None:
        draw_one(chosen.kind, chosen.name)


def draw_removed(*kinds: Listed) -> None:
    """What was removed, each with a button that restores it; nothing if there is none."""
    listed = [
        entry
        for entry in inventory_list.removed(data.folder())
        if entry.kind in kinds and may_change(entry.kind)
    ]
    if not listed:
        return
    with st.expander(f"Removed ({count(len(listed))})"):
        for entry in listed:
            with st.container(
                horizontal=True,
                vertical_alignment="center",
                key=f"row_{entry.kind}_{entry.name}",
            ):
                if st.button(
                    "Restore", key=f"restore_{entry.kind}_{entry.name}"
                ):
                    change(entry.kind, restoring(entry.kind, entry.name))
                by = entry.removal.acted_by if entry.removal else ""
                st.caption(
                    literal(
                        f"{_words(entry)}, removed by {by} at {moment(entry.since)}"
                    ),
                    width="stretch",
                )


def restoring(kind: Listed, name: str) -> Callable[[str], object]:
    """What restores one thing; a lambda in a loop would restore the last one."""
    return lambda by: inventory_list.restore(data.folder(), kind, name, by=by)


def _entries(kinds: Sequence[Listed]) -> list[inventory_list.InventoryEntry]:
    return [
        entry
        for entry in inventory_list.entries(data.store(), data.folder())
        if entry.kind in kinds
    ]


def _words(entry: inventory_list.InventoryEntry) -> str:
    title = (
        entry.title
        if entry.title == entry.name
        else f"{entry.title} ({entry.name})"
    )
    return f"{entry.kind} {title[:SHOWN_LETTERS]}, {entry.held}"


def may_change(kind: Listed) -> bool:
    """Whether who looks at the page may remove and restore things of this kind."""
    # Without logins every role is offered, and the password of Campaigns protects runs and campaigns.
    is_leads = ROLES[kind] is Role.LEAD
    leads = not is_leads or is_leading()
    return leads and may(ROLES[kind])


def change(
    kind: Listed, act: Callable[[str], object], *, leave: bool = False
) -> None:
    """Carry out a change, load everything and draw the page again; a refusal is shown in its place."""
    with refusals_shown():
        # Again at the click: the role may have been taken since the button was drawn.
        require(ROLES[kind])
        act(visitor().name or WITHOUT_LOGIN)
        with st.spinner("Loading everything again"):
            data.refresh()
        if leave:
            # The address names what was removed: the page would begin with an error.
            st.query_params.clear()
        st.rerun()

"""Saved views: a page and its query under a name, of one person; without logins one list for all visitors.

ledger/views/<person>.jsonl    one line per act; what they come to is the list
ledger/views/_all_visitors.jsonl  the same without logins
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from crane_core import ledger
from crane_core.annotation.plan import NAME
from crane_core.domain import ViewAct, ViewAction
from crane_core.errors import ViewError
from crane_core.pipeline.audit import VIEWS
from crane_core.pipeline.jobs.files import now
from crane_core.pipeline.places import DataFolder

ALL_VISITORS = "_all_visitors"
"""The file of those who do not log in; no person's name begins with an underscore."""
MOST = 100
"""Views of a person."""
MOST_LETTERS = 80
LONGEST_QUERY = 4_000


class PageView(NamedTuple):
    """A page and the part of its address after "?"."""

    page: str
    query: str


def views(folder: DataFolder, person: str) -> Mapping[str, PageView]:
    """The views of a person by name, in the order in which they were saved first."""
    found: dict[str, PageView] = {}
    for act in _acts(folder, person):
        if act.action is ViewAction.SAVE and act.page is not None:
            found[act.name] = PageView(act.page, act.query or "")
        elif act.action is ViewAction.REMOVE:
            found.pop(act.name, None)
        elif act.action is ViewAction.RENAME and act.title:
            # The list keeps its order.
            found = {
                act.title if name == act.name else name: view
                for name, view in found.items()
            }
    return found


def save(folder: DataFolder, person: str, name: str, view: PageView) -> None:
    """Save a view; one of the same name is replaced. Raises ViewError, LedgerError."""
    named = _checked(name)
    known = views(folder, person)
    if named not in known and len(known) >= MOST:
        raise ViewError(
            f"There are {MOST} saved views, which is the most.",
            remedy="Remove one that you no longer need.",
        )
    if len(view.query) > LONGEST_QUERY:
        raise ViewError(
            f"The address of this page has {len(view.query):,} letters; {LONGEST_QUERY:,} are the most.",
            remedy="Choose fewer filters.",
        )
    if known.get(named) != view:
        act = ViewAct(
            person,
            named,
            ViewAction.SAVE,
            now(),
            page=view.page,
            query=view.query,
        )
        ledger.append(_file(folder, person), act)


def rename(folder: DataFolder, person: str, name: str, title: str) -> None:
    """Give a view another name. Raises ViewError, also where another view has that name, and LedgerError."""
    known, named = _known(folder, person, name), _checked(title)
    if named == name:
        return
    if named in known:
        raise ViewError(
            f"There is a view {named!r} already.", remedy="Choose another name."
        )
    act = ViewAct(person, name, ViewAction.RENAME, now(), title=named)
    ledger.append(_file(folder, person), act)


def remove(folder: DataFolder, person: str, name: str) -> None:
    """Take a view off the list. Raises ViewError, LedgerError."""
    _known(folder, person, name)
    act = ViewAct(person, name, ViewAction.REMOVE, now())
    ledger.append(_file(folder, person), act)


def _known(
    folder: DataFolder, person: str, name: str
) -> Mapping[str, PageView]:
    known = views(folder, person)
    if name not in known:
        raise ViewError(
            f"There is no view {name[:MOST_LETTERS]!r}.",
            remedy="Load the page again to see the list as it is now.",
        )
    return known


def _checked(name: str) -> str:
    """The name with single spaces. Raises ViewError if it is empty, too long or holds what no screen shows."""
    named = " ".join(name.split())
    if not named or len(named) > MOST_LETTERS or not named.isprintable():
        raise ViewError(
            f"A view needs a name of 1 to {MOST_LETTERS} letters.",
            remedy="Type one.",
        )
    return named


def _file(folder: DataFolder, person: str) -> Path:
    if person and not NAME.fullmatch(person):
        raise ViewError(
            f"{person[:40]!r} is not a name that views are kept for.",
            remedy="Ask who runs this server to correct it.",
        )
    return folder.ledger / VIEWS / f"{person or ALL_VISITORS}.jsonl"


def _acts(folder: DataFolder, person: str) -> list[ViewAct]:
    file = _file(folder, person)
    records = ledger.tail(file).records if file.is_file() else []
    return [record for record in records if isinstance(record, ViewAct)]

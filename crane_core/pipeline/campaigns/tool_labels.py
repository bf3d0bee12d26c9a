"""Labels in the file of another annotation tool, of the one person whose labels an annotator of a campaign takes."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from crane_core.domain import LoadProblem
from crane_core.errors import CampaignError
from crane_core.importers.answer_maps.member_path import is_path
from crane_core.importers.label_maps import label_map
from crane_core.importers.reading import UnreadableFileError

_SHOWN_PEOPLE = 10
_SHOWN = 60


class LabelRow(NamedTuple):
    """One label of a file: where it is, and what it says, "" for nothing."""

    line: int
    item: str
    label: str
    reason: str
    note: str
    showing: str


class NamedColumns(Protocol):
    """Paths that a person names in place of those of the mapping."""

    @property
    def item(self) -> str | None:
        """Of the item's name."""

    @property
    def label(self) -> str | None:
        """Of the label."""

    @property
    def reason(self) -> str | None:
        """Of the code of its reason."""

    @property
    def note(self) -> str | None:
        """Of a note."""

    @property
    def showing(self) -> str | None:
        """Of 1, or 2 for a hidden repeat."""


class ToolLabels(NamedTuple):
    """rows: of the person. invalid: number of the row and what is wrong. reading: how the file was read, in words."""

    rows: list[LabelRow]
    invalid: list[tuple[int, str]]
    reading: str


def read_tool_labels(
    file: Path,
    content: bytes,
    rules: label_map.LabelMap,
    columns: NamedColumns,
    *,
    whose: str | None,
    annotator: str,
) -> ToolLabels:
    """The labels of one person of the file. Raises CampaignError if it cannot be read, or several could be meant."""
    rules = _with_columns(rules, columns)
    invalid: list[tuple[int, str]] = []
    found: list[label_map.ForeignLabel] = []
    try:
        for one in label_map.foreign_labels(file.name, content, rules):
            if isinstance(one, LoadProblem):
                # A row that is not an object has no number here; its place says more.
                invalid.append((0, f"{one.place}: {one.reason}"))
            else:
                found.append(one)
    except UnreadableFileError as error:
        raise CampaignError(
            str(error.args[0]), remedy="Export the file again."
        ) from error
    person = _person(file, found, whose, annotator)
    taken = [one for one in found if person in ("", one.annotator)]
    invalid += [
        (one.row, f"the item has {len(one.labels)} labels; it can have one")
        for one in taken
        if len(one.labels) > 1
    ]
    rows = [_row(one) for one in taken if len(one.labels) < 2]
    paths = ", ".join(
        f"{name} from {' or '.join(those)}"
        for name, those in rules.paths.items()
    )
    of = f", labels of {person[:_SHOWN]!r}" if person else ""
    return ToolLabels(rows, invalid, f"{rules.about.tool}{of}: {paths}")


def _with_columns(
    rules: label_map.LabelMap, columns: NamedColumns
) -> label_map.LabelMap:
    paths = dict(rules.paths)
    for name in ("item", "label", "reason", "note", "showing"):
        named = getattr(columns, name)
        if named is None:
            continue
        if not is_path(named):
            raise CampaignError(
                f"{named[:_SHOWN]!r} is not a path such as data.item.",
                remedy="Names stand with dots between, places in brackets.",
            )
        paths[name] = (named,)
    return rules._replace(paths=paths)


def _person(
    file: Path,
    found: Sequence[label_map.ForeignLabel],
    whose: str | None,
    annotator: str,
) -> str:
    """Whose labels are taken: "" if the file has no names. Raises CampaignError."""
    people = Counter(one.annotator for one in found if one.annotator)
    wanted = whose or annotator
    if wanted in people:
        return wanted
    listed = ", ".join(
        f"{name[:_SHOWN]!r} ({n:,})"
        for name, n in people.most_common(_SHOWN_PEOPLE)
    )
    if whose is not None:
        raise CampaignError(
            f"{file} has no labels of {whose[:_SHOWN]!r}.",
            remedy=f"It has labels of {listed or 'nobody by name'}.",
        )
    # Of a single person there is nothing to choose; among several, a guess would put labels under a wrong name.
    if len(people) > 1:
        raise CampaignError(
            f"{file} has labels of {len(people):,} people, and none is {annotator}.",
            remedy=f"Name one with --whose: {listed}.",
        )
    return next(iter(people), "")


def _row(one: label_map.ForeignLabel) -> LabelRow:
    return LabelRow(
        line=one.row,
        item=one.item,
        label=one.labels[0] if one.labels else "",
        reason=one.reason,
        note=one.note,
        showing=one.showing,
    )

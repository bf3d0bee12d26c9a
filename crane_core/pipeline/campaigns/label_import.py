"""Labels made elsewhere, from CSV, another tool's file or a desk's download, as acts of an annotator of a campaign.

Every row is checked before anything is written, and all are written in one go, or none. Items go by the campaign's name
or by the one that the annotator has in an export before the lock. Each act says which file it came from. Another tool's
file may hold labels of many; those of one person are taken.
"""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol
from uuid import uuid4

from crane_core.annotation.act import annotation
from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan
from crane_core.domain import LoadProblem
from crane_core.errors import CampaignError
from crane_core.given_path import read_given
from crane_core.importers.answer_maps.member_path import is_path
from crane_core.importers.foreign_tools import foreign_tool, remedy_of
from crane_core.importers.label_maps import label_map
from crane_core.importers.label_maps.label_map import label_map_of
from crane_core.importers.reading import UnreadableFileError
from crane_core.pipeline.campaigns import blind_plan, desk_file
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.sheet_text import GUARD, guarded, unguarded

_MOST_BYTES = 64 * 2**20
_SHOWN = 60
"""Characters of a cell or name that a message quotes."""
_HASH_LENGTH = 12


class LabelRow(NamedTuple):
    """One label of a file: where it is, and what it says, "" for nothing."""

    line: int
    item: str
    label: str
    reason: str
    note: str
    showing: str


class RowFault(StrEnum):
    """Why a row cannot be stored."""

    UNKNOWN_ITEM = "unknown item"
    NOT_ASSIGNED = "item of another annotator"
    UNKNOWN_LABEL = "unknown label"
    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"
    ALREADY = "already labelled"
    INVALID = "invalid row"


class Faulty(NamedTuple):
    """A row of the file: its last line, counted from 1, and what is wrong in words."""

    line: int
    fault: RowFault
    words: str


class Columns(NamedTuple):
    """Names of the file's columns, or in another tool's file paths; None where it has none, or its usual one counts.

    Without `showing` every row is a first showing.
    """

    item: str | None = None
    label: str | None = None
    reason: str | None = None
    note: str | None = None
    showing: str | None = None


class Read(NamedTuple):
    """What a file holds for one annotator, checked: acts as a browser would send them, faults, rows without a label."""

    acts: list[dict[str, object]]
    faults: list[Faulty]
    n_empty: int
    source: str
    n_stored: int = 0
    """Acts of a desk's file that are stored already."""
    told: str = ""
    """How another tool's file was read: its tool, whose labels, and the paths."""

    @property
    def n_labels(self) -> int:
        """How many of the acts are labels; the others are notes and reasons."""
        return sum(act["action"] == "label" for act in self.acts)

    def counts(self) -> dict[str, int]:
        """Faults of each kind, the most frequent first."""
        return {
            str(fault): n
            for fault, n in Counter(
                entry.fault for entry in self.faults
            ).most_common()
        }


def read_labels(
    label_store: LabelStore,
    annotator: str,
    file: Path,
    columns: Columns,
    meaning: Mapping[str, str],
    *,
    whose: str | None = None,
    though_locked: bool = False,
) -> Read:
    """Check every row. meaning: value in the file to label; a value that is a label needs none.

    whose: the person in another tool's file, where that is not the annotator's name and several labelled.

    A file that a desk offered for download is known by its content. though_locked: as if the campaign were open again.
    Raises CampaignError if the annotator may not label now, or the file cannot be read or has not these columns.
    """
    # First of all: a locked campaign or a stranger is refused before the file is read.
    label_store.check(annotator, [], though_locked=though_locked)
    content = _content(file)
    # The name goes into the ledger and onto pages, and may hold control characters.
    name = "".join(
        letter for letter in file.name[:_SHOWN] if letter.isprintable()
    )
    source = (
        f"{name}, sha256 {hashlib.sha256(content).hexdigest()[:_HASH_LENGTH]}"
    )
    if desk_file.is_desk_file(content):
        return _read_desk_file(
            label_store, annotator, content, source, though_locked=though_locked
        )
    reader = _RowReader(label_store, annotator, meaning)
    rules = label_map_of(file.name, content)
    # Other tools export CSV too, whose columns options name.
    if rules is None or file.suffix.lower() == ".csv":
        _refuse_other_form(file, content)
        for row in _rows(file, content, columns):
            reader.take(row)
        return Read(reader.acts, reader.faults, reader.n_empty, source)
    read = read_tool_labels(
        file, content, rules, columns, whose=whose, annotator=annotator
    )
    for row in read.rows:
        reader.take(row)
    reader.faults += [
        Faulty(line, RowFault.INVALID, words) for line, words in read.invalid
    ]
    return Read(
        reader.acts,
        sorted(reader.faults),
        reader.n_empty,
        source,
        told=read.reading,
    )


def _read_desk_file(
    label_store: LabelStore,
    annotator: str,
    content: bytes,
    source: str,
    *,
    though_locked: bool,
) -> Read:
    """The acts of a desk's download, each with the event that the browser gave it."""
    read = desk_file.desk_lines(
        content, label_store.plan, annotator, label_store.names(annotator)
    )
    found = label_store.check(annotator, read.acts, though_locked=though_locked)
    line_of = {
        str(act["event"]): line
        for act, line in zip(read.acts, read.lines, strict=True)
    }
    faults = [
        Faulty(line, RowFault.INVALID, words) for line, words in read.invalid
    ]
    faults += [
        Faulty(line_of[event], RowFault.INVALID, words)
        for event, words in found.refused.items()
    ]
    faults += [
        Faulty(
            line_of[event],
            RowFault.ALREADY,
            f"the item is labelled {other.label} already, elsewhere",
        )
        for event, other in found.overtaken.items()
    ]
    # A download may be handed in twice: what is stored already counts as such and is not written again.
    fresh = {act.event for act in found.fresh}
    acts = [dict(act) for act in read.acts if act["event"] in fresh]
    return Read(
        acts, sorted(faults), 0, source, n_stored=len(found.saved) - len(fresh)
    )


class _RowReader:
    """Takes rows one by one and keeps the result."""

    def __init__(
        self,
        label_store: LabelStore,
        annotator: str,
        meaning: Mapping[str, str],
    ) -> None:
        versions = [entry.version for entry in label_store.guidelines()]
        self._plan, self._annotator, self._meaning = (
            label_store.plan,
            annotator,
            meaning,
        )
        self._journal: Journal = label_store.journal(annotator)
        self._later = versions[1:]
        self._guideline = (
            versions[-1] if self._later else label_store.plan.guideline
        )
        self._named = _names(label_store.plan, annotator)
        self._lines: dict[Showing, tuple[int, str]] = {}
        self.acts: list[dict[str, object]] = []
        self.faults: list[Faulty] = []
        self.n_empty = 0

    def take(self, row: LabelRow) -> None:
        """Keep the act of a row, or its fault."""
        if not row.label:
            self.n_empty += 1
            return
        found = self._fault(row)
        if found is None:
            self._lines[self._showing(row)] = (row.line, self._label(row))
            self.acts += [self._act(row), *self._note(row)]
        else:
            self.faults.append(Faulty(row.line, *found))

    def _showing(self, row: LabelRow) -> Showing:
        return Showing(self._named[row.item], 2 if row.showing == "2" else 1)

    def _act(self, row: LabelRow) -> dict[str, object]:
        showing = self._showing(row)
        return {
            "event": uuid4().hex,
            "action": "label",
            "item": showing.item,
            "showing": showing.showing,
            "label": self._label(row),
            "reason": row.reason or None,
            "guideline": self._guideline,
        }

    def _note(self, row: LabelRow) -> Iterator[dict[str, object]]:
        """A note is a separate act, as on the page."""
        if row.note:
            yield self._act(row) | {
                "event": uuid4().hex,
                "action": "note",
                "note": row.note,
                "reason": None,
            }

    def _label(self, row: LabelRow) -> str:
        return self._meaning.get(row.label, row.label)

    def _fault(self, row: LabelRow) -> tuple[RowFault, str] | None:
        """What is wrong with a row, the first of it."""
        item = _quoted(row.item)
        if row.item not in self._named:
            return (
                RowFault.UNKNOWN_ITEM,
                f"{item} is not an item of {self._plan.campaign}",
            )
        if row.showing not in ("", "1", "2"):
            return (
                RowFault.INVALID,
                f"the showing must be 1 or 2, not {_quoted(row.showing)}",
            )
        showing = self._showing(row)
        if showing not in self._journal.order:
            return (
                RowFault.NOT_ASSIGNED,
                f"{item}, showing {showing.showing}, is not assigned to {self._annotator}",
            )
        if self._label(row) not in self._plan.labels:
            return (
                RowFault.UNKNOWN_LABEL,
                f"{_quoted(self._label(row))} is not a label",
            )
        label = self._label(row)
        if showing in self._lines:
            line, first = self._lines[showing]
            fault = (
                RowFault.DUPLICATE if label == first else RowFault.CONTRADICTION
            )
            return (
                fault,
                f"{item} stands on line {line} already{_unlike(first, label)}",
            )
        if showing in self._journal.given:
            given = self._journal.given[showing].label
            if label == given:
                return RowFault.ALREADY, f"{item} is labelled {given} already"
            return (
                RowFault.CONTRADICTION,
                f"{item} is given already{_unlike(given, label)}",
            )
        return self._other_fault(row)

    def _other_fault(self, row: LabelRow) -> tuple[RowFault, str] | None:
        reasons = self._plan.labels.reason_words
        if row.reason and row.reason not in reasons:
            return (
                RowFault.INVALID,
                f"{_quoted(row.reason)} is not a reason: {', '.join(reasons) or 'none'}",
            )
        try:
            # The same check as for what a browser sends, so that nothing else can get into the ledger this
            # way.
            for act in (self._act(row), *self._note(row)):
                annotation(
                    act,
                    self._plan,
                    self._annotator,
                    sequence=1,
                    later_versions=self._later,
                )
        except ValueError as error:
            return RowFault.INVALID, str(error)
        return None


def _names(plan: Plan, annotator: str) -> dict[str, str]:
    """The items by every name that a file may use."""
    names = [*(item.item for item in plan.items), *plan.gold_items]
    # An export before the lock names items differently for each annotator; their own file must still be read.
    return {
        blind_plan.cover_name(plan, annotator, name): name for name in names
    } | {name: name for name in names}


def _unlike(first: str, label: str) -> str:
    return (
        ""
        if label == first
        else f", labelled {first}, and this row says {_quoted(label)}"
    )


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _content(file: Path) -> bytes:
    try:
        return read_given(file, _MOST_BYTES)
    except OSError as error:
        raise CampaignError(
            f"{file} cannot be read: {error.strerror}.",
            remedy="Name a CSV file.",
        ) from error
    except ValueError as error:
        raise CampaignError(
            f"{file}: {error}.", remedy="Name a CSV file."
        ) from error


def _refuse_other_form(file: Path, content: bytes) -> None:
    tool = foreign_tool(file.name, content)
    if tool is not None and file.suffix.lower() != ".csv":
        raise CampaignError(
            f"{file} is an export of {tool.name}, not a CSV file.",
            remedy=remedy_of(tool),
        )


def _rows(file: Path, content: bytes, columns: Columns) -> Iterator[LabelRow]:
    columns = columns._replace(
        item=columns.item or "item", label=columns.label or "label"
    )
    try:
        sheet = csv.DictReader(
            io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True
        )
        _check_header(file, list(sheet.fieldnames or ()), columns)
        for cells in sheet:
            named = {
                field: _cell(cells, column)
                for field, column in columns._asdict().items()
            }
            yield LabelRow(line=sheet.line_num, **named)
    except (UnicodeDecodeError, csv.Error) as error:
        raise CampaignError(
            f"{file} is not a CSV file in UTF-8: {error}.",
            remedy="Save it as CSV, UTF-8.",
        ) from error


def _check_header(file: Path, header: list[str], columns: Columns) -> None:
    listed = ", ".join(map(_quoted, header[:20])) or "none"
    for name in (column for column in columns if column is not None):
        # With two columns of one name a reader of CSV silently takes the last.
        if header.count(name) != 1:
            how = (
                "has no column"
                if name not in header
                else "has more than one column"
            )
            raise CampaignError(
                f"{file} {how} {_quoted(name)}.",
                remedy=f"Its columns are {listed}.",
            )


def _cell(cells: Mapping[str, object], column: str | None) -> str:
    """The text of a cell as it was before an export made it safe for spreadsheets; too short a row ends in none."""
    text = str(cells.get(column) or "") if column is not None else ""
    bare = (
        unguarded(text)
        # Our exports put a sign before cells that a spreadsheet would take for formulas; only that sign is
        # taken off.
        if text.startswith(GUARD) and guarded(unguarded(text)) == text
        else text
    )
    return bare.strip()


_SHOWN_PEOPLE = 10


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

"""Answers in a file of another tool, read through a mapping: one that ships, or a TOML file beside it.

Knows how a row becomes the members of a prediction. Refuses to guess: a row without an instance, detector or setting
is left out and counted, with the paths at which they were looked for.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from crane_core.domain import LoadProblem, ProblemKind, Record
from crane_core.errors import SourceError
from crane_core.importers import predictions, reading
from crane_core.importers.answer_maps import placed_rows
from crane_core.importers.answer_maps.answer_map import (
    NEEDED_FIELDS,
    AnswerMap,
    MapError,
    MapRule,
    answer_map,
    fields_listed,
    missing_fields,
    ready_maps,
)
from crane_core.importers.answer_maps.proposal import ROWS_LOOKED_AT, proposed
from crane_core.importers.filetree import FileTree
from crane_core.importers.first_record import first_members
from crane_core.prompts.reply import read_reply

KIND = "mapped-answers"
MAP_SUFFIX = ".toml"
HOW_TO_MAP = (
    "State what holds for the whole file by --detector, --setting or --benchmark; or write the mapping that"
    " `import FILE --propose-map` prints into MAP.toml, correct it, and `import FILE --map MAP.toml`."
)
_LONGEST_SEARCHED = 100_000
"""Characters of a text in which a mapping's pattern is searched."""
_SHOWN = 60
_TEXTS = frozenset({"instance", "detector", "benchmark", "experiment", "title"})
_COUNTS = frozenset({"index", "input_tokens", "output_tokens"})
_BOOLEANS = {"true": True, "false": False}


class _UnmappedRowError(Exception):
    """Why a row becomes no answer."""


class _Asked(NamedTuple):
    """What a repeat shares with the answers before it."""

    benchmark: str
    instance: str
    detector: str
    setting: str


def recognises(tree: FileTree) -> float:
    """Confidence (0..1): a file beside a mapping, or a file that a mapping that ships knows by its first record."""
    if _map_beside(tree) is not None:
        return 1.0
    return 0.97 if ready_map(tree) is not None else 0.0


def ready_map(tree: FileTree) -> AnswerMap | None:
    """The mapping that ships for the one file of the tree; None where none knows it."""
    if len(tree.paths) != 1 or not tree.paths[0].lower().endswith(
        placed_rows.SUFFIXES
    ):
        return None
    [path] = tree.paths
    members = first_members(path, tree.read(path))
    return next((one for one in ready_maps() if knows(one, members)), None)


def knows(rules: AnswerMap, members: frozenset[str]) -> bool:
    """Whether a first record with these members is of the tool that the mapping is for."""
    pattern = rules.column_pattern
    if pattern is not None and any(map(pattern.search, members)):
        return True
    return any(members >= mark for mark in rules.known_by)


def _map_beside(tree: FileTree) -> str | None:
    """The mapping of a tree that holds one and the file that it is for."""
    maps = [path for path in tree.paths if path.endswith(MAP_SUFFIX)]
    others = [
        path
        for path in tree.paths
        if path.lower().endswith(placed_rows.SUFFIXES)
    ]
    is_pair = len(tree.paths) == 2 and len(others) == 1
    return maps[0] if is_pair and len(maps) == 1 else None


class FirstRows(NamedTuple):
    """The first rows of a file, and the mapping that ships for it."""

    rows: list[placed_rows.PlacedRow]
    rules: AnswerMap | None


def first_rows(tree: FileTree) -> FirstRows:
    """Of the one file of the tree. Raises SourceError if it cannot be mapped or read."""
    if len(tree.paths) != 1 or not tree.paths[0].lower().endswith(
        placed_rows.SUFFIXES
    ):
        raise SourceError(
            f"{tree.name} is not one file whose name ends in {', '.join(placed_rows.SUFFIXES)}.",
            remedy="Name the file that holds the answers.",
        )
    [path] = tree.paths
    rules = ready_map(tree)
    first = islice(
        placed_rows.rows_of(tree, path, rules or AnswerMap({})), ROWS_LOOKED_AT
    )
    rows = [row for row in first if isinstance(row, placed_rows.PlacedRow)]
    return FirstRows(rows, rules)


def proposed_map(tree: FileTree) -> str:
    """A mapping in TOML to begin with, made from the first rows of the one file of the tree. Raises SourceError."""
    return proposed(*first_rows(tree))


def read(tree: FileTree) -> Iterator[Record]:
    """What `importers.predictions` makes of each row's answers, and a count of every kind of row that was left out."""
    yield from tree.problems
    yield from predictions.once_named(_mapped(tree))


@reading.with_problems
def _mapped(tree: FileTree) -> Iterator[Record]:
    beside = _map_beside(tree)
    if beside is None:
        rules = ready_map(tree)
        [path] = tree.paths
    else:
        rules = _rules(tree, beside)
        [path] = (path for path in tree.paths if path != beside)
    if rules is None:
        raise reading.UnreadableFileError(
            path, "file", "no mapping knows this form"
        )
    if missing := missing_fields(rules):
        raise reading.UnreadableFileError(
            beside or path,
            "mapping",
            f"it does not state {fields_listed(missing)}",
        )
    yield from _AnswerReader(tree, path, rules).records()


def _rules(tree: FileTree, path: str) -> AnswerMap:
    try:
        return answer_map(reading.read_bytes(tree, path))
    except MapError as error:
        raise reading.UnreadableFileError(path, error.key, error.why) from error


class _AnswerReader:
    """Reads the rows of one file in order, because a row's index may be how many answers came before it."""

    def __init__(self, tree: FileTree, path: str, rules: AnswerMap) -> None:
        self._tree, self._path, self._rules = tree, path, rules
        self._experiment = predictions.experiment_of(path)
        self._stated = reading.Statements()
        self._n_before: Counter[_Asked] = Counter()
        self._prompts: dict[_Asked, str | None] = {}
        self._seen: set[str] = set()
        self._left_out: dict[tuple[str, ProblemKind], list[str]] = {}

    def records(self) -> Iterator[Record]:
        """Records of answers, then a problem for each reason to leave rows out, with how many they are."""
        n_wanted = 0
        for row in placed_rows.rows_of(self._tree, self._path, self._rules):
            if isinstance(row, LoadProblem):
                yield row
                continue
            if not self._is_wanted(row):
                continue
            n_wanted += 1
            try:
                answers = self._answers(row)
            except _UnmappedRowError as error:
                self._leave_out(str(error), row.place)
                continue
            for fields in answers:
                yield from self._of_answer(row.place, fields)
        if not n_wanted:
            yield LoadProblem(self._path, "file", "no row is about an answer")
        for (why, kind), places in self._left_out.items():
            n = len(places)
            which = f"{n:,} rows, the first" if n > 1 else "1 row"
            yield LoadProblem(self._path, f"{which}: {places[0]}", why, kind)

    def _of_answer(
        self, place: str, fields: dict[str, Any]
    ) -> Iterator[Record]:
        found = predictions.records_of_row(
            (place, fields), self._path, self._experiment, self._stated
        )
        for record in found:
            if isinstance(record, LoadProblem):
                self._leave_out(record.reason, place, record.kind)
            else:
                yield record

    def _leave_out(
        self,
        why: str,
        place: str,
        kind: ProblemKind = ProblemKind.UNREADABLE,
    ) -> None:
        self._left_out.setdefault((why, kind), []).append(place)

    def _answers(self, row: placed_rows.PlacedRow) -> list[dict[str, Any]]:
        """The members of the predictions that a row holds, one for each of its replies. Raises _UnmappedRowError."""
        read = {
            name: _value(name, rule, row)
            for name, rule in self._rules.fields.items()
        }
        fields = {
            name: value for name, value in read.items() if value is not None
        }
        if missing := [name for name in NEEDED_FIELDS if name not in fields]:
            raise _UnmappedRowError(f"it has no {self._where(missing)}")
        if fields.pop("invalid", False):
            raise _UnmappedRowError("its author invalidated it")
        if "crashes" in fields:
            # The mapping says which member is the answer, so a reply is only where its reasoning is read.
            said = read_reply(_as_text(fields.pop("reply", "")))
            if said.reasoning is not None:
                fields.setdefault("reasoning", said.reasoning)
            return [self._numbered(fields)]
        replies = _replies(fields.pop("reply", None))
        if len(replies) > 1 and "index" in fields:
            raise _UnmappedRowError(
                f"it has one index and {len(replies)} replies"
            )
        return [
            self._numbered(fields | _said(reply, fields)) for reply in replies
        ]

    def _where(self, names: list[str]) -> str:
        """The fields, each with the paths at which it was looked for."""
        told = (
            f"{name} (at {' or '.join(self._rules.fields[name].paths)})"
            for name in names
        )
        return " and no ".join(told)

    def _is_wanted(self, row: placed_rows.PlacedRow) -> bool:
        """Whether it is a row about an answer, and not one that repeats an earlier row."""
        for path, values in self._rules.only.items():
            if str(row.at(path)) not in values:
                return False
        if self._rules.distinct:
            told = [row.at(path) for path in self._rules.distinct]
            key = json.dumps(told, default=str)
            if key in self._seen:
                return False
            self._seen.add(key)
        return True

    def _numbered(self, fields: dict[str, Any]) -> dict[str, Any]:
        """With the index, and the digest of the prompt in place of its text. Raises _UnmappedRowError."""
        fields = dict(fields)
        prompt = fields.pop("prompt", None)
        digest = (
            hashlib.sha256(prompt.encode()).hexdigest()
            if isinstance(prompt, str)
            else None
        )
        fields["prompt_sha256"] = digest
        if "index" in fields:
            return fields
        asked = _Asked(
            str(fields.get("benchmark")),
            str(fields["instance"]),
            str(fields["detector"]),
            str(fields["setting"]),
        )
        # Rows of a second prompt are another experiment, and no repeats of the first.
        if self._prompts.setdefault(asked, digest) != digest:
            raise _UnmappedRowError(
                "its prompt differs from that of the first answer of this instance, detector and setting;"
                " map index, or import the answers to each prompt apart"
            )
        self._n_before[asked] += 1
        return fields | {"index": self._n_before[asked]}


def _value(name: str, rule: MapRule, row: placed_rows.PlacedRow) -> Any:
    """What the row says for a field, in the type that predictions want; None where it says nothing."""
    found = rule.value
    for path in rule.paths:
        if found is None or found == "":
            found = row.at(path)
    if found is None or found == "":
        return None
    if rule.pattern is not None:
        match = rule.pattern.search(_as_text(found)[:_LONGEST_SEARCHED])
        if match is None:
            return None
        found = match[1] if match.re.groups else match[0]
    if rule.words:
        return _meaning(name, found, rule.words)
    return _typed(name, found, rule)


def _meaning(name: str, found: Any, words: Mapping[str, Any]) -> Any:
    text = _as_text(found)
    if text not in words:
        raise _UnmappedRowError(
            f"{name} is {text[:_SHOWN]!r}, which is none of the words {', '.join(words)[: _SHOWN * 2]}"
        )
    return words[text]


def _typed(name: str, found: Any, rule: MapRule) -> Any:
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    if name in _TEXTS and is_number:
        return str(found)
    if name == "crashes" and isinstance(found, str):
        return _BOOLEANS.get(found.strip().casefold(), found)
    is_figure = name in _COUNTS or name in ("seconds", "usd")
    if not is_figure:
        return found
    try:
        number = float(found)
    except (TypeError, ValueError):
        raise _UnmappedRowError(
            f"{name} is {str(found)[:_SHOWN]!r}, not a number"
        ) from None
    scaled = number * rule.times + rule.plus
    # 3 and 3.0 are the same count; 3.5 stays as it is, so that predictions refuse it.
    is_count = name in _COUNTS and scaled.is_integer()
    return int(scaled) if is_count else scaled


def _as_text(found: Any) -> str:
    return found if isinstance(found, str) else json.dumps(found)


def _replies(found: Any) -> list[Any]:
    """The replies of a row: one, or each element of a list of texts; [None] where there is none."""
    is_list = isinstance(found, list) and bool(found)
    if is_list and all(isinstance(one, str) for one in found):
        return list(found)
    if isinstance(found, list) and not found:
        return [None]
    return [found]


def _said(reply: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Crashes and reasoning that a reply states; without a reply, why there is none."""
    told: dict[str, Any]
    if reply is None:
        trouble = fields.get("trouble")
        told = {"trouble": _as_text(trouble)} if trouble is not None else {}
        return {"crashes": None, **told}
    said = read_reply(_as_text(reply))
    told = {"crashes": said.crashes, "trouble": said.trouble}
    if said.reasoning is not None and "reasoning" not in fields:
        told["reasoning"] = said.reasoning
    return told

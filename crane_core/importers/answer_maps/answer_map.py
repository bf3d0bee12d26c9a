"""A mapping from the members of another tool's file to those of an answer: what a file of TOML says, checked.

Knows the keys of a mapping and the mappings that ship, which are the TOML files beside this one. Refuses to know which
values an answer may have: `importers.predictions` checks them.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from crane_core.errors import SourceError
from crane_core.importers.answer_maps.member_path import DOCUMENT, is_path

FIELDS = (
    "instance",
    "detector",
    "setting",
    "index",
    "crashes",
    "reply",
    "reasoning",
    "input_tokens",
    "output_tokens",
    "seconds",
    "usd",
    "benchmark",
    "experiment",
    "title",
    "kind",
    "prompt",
    "trouble",
    "invalid",
)
"""Members of an answer that a mapping may state; `reply` is a text from which crashes and reasoning are read."""
NEEDED_FIELDS = ("instance", "detector", "setting")
WHOLE_FILE = ("detector", "setting", "benchmark")
"""Fields that a command may state for a whole file."""
ABOUT = (
    "tool",
    "rows",
    "column_pattern",
    "known_by",
    "only",
    "distinct",
)
"""Keys that say which rows a file has, and whose file it is."""
_LARGEST_MAP = 2**16
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_REMEDY = "docs/researcher/other-tools.md lists the keys; `import FILE --propose-map` prints a mapping to begin with."


class MapRule(NamedTuple):
    """How one field is read: a constant `value`, or the first of `paths` that is there.

    words: from the text of the value to what it means; a text that is none of them is an error. pattern: its first
    group is the value. A number is multiplied by `times`, and `plus` is added to it.
    """

    paths: tuple[str, ...] = ()
    value: Any = None
    words: Mapping[str, Any] = {}
    pattern: re.Pattern[str] | None = None
    times: float = 1.0
    plus: int = 0


class AnswerMap(NamedTuple):
    """A mapping. rows: path of the list of rows; "" where the file is a list, lines or a table.

    column_pattern: each column whose name it matches is a row, with the named groups under `column` and the text under
    `cell`. known_by: members that stand together in the first record of this tool's files. only: path to the values
    that a row must have there. distinct: paths; of rows alike in all of them only the first counts.
    """

    fields: Mapping[str, MapRule]
    tool: str = ""
    rows: str = ""
    column_pattern: re.Pattern[str] | None = None
    known_by: tuple[frozenset[str], ...] = ()
    only: Mapping[str, tuple[str, ...]] = {}
    distinct: tuple[str, ...] = ()
    document: Mapping[str, Any] = {}
    """The mapping as its file says it."""


class MapError(SourceError):
    """A mapping that cannot be used: which key, and why."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(f"In the mapping, {key}: {why}.", remedy=_REMEDY)
        self.key, self.why = key, why


@cache
def ready_maps() -> tuple[AnswerMap, ...]:
    """The mappings that ship, in the order of their files' names."""
    found = sorted(
        (
            entry
            for entry in files("crane_core.importers.answer_maps").iterdir()
            if entry.name.endswith(".toml")
        ),
        key=lambda entry: entry.name,
    )
    return tuple(answer_map(entry.read_bytes()) for entry in found)


def answer_map(content: bytes) -> AnswerMap:
    """The mapping that a TOML file holds. Raises MapError."""
    return map_of(map_document(content))


def map_document(content: bytes) -> dict[str, Any]:
    """What a TOML file says, unchecked. Raises MapError."""
    if len(content) > _LARGEST_MAP:
        raise MapError("file", f"it is larger than {_LARGEST_MAP:,} bytes")
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise MapError("file", f"it is not TOML in UTF-8: {error}") from error


def map_of(document: Mapping[str, Any]) -> AnswerMap:
    """The mapping that a parsed file says. Raises MapError for a key that does not exist or a value of another type."""
    for key in document:
        if key not in (*FIELDS, *ABOUT):
            raise MapError(
                repr(key)[:80], f"the keys are {', '.join((*FIELDS, *ABOUT))}"
            )
    only = document.get("only", {})
    if not isinstance(only, dict):
        raise MapError("only", "it must be a table of paths")
    return AnswerMap(
        fields={
            name: _rule(name, document[name])
            for name in FIELDS
            if name in document
        },
        tool=_text("tool", document.get("tool", "")),
        rows=_path("rows", document["rows"]) if "rows" in document else "",
        column_pattern=_pattern(
            "column_pattern", document.get("column_pattern")
        ),
        known_by=tuple(
            frozenset(_texts("known_by", marks))
            for marks in document.get("known_by", ())
        ),
        only={
            _path("only", path): _texts(f"only.{path}", values)
            for path, values in only.items()
        },
        distinct=_paths("distinct", document.get("distinct", [])),
        document=document,
    )


def missing_fields(rules: AnswerMap) -> list[str]:
    """Fields that every answer needs and the mapping does not state."""
    missing = [name for name in NEEDED_FIELDS if name not in rules.fields]
    if not {"crashes", "reply"} & rules.fields.keys():
        missing.append("crashes")
    return missing


def completed(
    document: Mapping[str, Any], stated: Mapping[str, str]
) -> dict[str, Any]:
    """The mapping with what holds for the whole file in place of what it says about these fields."""
    return dict(document) | {
        name: {"value": value} for name, value in stated.items()
    }


def map_toml(document: Mapping[str, Any]) -> str:
    """The mapping as a file of TOML, one key a line."""
    return "".join(
        f"{name} = {_toml(value)}\n" for name, value in document.items()
    )


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        members = (
            f"{name if _BARE.fullmatch(name) else _toml(name)} = {_toml(inner)}"
            for name, inner in value.items()
        )
        return "{ " + ", ".join(members) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # A string of JSON is one of TOML, but for the character DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _rule(name: str, told: Any) -> MapRule:
    """A field's rule: a path, a list of paths, or a table."""
    if isinstance(told, str | list):
        return MapRule(paths=_paths(name, told))
    if not isinstance(told, dict):
        raise MapError(name, "it must be a path, a list of paths or a table")
    for key in told:
        if key not in ("path", *MapRule._fields[1:]):
            raise MapError(
                name,
                f"{key!r} is none of path, {', '.join(MapRule._fields[1:])}",
            )
    if ("path" in told) == ("value" in told):
        raise MapError(name, "it must have either path or value")
    words = told.get("words", {})
    if not isinstance(words, dict):
        raise MapError(name, "words must be a table")
    return MapRule(
        paths=_paths(name, told.get("path", [])),
        value=_constant(name, told.get("value")),
        words={
            word: _constant(name, meaning) for word, meaning in words.items()
        },
        pattern=_pattern(name, told.get("pattern")),
        times=float(_number(name, told.get("times", 1))),
        plus=int(_number(name, told.get("plus", 0))),
    )


def _paths(name: str, told: Any) -> tuple[str, ...]:
    listed = [told] if isinstance(told, str) else told
    if not isinstance(listed, list):
        raise MapError(name, "it must be a path or a list of paths")
    return tuple(_path(name, path) for path in listed)


def _path(name: str, told: Any) -> str:
    if not isinstance(told, str) or not is_path(told.removeprefix(DOCUMENT)):
        raise MapError(
            name, f"{str(told)[:80]!r} is not a path such as vars.instance"
        )
    return told


def _text(name: str, told: Any) -> str:
    if not isinstance(told, str):
        raise MapError(name, "it must be a string")
    return told


def _texts(name: str, told: Any) -> tuple[str, ...]:
    if not isinstance(told, list):
        raise MapError(name, "it must be a list of strings")
    return tuple(_text(name, one) for one in told)


def _constant(name: str, told: Any) -> Any:
    if told is not None and not isinstance(told, str | int | float | bool):
        raise MapError(name, "a value must be a string, number or boolean")
    return told


def _number(name: str, told: Any) -> float:
    if isinstance(told, bool) or not isinstance(told, int | float):
        raise MapError(name, "times and plus must be numbers")
    return told


def _pattern(name: str, told: Any) -> re.Pattern[str] | None:
    if told is None:
        return None
    try:
        return re.compile(_text(name, told))
    except re.error as error:
        raise MapError(
            name, f"the pattern is not a regular expression: {error}"
        ) from error


def fields_listed(names: Iterable[str]) -> str:
    """Names of fields in a sentence; a reply is named beside crashes."""
    return ", ".join(
        "crashes (or reply)" if name == "crashes" else name for name in names
    )

"""A state's JSON as flat facts: (mark of the category, path of the fact) to its text, for each name and each absence.

Knows the form of published and of captured states. Refuses to know HTML.
"""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from crane_core.prompts.tagged_json import decode
from crane_core.ui.words import shortened

GROUPS = {"structure": "S", "representation": "R", "values": "V"}
PLUS = "+"
DOCS = "D"
ABSENT = "∅"
MARK_WORDS = {
    "S": "structure",
    "R": "representation and type",
    "V": "values and state",
    "S+": "structure, beyond what the published extractor records",
    "R+": "representation and type, beyond what the published extractor records",
    "V+": "values and state, beyond what the published extractor records",
    DOCS: "the callable's own description",
    ABSENT: "used by the target and not there",
}
LEGEND = {
    "S": "structure",
    "R": "representation",
    "V": "values",
    PLUS: "beyond the published extractor",
    DOCS: "documentation",
    ABSENT: "not there",
}
"""The marks in few words, for below a state."""
ACCESSED = " (attribute or method)"
"""Ends the name of what the target reaches through another name, which may be spelled like a variable."""

_LONG_FLOAT = re.compile(
    r"(?<![\w.'\"])-?\d+\.\d{5,}(?:e[+-]?\d+)?(?![\w.'\"])"
)
MAX_TEXT = 160
"""Characters of one fact that are shown."""
MAX_WORDS = 3 * MAX_TEXT
"""Most characters shown about one absence."""

_ASKED_BY = {"keys": ("key", "label", "index"), "arguments": ("argument",)}
"""The members that name what is needed, where they are not called as their kind."""
_BESIDE = {
    "type": "{of} is of type {}",
    "dtype": "its dtype is {}",
    "length": "there are {}",
    "shape": "its shape is {}",
    "n_columns": "{of} has {} columns",
    "keys": "{of} has {}",
    "given": "{} are given",
    "taken": "{} are taken",
    "asked_by": "used by {}",
    "is_name_of_index_level": "a level of the index has this name",
}
"""Further facts of an absence, in words."""

Numbers = Mapping[int, str]
"""Index of a code cell in its notebook (from 0) to the number under which the page shows it."""

NO_NUMBERS: Numbers = MappingProxyType({})
Key = tuple[str, str]
Facts = dict[Key, str]


def documents(state: str | None) -> dict[str, Any]:
    """The JSON of a state; without any member where it was not captured."""
    document: dict[str, Any] = {} if state is None else json.loads(state)
    return document


def entries(document: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of each name, variables first, then attributes and methods."""
    accesses = {
        _access_name(name): entry
        for name, entry in document.get("accesses", {}).items()
    }
    variables: dict[str, Any] = document.get("variables", {})
    return variables | accesses


def _access_name(name: str) -> str:
    # The prefix is the published extractor's; captures spell accesses with a dot.
    return name.removeprefix("__method__") + ACCESSED


def substance(entry: Any) -> Any:
    """The entry without the place of its assignment, which tells nothing of what the name holds."""
    if not isinstance(entry, dict):
        return entry
    return {
        member: value for member, value in entry.items() if member != "assigned"
    }


def entry_facts(entry: Any) -> Facts:
    """The facts of one name; those of `plus` under the mark of their category with a plus."""
    if not isinstance(entry, dict):
        return {}
    if not {*GROUPS, "plus", "docs", "unavailable"} & entry.keys():
        return {
            ("", path): text
            for path, text in _flat(decode(entry), "").items()
            if path != "type"
        }
    plus, why = entry.get("plus", {}), entry.get("unavailable")
    facts: Facts = {("", "not looked into"): fact_text(why)} if why else {}
    for group, mark in GROUPS.items():
        facts |= _marked(mark, entry.get(group, {})) | _marked(
            mark + PLUS, plus.get(group, {})
        )
    return facts | _marked(DOCS, entry.get("docs", {}))


def absent_facts(
    document: Mapping[str, Any], numbers: Numbers = NO_NUMBERS
) -> Facts:
    """What the target uses and will not find, by kind and name; a target that cannot be parsed is included."""
    facts: Facts = {}
    for kind, items in document.get("absent", {}).items():
        for item in _listed(items):
            key, words = (
                (ABSENT, _absent_what(str(kind), item)),
                _absent_words(item, numbers),
            )
            both = (
                f"{facts[key]}; {words}"
                if facts.get(key, words) != words
                else words
            )
            facts[key] = fact_text(both, MAX_WORDS)
    error = document.get("syntax_error")
    return facts | (
        {("", "the target cannot be parsed"): fact_text(error)} if error else {}
    )


def near_names(document: Mapping[str, Any]) -> frozenset[str]:
    """What is there and spelled almost like something that the target will not find."""
    return frozenset(
        str(name)
        for items in document.get("absent", {}).values()
        for item in _listed(items)
        if isinstance(item, dict)
        for name in _listed(item.get("similar"))
    )


def unavailable_facts(document: Mapping[str, Any]) -> Facts:
    """Names that could not be examined, and why."""
    shown = document.get("variables", {})
    missing = document.get("unavailable", {}).items()
    return {
        ("", f"{name} was not examined"): fact_text(why)
        for name, why in missing
        if name not in shown
    }


def _absent_what(kind: str, item: Any) -> str:
    """`column price of df`, `index 7 among the rows of df`, `file data.csv of pd.read_csv(…)`."""
    if not isinstance(item, dict):
        return f"{kind.removesuffix('s')} {fact_text(item)}"
    word = next(
        (
            word
            for word in _ASKED_BY.get(kind, (kind.removesuffix("s"),))
            if word in item
        ),
        kind,
    )
    asked = f"{word} {fact_text(item[word])}" if word in item else word
    within = f" among the {fact_text(item['in'])}" if "in" in item else ""
    return (
        asked
        + within
        + (f" of {fact_text(item['of'])}" if "of" in item else "")
    )


def _absent_words(item: Any, numbers: Numbers) -> str:
    """Where the target uses it, why it is missing, what is there instead, whether the target certainly reaches it."""
    if not isinstance(item, dict):
        return "not there"
    words = [_absent_first(item), *_beside(item)]
    would = _listed(item.get("would_be_defined_in"))
    words += [
        f"{_cell(place, numbers)} would define it and did not run"
        for place in would
    ]
    words += [
        f"deleted in {_cell(place, numbers)}"
        for place in _listed(item.get("deleted_in"))
    ]
    if item.get("similar") and "n_columns" not in item:
        words.append(f"there is {_similar(item)}")
    if item.get("via"):
        words.append(
            "within " + ", ".join(map(fact_text, _listed(item["via"])))
        )
    if item.get("certain") is False:
        words.append("unless the target creates it or stops earlier")
    return fact_text("; ".join(words), MAX_WORDS)


def _absent_first(item: Mapping[str, Any]) -> str:
    what = fact_text(item["why"]) if "why" in item else "not there"
    return f"{what}, used in line {item['line']}" if "line" in item else what


def _beside(item: Mapping[str, Any]) -> list[str]:
    """The facts about the object that lacks it, which the first of them names."""
    said = []
    owner = fact_text(item.get("of", "it"))
    for name, words in _BESIDE.items():
        if name in item:
            fact = words.format(_spelled(item[name]), of=owner)
            if name == "n_columns" and item.get("similar"):
                fact = f"{fact}, among them {_similar(item)}"
            said.append(fact)
            owner = "it"
    return said


def _similar(item: Mapping[str, Any]) -> str:
    return ", ".join(map(exact, _listed(item["similar"])))


def _spelled(value: Any) -> str:
    return fact_text(
        ", ".join(map(fact_text, value)) if isinstance(value, list) else value
    )


def _listed(value: Any) -> list[Any]:
    """An imported file may hold one thing where a list is usual."""
    return (
        value if isinstance(value, list) else [] if value is None else [value]
    )


def exact(value: Any) -> str:
    """In quotes where it is empty or has blanks at an end, which may be just what is amiss."""
    is_unclear = (
        isinstance(value, str)
        and (not value or value != value.strip())
        and "\n" not in value
    )
    return fact_text(repr(value) if is_unclear else value)


def _cell(place: Any, numbers: Numbers) -> str:
    """A cell by the number under which it is shown; else as the notebook has it, counted from 0."""
    if not isinstance(place, dict) or not isinstance(place.get("cell"), int):
        return fact_text(place)
    return (
        f"cell {numbers[place['cell']]}"
        if place["cell"] in numbers
        else f"code cell {place['cell']} (from 0)"
    )


def _marked(mark: str, facts: Any) -> Facts:
    return {
        (mark, path): text for path, text in _flat(decode(facts), "").items()
    }


def _flat(value: Any, path: str) -> dict[str, str]:
    """Nested dictionaries as paths; a dictionary without further nesting is one fact."""
    if not isinstance(value, dict) or not value:
        return {path: exact(value)} if path else {}
    if path and not any(
        isinstance(item, dict) and item for item in value.values()
    ):
        return {
            path: fact_text(
                ", ".join(
                    f"{exact(key)} {exact(item)}" for key, item in value.items()
                )
            )
        }
    facts: dict[str, str] = {}
    for key, item in value.items():
        facts |= _flat(item, f"{path} › {exact(key)}" if path else exact(key))
    return facts


def fact_text(value: Any, limit: int = MAX_TEXT) -> str:
    """A value as text of at most `limit` characters; a longer one says how long it is."""
    text = value if isinstance(value, str) else repr(value)
    return shortened(text, limit)


def rounded(text: str) -> str:
    """The text of a fact with its long floats to five digits; quoted text is unchanged."""
    return _LONG_FLOAT.sub(lambda found: f"{float(found[0]):.5g}", text)

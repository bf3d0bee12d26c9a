"""A signature as Python writes it, made of names, kinds, defaults and annotations.

Knows built-in values and the type forms of `typing`. Refuses to call `repr` of anything else: it is written as the
name of its class in angle brackets.

Beside it the parts of a docstring that a caller must not overlook: Notes, Important and Warnings (paper, section 3.3),
as underlined titles (NumPy), titles with a colon (Google) and directives (Sphinx).
"""

from __future__ import annotations

import inspect
import re
import types
from typing import Any, Iterable, Iterator, NamedTuple

from ..anatomy import (
    instance_dict,
    is_genuine,
    is_kind,
    module_of,
    name_of,
    type_name,
)
from ..bounds import text
from ..kinds import ROWS, Kinds

MAX_SIGNATURE = 1200
MAX_DEFAULT = 60
MAX_ANNOTATION = 80
_DEEPEST = 4
_QUOTED = re.compile(r"^(['\"])(.*)\1\Z", re.DOTALL)
_UNIONS = ("UnionType", "Union", "_UnionGenericAlias")
_TYPING = ("typing", "types", "typing_extensions")
_EMPTY = inspect.Parameter.empty
_STARS: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}
_SIMPLE = Kinds(bool, int, float, complex, str, bytes)
_SETS = Kinds(set, frozenset)
_BRACKETED = Kinds(*ROWS, *_SETS)
_TEXTS = Kinds(str, bytes)
MAX_SECTION = 700
"""Characters of one section, all its passages together."""
_TITLES = {
    "note": "Notes",
    "notes": "Notes",
    "important": "Important",
    "warning": "Warnings",
    "warnings": "Warnings",
    "caution": "Warnings",
}
_WORDS = "|".join(_TITLES)
# Three marks at least: two are a dash in prose.
_UNDERLINE = re.compile(r"\s*(?:-{3,}|={3,}|~{3,})\s*$")
_GOOGLE = re.compile(
    rf"(?P<indent>\s*)(?:\*\*)?(?P<title>{_WORDS}):(?:\*\*)?\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
_SPHINX = re.compile(
    rf"(?P<indent>\s*)\.\.\s+(?P<title>{_WORDS})\s*::\s*(?P<rest>.*)$",
    re.IGNORECASE,
)


class _Passage(NamedTuple):
    title: str
    body: tuple[str, ...]


def signature_text(signature: inspect.Signature, skip: int = 0) -> str:
    """`(x, *, y=None) -> DataFrame`, the first `skip` parameters left out; a long one goes without its annotations."""
    full = _written(signature, skip)
    if len(full) <= MAX_SIGNATURE:
        return full
    # Annotations are what makes it long; names and defaults are what a caller needs.
    names = [
        parameter.replace(annotation=_EMPTY)
        for parameter in signature.parameters.values()
    ]
    return text(
        _written(signature.replace(parameters=names), skip), MAX_SIGNATURE
    )


def _written(signature: inspect.Signature, skip: int) -> str:
    parameters = list(signature.parameters.values())[skip:]
    written: list[str] = []
    starred = False
    for position, parameter in enumerate(parameters):
        # A bare star where nothing else says that names follow.
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            written.append("*")
        starred = starred or parameter.kind in (
            parameter.KEYWORD_ONLY,
            parameter.VAR_POSITIONAL,
        )
        written.append(_parameter(parameter))
        if _ends_positional_only(parameters, position):
            written.append("/")
    returned = signature.return_annotation
    arrow = "" if returned is _EMPTY else f" -> {annotation_text(returned)}"
    return f"({', '.join(written)}){arrow}"


def _ends_positional_only(
    parameters: list[inspect.Parameter], position: int
) -> bool:
    kinds = [
        parameter.kind for parameter in parameters[position : position + 2]
    ]
    only = inspect.Parameter.POSITIONAL_ONLY
    # Only the last of them is followed by "/".
    return kinds[0] is only and kinds[1:] != [only]


def _parameter(parameter: inspect.Parameter) -> str:
    stars = _STARS.get(parameter.kind, "")
    note = (
        ""
        if parameter.annotation is _EMPTY
        else f": {annotation_text(parameter.annotation)}"
    )
    default = (
        ""
        if parameter.default is _EMPTY
        else f"={default_text(parameter.default)}"
    )
    return f"{stars}{parameter.name}{note}{default}"


def default_text(value: Any, depth: int = 2) -> str:
    """The default as it would be written where it is built in; else `<ClassName>`, or a name."""
    kind = type(value)
    if value is None or value is Ellipsis or kind in _SIMPLE:
        return _shortened(value, kind)
    # Bounded in depth, as a default may hold itself.
    if kind in _BRACKETED and depth and len(value) <= MAX_DEFAULT // 4:
        return _bracketed(value, kind, depth)
    if kind is dict and not value:
        return "{}"
    if kind is types.FunctionType:
        return str(value.__name__)
    return type_name(value) if is_kind(value, type) else f"<{type_name(kind)}>"


def _bracketed(value: Any, kind: type, depth: int) -> str:
    items = [default_text(item, depth - 1) for item in value]
    if kind in _SETS:
        # Sets have no order, and the same prompt must come out each time.
        return text("{" + ", ".join(sorted(items)) + "}", MAX_DEFAULT)
    if kind is list:
        return text("[" + ", ".join(items) + "]", MAX_DEFAULT)
    comma = "," if len(items) == 1 else ""
    return text("(" + ", ".join(items) + comma + ")", MAX_DEFAULT)


def _shortened(value: Any, kind: type) -> str:
    # A default may be a text of megabytes: repr of all of it is not made.
    if kind in _TEXTS and len(value) > MAX_DEFAULT:
        value = value[:MAX_DEFAULT]
        return text(repr(value) + "\u2026", MAX_DEFAULT * 2)
    # Python 3.11 refuses to write integers of more than 4300 digits.
    if kind is int and value.bit_length() > MAX_DEFAULT:
        return f"<int of {value.bit_length()} bits>"
    return text(repr(value), MAX_DEFAULT * 2)


def annotation_text(value: Any) -> str:
    """An annotation as it is: a text is not evaluated, a class is its name."""
    return text(_annotation(value, _DEEPEST), MAX_ANNOTATION)


def _annotation(value: Any, depth: int) -> str:
    kind = type(value)
    if kind is str:
        # `from __future__ import annotations` around a quoted annotation leaves its quotes.
        return str(_QUOTED.sub(r"\2", value))
    if value is None or value is type(None):
        return "None"
    if value is Ellipsis:
        return "..."
    if is_kind(value, type):
        return _short_name(value)
    if kind is list:
        return f"[{_annotations(value[:8], depth)}]"
    # Other objects as annotations (of a validation library) may have any __repr__.
    if depth == 0 or module_of(kind) not in _TYPING or not is_genuine(kind):
        return (
            default_text(value) if kind in _SIMPLE else f"<{type_name(kind)}>"
        )
    return _typing_form(value, kind, depth)


def _annotations(values: Iterable[Any], depth: int, between: str = ", ") -> str:
    return between.join(_annotation(item, depth - 1) for item in values)


def _typing_form(value: Any, kind: type, depth: int) -> str:
    """`Optional[int]`, `list[str]`, `int | None`, `T`: classes of `typing` alone are taken apart."""
    arguments = getattr(value, "__args__", ())
    has_arguments = type(arguments) is tuple and bool(arguments)
    # Each release names it in its own way: 3.10 UnionType, 3.14 Union.
    if has_arguments and name_of(kind) in _UNIONS:
        return _annotations(arguments, depth, between=" | ")
    held = instance_dict(value)
    names = [held.get("_name"), held.get("__name__")]
    names += [
        getattr(value, name, None) for name in ("__forward_arg__", "__name__")
    ]
    named = next(filter(None, names), None)
    name = named if type(named) is str else _origin_name(value, kind)
    return (
        f"{name}[{_annotations(arguments, depth)}]" if has_arguments else name
    )


def _origin_name(value: Any, kind: type) -> str:
    origin: Any = getattr(value, "__origin__", None)
    return (
        _short_name(origin) if is_kind(origin, type) else f"<{name_of(kind)}>"
    )


def _short_name(kind: type) -> str:
    return type_name(kind).rpartition(".")[2]


def sections_of(doc: str) -> dict[str, str]:
    """ "Notes", "Important" and "Warnings" to their text, white space flattened; what is beyond MAX_SECTION counts."""
    lines = doc.expandtabs().splitlines()
    found: dict[str, list[str]] = {}
    for passage in _passages(lines):
        # Line breaks are of the source's width, and cost tokens.
        flat = " ".join(" ".join(passage.body).split())
        if flat:
            found.setdefault(passage.title, []).append(flat)
    return {title: _bounded(" ".join(found[title])) for title in sorted(found)}


def _passages(lines: list[str]) -> Iterator[_Passage]:
    position = 0
    while position < len(lines):
        passage = _passage_at(lines, position)
        if passage is None:
            position += 1
            continue
        yield passage
        position += max(1, len(passage.body))


def _passage_at(lines: list[str], start: int) -> _Passage | None:
    # NumPy's title first: its line has no colon, so Google's rule would not see it.
    if _is_underlined(lines, start):
        title = _TITLES.get(lines[start].strip().lower())
        return (
            _Passage(title, ("", "", *_until_next_title(lines, start + 2)))
            if title
            else None
        )
    sphinx, google = _SPHINX.match(lines[start]), _GOOGLE.match(lines[start])
    match = sphinx or google
    if match is None:
        return None
    # "Note: text" is one paragraph; a title alone has an indented body.
    is_paragraph = google is not None and bool(match["rest"])
    inner = (
        _paragraph(lines, start + 1)
        if is_paragraph
        else _indented(lines, start + 1, len(match["indent"]))
    )
    return _Passage(_TITLES[match["title"].lower()], (match["rest"], *inner))


def _is_underlined(lines: list[str], position: int) -> bool:
    return bool(
        lines[position].strip()
        and position + 1 < len(lines)
        and _UNDERLINE.match(lines[position + 1])
    )


def _until_next_title(lines: list[str], start: int) -> tuple[str, ...]:
    end = start
    while end < len(lines) and not _is_underlined(lines, end):
        end += 1
    return tuple(lines[start:end])


def _indented(lines: list[str], start: int, indent: int) -> tuple[str, ...]:
    """The lines that stand deeper than `indent`, blank ones in between included."""
    end = start
    while end < len(lines) and (
        # The body ends with the first line that is not deeper than its title.
        not lines[end].strip()
        or len(lines[end]) - len(lines[end].lstrip()) > indent
    ):
        end += 1
    return tuple(lines[start:end])


def _paragraph(lines: list[str], start: int) -> tuple[str, ...]:
    end = start
    while end < len(lines) and lines[end].strip():
        end += 1
    return tuple(lines[start:end])


def _bounded(flat: str) -> str:
    if len(flat) <= MAX_SECTION:
        return flat
    # Cut between words; the rest is counted, so that a model knows of it.
    shown = flat[:MAX_SECTION].rpartition(" ")[0] or flat[:MAX_SECTION]
    return f"{shown} \u2026 ({len(flat) - len(shown)} characters more)"

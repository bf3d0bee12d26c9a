"""A column, key or label that is not there: the one label of the same table or dict that was meant."""

import ast
import re
from collections.abc import Iterator, Mapping

from crane_core.domain import VariableState
from crane_core.repair.crash_site import CrashSite, facts_of
from crane_core.repair.fix import Fix, SourceEdit
from crane_core.repair.near import meant

_LISTED = re.compile(
    r"(?:None of \[Index\()?(?P<labels>\[.*?\])(?:,.*)? (?:are|not|in)\b"
)
"""pandas: "['a', 'b'] not in index", "None of [Index(['a'], dtype='str')] are in the [columns]"."""
_SEABORN = re.compile(r"Could not interpret value `(?P<label>.*)` for `")
_GROUPED = "Column not found: "
"""pandas, of a column that is selected after groupby."""
_WORDS = ("title", "label", "xlabel", "ylabel", "name", "suffixes", "legend")
"""Arguments whose text is shown to people, and need not be a label of the table."""
_GROUPS = ("columns", "keys")


def propose(site: CrashSite) -> Iterator[Fix]:
    """At labels that a table or dict lacks: those that were meant, for all of them or for none."""
    found: list[SourceEdit] = []
    words: list[str] = []
    for wrong in _missing(site):
        right = meant(wrong, _known(site, wrong))
        places = _places(site, wrong)
        # All of them or none: with one label right and one wrong the cell still raises.
        if right is None or not places:
            return
        found += [
            site.replaced(node, _quoted(site, node, right)) for node in places
        ]
        words.append(f"{right!r} for {wrong!r}")
    if found:
        replaced = " and ".join(words)
        yield site.fix(f"Write {replaced}.", *found)


def _missing(site: CrashSite) -> list[str]:
    """The labels that the message names."""
    if site.exception == "ValueError":
        shown = _SEABORN.match(site.message)
        if shown is None:
            return []
        return [shown["label"]]
    if site.exception != "KeyError":
        return []
    key = _literal(site.message)
    if not isinstance(key, str):
        return []
    listed = _LISTED.match(key)
    if listed is None:
        return [key.removeprefix(_GROUPED)]
    labels = _literal(listed["labels"])
    if not isinstance(labels, list):
        return []
    return [label for label in labels if isinstance(label, str)]


def _literal(text: str) -> object:
    """The value that is written; None if it is not one."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def _known(site: CrashSite, wrong: str) -> list[str]:
    """Labels of the tables and dicts that the statement names, and those that the probe found near."""
    labels: list[str] = []
    for group in _GROUPS:
        labels += site.similar(group, wrong)
    for node in site.here(ast.Name):
        variable = site.variable(node)
        if variable is not None:
            labels += _labels(variable)
    return labels


def _labels(variable: VariableState) -> Iterator[str]:
    for name in ("columns", "keys", "dtypes"):
        for fact in facts_of(variable, name):
            if isinstance(fact, list | Mapping):
                yield from (label for label in fact if isinstance(label, str))


def _places(site: CrashSite, wrong: str) -> list[ast.Constant]:
    """Where the target selects by the label: in the statement that crashed, and below it from the same objects."""
    if wrong in _stored(site):
        return []
    shown = _shown(site)
    here = [node for node in site.here(ast.Constant) if node not in shown]
    found = [node for node in here if node.value == wrong]
    receivers = _selected_by(site, found)
    for place in site.anywhere(ast.Subscript):
        if site.text(place.value) in receivers:
            found += _constants(place.slice, wrong)
    unique = {site.span(node): node for node in found}
    return list(unique.values())


def _selected_by(site: CrashSite, labels: list[ast.Constant]) -> set[str]:
    """What the statement that crashed selects from by one of these labels, as text."""
    found = set()
    for node in site.here(ast.Subscript):
        parts = ast.walk(node.slice)
        if any(part in labels for part in parts):
            found.add(site.text(node.value))
    return found


def _shown(site: CrashSite) -> list[ast.AST]:
    """Parts of arguments whose text is shown to people."""
    found: list[ast.AST] = []
    for call in site.here(ast.Call):
        for keyword in call.keywords:
            if keyword.arg in _WORDS:
                found += ast.walk(keyword)
    return found


def _constants(root: ast.AST, value: str) -> list[ast.Constant]:
    return [
        node
        for node in ast.walk(root)
        if isinstance(node, ast.Constant) and node.value == value
    ]


def _stored(site: CrashSite) -> Iterator[object]:
    """Labels that the target itself makes, as in `df['total'] = 1`."""
    for node in site.anywhere(ast.Subscript):
        match node:
            case ast.Subscript(
                slice=ast.Constant(value=label),
                ctx=ast.Store(),
            ):
                yield label


def _quoted(site: CrashSite, node: ast.Constant, right: str) -> str:
    """The label as a literal in the quotes of the one that it replaces."""
    text = repr(right)
    has_double = '"' in text or "\\" in text
    is_plain = text.startswith("'") and not has_double
    if is_plain and site.text(node).startswith('"'):
        return f'"{right}"'
    return text

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
        yield site.fix(f"Write {' and '.join(words)}.", *found)


def _missing(site: CrashSite) -> list[str]:
    """The labels that the message names."""
    if site.exception == "ValueError":
        shown = _SEABORN.match(site.message)
        return [shown["label"]] if shown else []
    if site.exception != "KeyError":
        return []
    try:
        key = ast.literal_eval(site.message)
    except (ValueError, SyntaxError):
        return []
    if not isinstance(key, str):
        return []
    listed = _LISTED.match(key)
    if listed is None:
        return [key.removeprefix(_GROUPED)]
    try:
        labels = ast.literal_eval(listed["labels"])
    except (ValueError, SyntaxError):
        return []
    return [label for label in labels if isinstance(label, str)]


def _known(site: CrashSite, wrong: str) -> list[str]:
    """Labels of the tables and dicts that the statement names, and those that the probe found near."""
    labels = [
        label for group in _GROUPS for label in site.similar(group, wrong)
    ]
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
    if wrong in {each.value for each in _stored(site)}:
        return []
    shown = _shown(site)
    here = [node for node in site.here(ast.Constant) if node.value == wrong]
    found = [node for node in here if node not in shown]
    receivers = {
        site.text(node.value)
        for node in site.here(ast.Subscript)
        if any(part in found for part in ast.walk(node.slice))
    }
    for node in site.anywhere(ast.Subscript):
        if site.text(node.value) in receivers:
            found += _constants(node.slice, wrong)
    unique = {site.span(node): node for node in found}
    return list(unique.values())


def _shown(site: CrashSite) -> list[ast.AST]:
    """Parts of arguments whose text is shown to people."""
    keywords = [each for call in site.here(ast.Call) for each in call.keywords]
    return [
        part
        for keyword in keywords
        if keyword.arg in _WORDS
        for part in ast.walk(keyword)
    ]


def _constants(root: ast.AST, value: str) -> list[ast.Constant]:
    return [
        node
        for node in ast.walk(root)
        if isinstance(node, ast.Constant) and node.value == value
    ]


def _stored(site: CrashSite) -> Iterator[ast.Constant]:
    """Labels that the target itself makes, as in `df['total'] = 1`."""
    for node in site.anywhere(ast.Subscript):
        is_store = isinstance(node.ctx, ast.Store)
        if is_store and isinstance(node.slice, ast.Constant):
            yield node.slice


def _quoted(site: CrashSite, node: ast.Constant, right: str) -> str:
    """The label as a literal in the quotes of the one that it replaces."""
    text = repr(right)
    is_plain = text.startswith("'") and '"' not in text and "\\" not in text
    return (
        f'"{right}"' if is_plain and site.text(node).startswith('"') else text
    )

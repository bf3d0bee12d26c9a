"""The columns of a data frame in both versions as a table, one row a column: its dtype (R) and its values (V)."""

from collections.abc import Mapping
from typing import Any

from crane_core.prompts.tagged_json import decode
from crane_core.ui.code_html import blanks_html
from crane_core.ui.state_facts import MARK_WORDS, exact, fact_text, rounded
from crane_core.ui.state_words import column_words, missing_words
from crane_core.ui.words import quantity

MAX_COLUMNS = 30
"""Columns before the rest folds away."""
MAX_FOLDED = 400
"""Columns that fold away; what is beyond is counted."""
MAX_VALUES = 5
"""Values of a column that are named."""

Told = dict[str, tuple[str, str]]
"""Column to its dtype and what is known of its values."""


def column_names(entry: Any) -> list[str]:
    """The columns that the entry of a name tells of, in its order."""
    return list(_told(entry))


def tells_columns(*entries: Any) -> bool:
    """Whether any of the entries tells of columns."""
    return any(column_names(entry) for entry in entries)


def without_columns(entry: Any) -> Any:
    """The entry of a name without what `columns_html` shows of it; what is known of its values is a sentence."""
    if not isinstance(entry, dict):
        return entry
    entry = _with_sentence(entry)
    if not _told(entry):
        return entry
    plus = entry.get("plus", {})
    values = _lacking(plus.get("values", {}), "per_column")
    rest = entry | {
        "representation": _lacking(entry.get("representation", {}), "dtypes"),
        "values": _lacking(entry.get("values", {}), "per_column"),
    }
    return rest | ({"plus": plus | {"values": values}} if plus else {})


def _with_sentence(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry with `value_info` of its values in words, as those of a column."""
    values = entry.get("values")
    info = _members(values, "value_info")
    if not info or not isinstance(values, dict):
        return entry
    return entry | {"values": values | {"value_info": values_words(info)}}


def columns_html(
    left: Any, right: Any, decisive: frozenset[str] = frozenset()
) -> str:
    """The table, first the decisive columns, marked, then those that differ; nothing if no entry tells of columns."""
    told = _told(left), _told(right)
    names = list(dict.fromkeys([*told[0], *told[1]]))
    if not names:
        return ""
    has_both = isinstance(left, dict) and isinstance(right, dict)
    # The sort is stable: among those that differ, and among the others, the frame's own order stays.
    ranks = {
        name: (
            name not in decisive,
            told[0].get(name) == told[1].get(name) or not has_both,
        )
        for name in names
    }
    names.sort(key=ranks.__getitem__)
    shown = names[: MAX_COLUMNS + MAX_FOLDED]
    n_open = MAX_COLUMNS
    if not decisive.isdisjoint(names):
        # Beside the columns that decide, those that tell nothing of the crash would drown them.
        n_rest = list(ranks.values()).count((True, True))
        n_open = min(len(names) - n_rest, MAX_COLUMNS)
    # The study's own captures have no dtypes; an empty column would take a third of a phone.
    has_dtypes = any(dtype for one in told for dtype, _ in one.values())
    parts = range(0 if has_dtypes else 1, 2)
    rows = [
        _row(
            name,
            told[0].get(name),
            told[1].get(name),
            parts=parts,
            is_compared=has_both,
            is_decisive=name in decisive,
        )
        for name in shown
    ]
    heads = (_head("R", "dtype"), _head("V", "values"))
    named = "".join(heads[part] for part in parts)
    head = f'<div class="cw-columns cw-dim"><div>column</div>{named}</div>'
    n_rest, n_left_out = len(names) - n_open, len(names) - len(shown)
    if n_rest <= 0:
        return head + "".join(rows)
    left_out = (
        f'<div class="cw-dim">… {n_left_out:,} columns are not shown</div>'
        if n_left_out
        else ""
    )
    summary = f'<summary class="cw-more cw-dim">{quantity(n_rest, "more column")}</summary>'
    rest = f"<details>{summary}{''.join(rows[n_open:])}{left_out}</details>"
    return head + "".join(rows[:n_open]) + rest


def _head(mark: str, words: str) -> str:
    return f'<div><div class="cw-group cw-{mark}" title="{MARK_WORDS[mark]}">{mark}</div> {words}</div>'


def _row(
    name: str,
    left: tuple[str, str] | None,
    right: tuple[str, str] | None,
    *,
    parts: range,
    is_compared: bool,
    is_decisive: bool,
) -> str:
    decides = (
        ' cw-decides" title="The outcome of the target depends on this column'
        if is_decisive
        else ""
    )
    differs = " cw-differs" if is_compared and left != right else ""
    texts = [
        _both(
            left[i] if left else None,
            right[i] if right else None,
            is_compared=is_compared,
        )
        for i in parts
    ]
    cells = "".join(f"<div>{text}</div>" for text in texts)
    return f'<div class="cw-columns{differs}{decides}"><div><code>{blanks_html(exact(name))}</code></div>{cells}</div>'


def _both(left: str | None, right: str | None, *, is_compared: bool) -> str:
    """One text where the versions agree; else both, with the signs of the diff."""
    if not left and not right:
        return ""
    if left == right or not is_compared:
        return blanks_html(rounded(left or right or ""))
    # Two values that round to one text would look alike: such are shown whole.
    shown = (
        (left, right)
        if rounded(left or "") == rounded(right or "")
        else (rounded(left or ""), rounded(right or ""))
    )
    return "".join(
        f'<div class="cw-version"><b>{sign}</b> {blanks_html(text or "–")}</div>'
        for sign, text in zip("−+", shown, strict=True)
    )


def _told(entry: Any) -> Told:
    if not isinstance(entry, dict):
        return {}
    dtypes = _members(_members(entry, "representation"), "dtypes")
    per_column = _members(_members(entry, "values"), "per_column")
    beyond = _members(_members(_members(entry, "plus"), "values"), "per_column")
    names = dict.fromkeys([*dtypes, *per_column, *beyond])
    return {
        name: (
            fact_text(decode(dtypes.get(name, ""))),
            values_words(_members(per_column, name) | _members(beyond, name)),
        )
        for name in names
    }


def _members(value: Any, name: str) -> dict[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return (
        found
        # A member that begins with `$` marks a tagged value of another type, not a mapping of names.
        if isinstance(found, dict)
        and not any(key.startswith("$") for key in found)
        else {}
    )


def _lacking(value: Any, name: str) -> Any:
    return (
        {key: held for key, held in value.items() if key != name}
        if _members(value, name)
        else value
    )


def values_words(column: Mapping[str, Any]) -> str:
    """`3 distinct: north, south, terrace; none missing`, and whatever else is known, in words."""
    rest = {key: decode(value) for key, value in column.items()}
    missing = missing_words(rest)
    for told in ("n_nan", "has_nan"):
        rest.pop(told, None)
    words = []
    span = rest.pop("value_range", None)
    if span is not None:
        pair = isinstance(span, list | tuple) and len(span) == 2
        words.append(
            f"range {exact(span[0])} to {exact(span[1])}"
            if pair
            else fact_text(span)
        )
    words += [_distinct_words(rest), missing]
    kind = rest.pop("type", None) or rest.pop("value_type", None)
    rest.pop("value_type", None)
    words.append("" if kind is None or span is not None else fact_text(kind))
    words += [column_words(key, value, exact) for key, value in rest.items()]
    return fact_text("; ".join(word for word in words if word), 320)


def _distinct_words(rest: dict[str, Any]) -> str:
    """How many values are distinct and the first of them; takes these facts out of `rest`."""
    n = rest.pop("num_unique", None)
    named = rest.pop("unique_values", None) or rest.pop("example_values", None)
    rest.pop("example_values", None)
    distinct = f"{fact_text(n)} distinct" if n is not None else ""
    if not isinstance(named, list | tuple):
        return distinct
    is_cut = len(named) > MAX_VALUES or (isinstance(n, int) and n > len(named))
    first = ", ".join(map(exact, named[:MAX_VALUES]))
    return (
        f"{distinct}{': ' if distinct else ''}{first}{', …' if is_cut else ''}"
    )

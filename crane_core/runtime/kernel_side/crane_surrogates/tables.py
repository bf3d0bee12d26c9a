"""Which operations may be tried on tables and columns of pandas that are known in part.

Unknown may be how many rows there are, which labels and names of labels they have, and what a column holds. An
operation may be tried where none of what is unknown can decide whether it raises, nor the schema of its result.
"""

from __future__ import annotations

from typing import Any, Collection, Iterable, Iterator, Mapping, Sequence

from .asked.places import words

KINDS = ("pandas.DataFrame", "pandas.Series")
ACCESSORS = ("str", "dt", "cat")
ATTRIBUTES = (
    "shape",
    "size",
    "ndim",
    "values",
    "columns",
    "T",
    "empty",
    "axes",
)
"""Those that no label hides."""
_OF_TIMES = ("asfreq", "resample")
"""What looks at the kind of the rows' labels, or of one column, alone."""
_INDICES = ("RangeIndex", "Index", "DatetimeIndex")
"""Kinds of rows' labels that these treat alike; periods take other frequencies."""
_OF_LABELS = words(
    "add_prefix add_suffix assign copy drop drop_duplicates dropna groupby head insert isna isnull items iterrows"
    " itertuples join keys merge melt notna notnull pop rename rename_axis reset_index select_dtypes set_axis set_index"
    " sort_index sort_values tail to_frame asfreq resample"
)
"""What looks at the labels and dtypes of columns alone: the columns may hold anything."""
_OF_COLUMNS = (_OF_LABELS - {"drop"}) | words(
    "abs all any bfill clip corr count cov cummax cummin cumprod cumsum describe diff drop_duplicates duplicated"
    " explode ffill fillna isin kurt kurtosis max mean median memory_usage min mode nlargest nsmallest nunique"
    " pct_change pivot_table prod product quantile rank round sem skew std sum to_dict to_numpy var"
)
"""What looks neither at how many rows there are nor at their labels."""
_BY_NAMES = words("groupby join merge pivot_table reset_index sort_values")
"""What looks for keys among the names of the rows' labels too."""
_FUNCTIONS = words("concat isna isnull melt merge notna notnull pivot_table")
"""Functions that look neither at how many rows there are nor at their labels."""
_OF_SEVERAL = ("merge", "concat", "join")
_MAY_COUNT_ROWS = ("groupby", "insert", "assign", "set_axis")
"""What may take a list as one value for each row."""
_LISTS = ("list", "tuple", "dict", "set")
_KEEPS_ROWS = words(
    "abs add_prefix add_suffix assign bfill clip copy cummax cummin cumprod cumsum diff duplicated ffill fillna head"
    " isin isna isnull notna notnull pop rank reindex rename reset_index round select_dtypes shift tail to_frame"
)
"""Methods that give rows of which the labels follow from the schema."""
_COUNTED = words("DataFrame Series concat isna isnull notna notnull date_range")
"""Functions that do."""
_ABOUT_LABELS = frozenset(
    ["KeyError", "IndexError", "IndexingError", "AttributeError", "MergeError"]
)


def parts(told: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """An operand and all that it holds, as form and content."""
    [(form, held)] = told.items()
    yield form, held
    # A "made" operand holds the order of the step that made it.
    for part in (
        [*held["operands"], *held["keywords"].values()]
        if form == "made"
        else ()
    ):
        yield from parts(part)
    for part in (
        held if form in ("list", "tuple", "set", "slice", "range") else ()
    ):
        yield from parts(part)
    for key, value in held if form == "dict" else ():
        yield from parts(key)
        yield from parts(value)


def is_known(told: Mapping[str, Any]) -> bool:
    """Whether an operand is a value, with no surrogate in it."""
    return all(form not in ("facts", "any") for form, _ in parts(told))


def is_whole(facts: Mapping[str, Any]) -> bool:
    """Whether the rows of a table or column are known: how many there are, and each label."""
    n_rows = _n_rows(facts)
    index = facts.get("index") or {}
    # Several levels of labels are never stated whole.
    if n_rows is None or len(index.get("names") or [None]) != 1:
        return False
    if index.get("type") == "RangeIndex":
        return "range" in index
    is_plain = index.get("type") == "Index" and index.get("dtype") in (
        "int64",
        "str",
    )
    return is_plain and len(index.get("first", ())) == n_rows


def _n_rows(facts: Mapping[str, Any]) -> Any:
    return (
        facts["length"]
        if facts["type"] == "pandas.Series"
        else facts["shape"][0]
    )


def are_known_enough(order: Mapping[str, Any]) -> bool:
    """Whether nothing that is unknown of the tables and columns among the operands can decide what happens."""
    tables = _tables(order)
    if not tables:
        return True
    name, first = order["name"], tables[0]
    is_accessor = order["step"] == "attribute" and name in ACCESSORS
    if is_accessor and first["type"] == "pandas.Series":
        return _is_accessor_certain(name, first["dtype"])
    # A key may be a column or a name of a row level: both must be known.
    if _is_method(order, _BY_NAMES) and not tells_names(order):
        return False
    # resample takes times alone, and asks the kind of index first.
    if name in _OF_TIMES and not _is_kind_of_index_told(first):
        return False
    # Columns of objects may hold what any method refuses that looks at more than labels.
    if any(map(_holds_anything, tables)) and not _is_of_labels(order):
        return False
    return all(map(is_whole, tables)) or _are_rows_ignored(order, tables)


def _is_kind_of_index_told(table: Mapping[str, Any]) -> bool:
    return (table.get("index") or {}).get("type") in _INDICES


def _is_of_labels(order: Mapping[str, Any]) -> bool:
    """Whether a step looks at labels and dtypes, and never at what columns hold."""
    if order["step"] in ("located", "set_item"):
        return True
    return _is_by_label(order) or _is_method(order, _OF_LABELS)


def _is_method(order: Mapping[str, Any], names: Collection[str]) -> bool:
    """Whether a step calls one of these methods of a table or column."""
    is_of_table = order["step"] == "method" and order["of"] in KINDS
    return is_of_table and order["name"] in names


def _is_accessor_certain(name: str, dtype: str) -> bool:
    """Whether the dtype says if a column has `.str`, `.dt` or `.cat`."""
    if dtype == "category":
        return name == "cat"
    # `.str` of objects may be refused for one of their values.
    return dtype != ""


def _is_by_label(order: Mapping[str, Any]) -> bool:
    """Whether a step looks at the labels of a table alone, or at none."""
    step = order["step"]
    if step in ("item", "del_item"):
        return is_known(order["operands"][1])
    return (
        step in ("truth", "element")
        or step == "attribute"
        and order["name"] not in ACCESSORS
    )


def _are_rows_ignored(
    order: Mapping[str, Any], tables: Sequence[Mapping[str, Any]]
) -> bool:
    """Whether a step looks neither at how many rows there are nor at their labels."""
    step, name = order["step"], order["name"]
    others = [*order["operands"][1:], *order["keywords"].values()]
    # An array beside a table must have as many elements as the table has rows.
    if _hold_surrogates(others):
        return False
    # Two tables match by label.
    if len(tables) > 1 and name not in _OF_SEVERAL:
        return step in ("item", "located") and not any(map(is_whole, tables))
    return _are_rows_ignored_of_one(order, tables[0], others)


def _are_rows_ignored_of_one(
    order: Mapping[str, Any],
    table: Mapping[str, Any],
    others: Sequence[Mapping[str, Any]],
) -> bool:
    step, name = order["step"], order["name"]
    if step == "located":
        return _is_located_in_any(order, table)
    if step == "operator":
        # A number fits every row, and anything but an array fits a known number of rows.
        is_plain = all("is" in told for told in others)
        return is_plain or _n_rows(table) is not None
    if step == "method":
        is_of_columns = _is_method(order, _OF_COLUMNS | {"drop"})
        return is_of_columns and _is_method_of_columns(
            name, others, order["keywords"]
        )
    if step == "call":
        return order["of"] == "pandas" and name in _FUNCTIONS
    return step == "truth" or _is_item_of_table(order, table)


def _is_item_of_table(
    order: Mapping[str, Any], table: Mapping[str, Any]
) -> bool:
    # Of a column an item is a row.
    return table["type"] == KINDS[0] and _is_by_label(order)


def _is_located_in_any(
    order: Mapping[str, Any], table: Mapping[str, Any]
) -> bool:
    """Whether loc, iloc and the like select the same of a table or column, whichever rows it has."""
    name = order["name"]
    # iloc[3] of a known number of rows is in it, or is not.
    if name in ("iloc", "iat") and _n_rows(table) is not None:
        return True
    is_of_rows = table["type"] == KINDS[0] and name in ("loc", "iloc")
    return is_of_rows and _takes_all_rows(order["operands"][1])


def _is_method_of_columns(
    name: str, others: Iterable[Mapping[str, Any]], keywords: Mapping[str, Any]
) -> bool:
    if name == "drop":
        # drop() without `columns` drops rows, which are unknown.
        return (
            "columns" in keywords
            and "index" not in keywords
            and "labels" not in keywords
        )
    # A list may be one value per row, or one for all.
    if name not in _MAY_COUNT_ROWS:
        return True
    return not any(form in _LISTS for told in others for form, _ in parts(told))


def _hold_surrogates(operands: Iterable[Mapping[str, Any]]) -> bool:
    """Whether operands beside tables and columns may be there for each row, as an array of values is."""
    return any(
        form == "facts" and held["type"] not in KINDS
        for told in operands
        for form, held in parts(told)
    )


def _takes_all_rows(key: Mapping[str, Any]) -> bool:
    """Whether a key of rows and columns takes every row."""
    rows = (key.get("tuple") or [{}])[0]
    return bool(rows.get("slice") == [{"is": None}] * 3)


def tells_names(order: Mapping[str, Any]) -> bool:
    """Whether the names of the rows' labels are known of all tables and columns among the operands."""
    return all("index" in each for each in _tables(order))


def tells_refusal(order: Mapping[str, Any], exception: str) -> bool:
    """Whether a refusal cannot be about what columns hold that may hold anything."""
    return (
        order["step"] in ("item", "located", "del_item")
        or order["name"] in _OF_TIMES
        or exception in _ABOUT_LABELS
        or not any(map(_holds_anything, _tables(order)))
    )


def untold(order: Mapping[str, Any]) -> set[str]:
    """Facts of an operation's result that may depend on more than the schema of its operands."""
    tables = _tables(order)
    facts: set[str] = set()
    # Which rows remain is unknown, so their labels are as well.
    if not _are_labels_told(order):
        facts.add("index")
    if not tells_names(order):
        facts.add("index_names")
    if _are_rows_matched(order) and not all(map(is_whole, tables)):
        facts.add("shape")
    # Elements of a table that lie together are shown, others are copied.
    if any(held["type"] == KINDS[0] for held in tables):
        facts.add("writeable")
    # melt takes the common dtype of all columns, and not all are known.
    if order["name"] == "melt":
        facts.add("dtypes")
    return facts


def _are_labels_told(order: Mapping[str, Any]) -> bool:
    """Whether the rows' labels of the result follow from those of the operands."""
    if order["step"] == "method":
        return _is_method(order, _KEEPS_ROWS)
    return order["step"] != "call" or order["name"] in _COUNTED


def _are_rows_matched(order: Mapping[str, Any]) -> bool:
    """Whether labels of rows, which may stand several times or in one table alone, decide how many rows there are."""
    # A text among times selects a span: "2020" is all rows of that year.
    if order["step"] == "item":
        return any(type(held) is str for _, held in parts(order["operands"][1]))
    if order["name"] == "concat":
        return "axis" in order["keywords"] or len(order["operands"]) > 1
    return order["name"] in ("merge", "join")


def changes_first(order: Mapping[str, Any]) -> bool:
    """Whether a step changes a table in place, of which the schema afterwards is an answer too."""
    if order["of"] != "pandas.DataFrame":
        return False
    # Only literally: a variable may be False.
    is_asked_for: bool = order["keywords"].get("inplace") == {"is": True}
    return (
        order["step"] in ("set_item", "del_item")
        or order["name"] in ("insert", "pop")
        or is_asked_for
    )


def _holds_anything(facts: Mapping[str, Any]) -> bool:
    dtypes = (
        facts["dtypes"]
        if facts["type"] == "pandas.DataFrame"
        else [facts["dtype"]]
    )
    return any(dtype in ("", "object", "category") for dtype in dtypes)


def _tables(order: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The facts of all tables and columns among the operands."""
    told = [*order["operands"], *order["keywords"].values()]
    every = [part for each in told for part in parts(each)]
    return [
        held
        for form, held in every
        if form == "facts" and held["type"] in KINDS
    ]

"""Columns of frames: selected, assigned, dropped, renamed; what of labels and dtypes the result has."""

import ast
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import (
    NOT_KNOWN,
    AbstractValue,
    integer,
    known_facts,
)
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import numpy_arrays
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    changed,
    column,
    index_labels,
    is_frame,
    is_pandas,
    is_series,
    label_set,
    labels_of,
    n_columns,
    n_rows,
    need_column,
    need_columns,
    replace_facts,
    series,
    some_rows,
    told_columns,
    whole_labels,
    with_columns,
    with_index_of,
    with_label_set,
    with_new_columns,
)
from crane_core.detectors.rules.families.pandas_values import bad_text
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import differ, only_length

RULES = Family("pandas: columns")
_LABEL: Final = (str, int, float, bool, type(None))
_NO_LABELS: Final = AbstractValue("list", items=())


@RULES.item(FRAME)
def select(operation: Operation) -> Answer:
    """frame[label], frame[[labels]], frame[mask], frame[a:b]."""
    old, asked = operation.receiver, operation.first
    if asked.type == "slice":
        return some_rows(old)
    # A key of dtype object may hold labels as well as booleans: only dtype bool is surely a mask.
    if is_series(asked) or numpy_arrays.is_array(asked):
        return (
            some_rows(old) if asked.fact("dtype") == "bool" else AbstractValue()
        )
    # A mask of cells puts NaN where it is False, so dtypes may change.
    if is_frame(asked):
        return AbstractValue(FRAME)
    if asked.type == "list" or index_labels(asked) is not None:
        return _several(operation, old, asked)
    value = asked.literal
    if not isinstance(value, (*_LABEL, tuple)):
        return UNCHANGED
    need_column(operation, old, value)
    return (
        # A tuple may be part of a label of several levels, which selects more than one column.
        column(old, value)
        if label_set(old) is not None and not isinstance(value, tuple)
        else UNCHANGED
    )


def _several(
    operation: Operation, old: AbstractValue, asked: AbstractValue
) -> AbstractValue:
    # df[[True, False, True]] selects rows: no label is looked up.
    if asked.items and all(item.type == "bool" for item in asked.items):
        return some_rows(old)
    need_columns(operation, old, asked)
    labels = whole_labels(asked)
    return (
        AbstractValue(FRAME)
        if labels is None or label_set(old) is None
        else with_columns(old, labels)
    )


# Attributes


@RULES.attribute(FRAME, "shape", "columns", "index", "values", "dtypes")
def attribute(operation: Operation) -> Answer:
    """shape, columns, index, values or dtypes, as far as labels and rows are known."""
    old = operation.receiver
    rows, width = n_rows(old), n_columns(old)
    words = f"{old.words}.{operation.name}" if old.words else ""
    match operation.name:
        case "shape":
            return AbstractValue(
                "tuple", items=[integer(rows), integer(width)], words=words
            )
        case "values":
            # One array for all columns: it has the dtype that all of them fit into.
            return numpy_arrays.array(
                (rows, width), _common_dtype(old), words=words
            )
        case "columns":
            labels = labels_of(old)
            return AbstractValue(
                "pandas.Index",
                known_facts(
                    length=width,
                    labels=None if labels is None else list(labels),
                ),
                words=words,
            )
        case "dtypes":
            return series(width)
    # The class of an index depends on its labels: RangeIndex, DatetimeIndex.
    return AbstractValue("", known_facts(length=rows), words=words)


def _common_dtype(old: AbstractValue) -> str | None:
    dtypes = old.mapping("dtypes")
    # Mixed columns become objects, and extension dtypes what pandas chooses.
    found = set(dtypes.values()) if len(dtypes) == n_columns(old) else set()
    return (
        found.pop()
        if len(found) == 1
        and numpy_arrays.kind_of(next(iter(found))) in tuple("iufb")
        else None
    )


@RULES.attribute(FRAME)
def as_attribute(operation: Operation) -> Answer:
    """frame.label, where the label is not a name of the class."""
    old = operation.receiver
    labels = label_set(old)
    if (
        labels is None
        or operation.name not in labels
        or operation.name in _NAMES
    ):
        return UNKNOWN
    return column(old, operation.name)


_NAMES_OF_CLASS: Final = """
T abs add add_prefix add_suffix agg aggregate align all any apply applymap asfreq asof assign astype at at_time attrs
axes between_time bfill bool boxplot clip columns combine combine_first compare convert_dtypes copy corr corrwith
count cov cummax cummin cumprod cumsum describe diff div divide dot drop drop_duplicates droplevel dropna dtypes
duplicated empty eq equals eval ewm expanding explode ffill fillna filter first first_valid_index flags floordiv
from_dict from_records ge get groupby gt head hist iat idxmax idxmin iloc index infer_objects info insert interpolate
isetitem isin isna isnull items iterrows itertuples join keys kurt kurtosis last last_valid_index le loc lt map mask
max mean median melt memory_usage merge min mod mode mul multiply ndim ne nlargest notna notnull nsmallest nunique pad
pct_change pipe pivot pivot_table plot pop pow prod product quantile query radd rank rdiv reindex reindex_like rename
rename_axis reorder_levels replace resample reset_index rfloordiv rmod rmul rolling round rpow rsub rtruediv sample
select_dtypes sem set_axis set_flags set_index shape shift size skew sort_index sort_values sparse squeeze stack std
style sub subtract sum swapaxes swaplevel tail take to_clipboard to_csv to_dict to_excel to_feather to_gbq to_hdf
to_html to_json to_latex to_markdown to_numpy to_orc to_parquet to_period to_pickle to_records to_sql to_stata
to_string to_timestamp to_xarray to_xml transform transpose truediv truncate tz_convert tz_localize unstack update
value_counts values var where xs append iteritems ix lookup mad slice_shift tshift as_matrix get_value set_value
"""
_NAMES: Final = frozenset(_NAMES_OF_CLASS.split())
"""Names of the class in any version: a column of such a label is not read as an attribute."""


# Stored columns


@RULES.set_item(FRAME)
def assign_column(operation: Operation) -> Answer:
    """The frame with columns set; raises Crash for a value of another length."""
    old = operation.receiver
    asked, value = operation.arguments.positional
    changed(operation, old)
    # Before pandas 3, frame[mask] = 1.5 made floats of integers; since then it is refused.
    if (
        is_series(asked)
        or numpy_arrays.is_array(asked)
        or is_frame(asked)
        or asked.type == "slice"
    ):
        made = with_index_of(old, some_rows(old, n_rows(old)))
        made.facts.pop("dtypes", None)
        replace_facts(old, made)
    elif isinstance(label := asked.literal, _LABEL):
        _fits(operation, old, value)
        _added(old, [label], {label: value})
    elif asked.type != "tuple" and (labels := whole_labels(asked)) is not None:
        _added(old, labels, {})
    else:
        old.forget()
    return UNCHANGED


def _fits(
    operation: Operation, old: AbstractValue, value: AbstractValue
) -> None:
    """A list or array has one value for each row."""
    rows = n_rows(old)
    # A series is aligned by its index instead, and a number or string fills every row.
    length = (
        only_length(numpy_arrays.taken_shape(value))
        if value.type in ("list", "tuple", "range")
        or numpy_arrays.is_array(value)
        else None
    )
    if rows and differ(
        length, rows
    ):  # an empty frame takes the length of the value
        operation.crash(
            "ValueError",
            f"Length of values ({length}) does not match length of index ({rows})",
            fact=f"{old.named('the frame')} has {rows} rows; {numpy_arrays.describe(value, 'the value')}",
            remedy="pass one value per row, or a Series, which is aligned by its index",
        )


def _added(
    old: AbstractValue, labels: list[Any], values: dict[Any, AbstractValue]
) -> None:
    """The frame with these columns set; their values are others now."""
    made = with_new_columns(old, labels)
    # An empty frame takes rows and index from its first column: empty["e"] = [1, 2, 3].
    if label_set(old) is not None and 0 in (n_rows(old), n_columns(old)):
        made.facts["shape"] = (None, n_columns(made))
        made.facts.pop("index", None)
    for label in labels:
        for name in ("dtypes", "per_column"):
            made.facts.get(name, {}).pop(label, None)
        value = values.get(label, AbstractValue())
        # Rows that only the frame has become NaN, which turns integers into floats.
        dtype = (
            value.fact("dtype")
            if is_series(value) and _is_same_index(old, value)
            else None
        )
        if label_set(old) is not None and isinstance(dtype, str):
            made.facts["dtypes"] = {
                **made.facts.get("dtypes", {}),
                label: dtype,
            }
    replace_facts(old, made)


def _is_same_index(old: AbstractValue, value: AbstractValue) -> bool:
    return bool(old.mapping("index")) and old.fact("index") == value.fact(
        "index"
    )


@RULES.set_attribute(FRAME)
def store_attribute(operation: Operation) -> Answer:
    """frame.columns = [...]: as many labels as there are columns."""
    old, value = operation.receiver, operation.first
    count = only_length(numpy_arrays.taken_shape(value))
    match getattr(operation.node, "attr", operation.name):
        case "columns":
            _has_as_many(
                operation, count, n_columns(old), "columns", told_columns(old)
            )
            changed(operation, old)
            _relabelled(old, value)
        case "index":
            rows = n_rows(old)
            # A frame without columns takes an index of any length.
            if n_columns(old) != 0:
                _has_as_many(
                    operation,
                    count,
                    rows,
                    "rows",
                    f"{old.named('the frame')} has {rows} rows",
                )
            changed(operation, old)
            made = (
                some_rows(old, rows)
                if label_set(old) is not None
                else AbstractValue(FRAME)
            )
            made.facts.pop("index_names", None)
            replace_facts(old, made)
        # frame.new = ... sets a column of this name, else it is a plain attribute of the object.
        case _:
            return UNKNOWN
    return UNCHANGED


def _has_as_many(
    operation: Operation,
    count: int | None,
    there: int | None,
    what: str,
    fact: str,
) -> None:
    if differ(there, count):
        operation.crash(
            "ValueError",
            f"{count} labels are given for {there} {what}",
            fact=fact,
            remedy="pass one label per row or column",
        )


def _relabelled(old: AbstractValue, value: AbstractValue) -> None:
    order, labels = labels_of(old), whole_labels(value)
    if order is not None and labels is not None:
        replace_facts(
            old,
            with_columns(
                old, labels, names=dict(zip(labels, order, strict=False))
            ),
        )
    else:
        old.forget()


@RULES.set_attribute("pandas.*")
def store_name_of_index(operation: Operation) -> Answer:
    """frame.index.name = ...: which frames share an index is unknown."""
    # Before pandas 3 frames shared their index object: naming it in one named it in the others.
    if getattr(operation.node, "attr", operation.name) in (
        "name",
        "names",
    ) and not is_frame(operation.receiver):
        forget_index_names(operation)
    return UNKNOWN


def forget_index_names(operation: Operation) -> None:
    """Index and names of all frames and series become unknown, as any may share the index."""
    for value in operation.variables():
        for fact in (
            ("index", "index_names")
            if is_frame(value) or is_series(value)
            else ()
        ):
            value.facts.pop(fact, None)


@RULES.method("pandas.*", "set_names", "rename", "rename_axis")
def rename_index_in_place(operation: Operation) -> Answer:
    """An index that is renamed in place may be the index of other frames."""
    # df.index.rename("k", inplace=True) names a shared index, too.
    if "inplace" in operation.arguments.keywords and not is_frame(
        operation.receiver
    ):
        forget_index_names(operation)
    return UNKNOWN


def without(old: AbstractValue, labels: list[Any]) -> AbstractValue:
    """The frame without these columns; labels that it lacks do not matter."""
    order, known = labels_of(old), label_set(old)
    if order is not None:
        return with_columns(
            old, [label for label in order if label not in labels]
        )
    return (
        with_label_set(old, known - set(labels))
        if known is not None
        else with_columns(old, None)
    )


# Methods that give a frame with other columns


def in_place(
    operation: Operation, given: dict[str, AbstractValue], made: AbstractValue
) -> AbstractValue:
    """The result of a method with `inplace`: None, with the object changed, or the new one."""
    inplace = given.get("inplace")
    old = operation.receiver
    if inplace is None or inplace.literal is False:
        return made
    changed(operation, old)
    if inplace.literal is True:
        replace_facts(old, made)
        return AbstractValue("NoneType", literal=None)
    # An unknown inplace=flag leaves both results open.
    old.forget()
    return AbstractValue()


@RULES.method(FRAME, "drop")
def drop(operation: Operation) -> Answer:
    """The frame without columns or rows; raises Crash for a column that it certainly lacks."""
    given = operation.arguments.bound(
        "labels=None, axis=0, index=None, columns=None, level=None, inplace=False, errors='raise'"
    )
    old = operation.receiver
    # drop(columns=["a"], level=1) removes every column with this part of a label.
    if given is None or "level" in given:
        return UNKNOWN
    axis = numpy_arrays.literal_of(given.get("axis"), 0)
    is_columns = axis in (1, "columns")
    wanted = given.get(
        "columns", given.get("labels", _NO_LABELS) if is_columns else _NO_LABELS
    )
    # Notebooks pass errors="ignore" for columns that an earlier run may have dropped.
    if numpy_arrays.literal_of(given.get("errors"), "raise") == "raise":
        need_columns(operation, old, wanted)
    gone = whole_labels(wanted)
    made = with_columns(old, None) if gone is None else without(old, gone)
    if axis is NOT_KNOWN:
        made = AbstractValue(FRAME)
    elif "index" in given or ("labels" in given and not is_columns):
        made = some_rows(made)
    return in_place(operation, given, made)


@RULES.method(FRAME, "query")
def queried(operation: Operation) -> Answer:
    """Some of the rows, where the text compares a column; what other texts give may be labels."""
    old, text = (
        operation.receiver,
        operation.first.literal if operation.arguments.positional else None,
    )
    try:
        condition = (
            ast.parse(text.strip(), mode="eval").body
            if isinstance(text, str)
            else None
        )
    # `@limit` and names in backticks are of pandas alone.
    except SyntaxError:
        return UNKNOWN
    match condition:
        # df.query("a") selects by labels; only a comparison is surely a mask.
        # resolvers and local_dict change what the names mean, inplace changes the result.
        case ast.Compare(ast.Name(label)) if (
            label in (label_set(old) or ()) and not operation.arguments.keywords
        ):
            return some_rows(old)
    return UNKNOWN


@RULES.method(FRAME, "corr")
def correlated(operation: Operation) -> Answer:
    """Since pandas 2.0 texts are not left out by themselves."""
    old, given = operation.receiver, operation.arguments
    is_strict = (
        is_pandas(operation, 2, 0)
        and "numeric_only" not in given.keywords
        and not given.positional
    )
    if is_strict and (label := text_column(old)) is not None:
        operation.crash(
            "ValueError",
            f"could not convert string to float: the column {label!r} holds strings",
            fact=f"{old.named('the frame')}[{label!r}] holds strings",
            remedy="pass numeric_only=True, or select the numeric columns",
        )
    return AbstractValue(FRAME)


def text_column(old: AbstractValue) -> Any:
    """A column that certainly holds a string that is not a number; None if there may be none."""
    if not n_rows(old):
        return None
    for label in labels_of(old) or sorted(label_set(old) or (), key=str):
        if bad_text(column(old, label)) is not None:
            return label
    return None

"""Which steps change nothing although no rule knows them, and what changes with an array that others may share.

Knows libraries by their names, and asks NumPy alone which argument is `out`.
Refuses to say what the result of a step is.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from inspect import signature
from typing import Any

import numpy as np

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.operation import Arguments

IMMUTABLE_WORDS = (
    "int float bool str NoneType complex bytes range slice tuple frozenset type function module ellipsis "
    # An EagerTensor cannot be written in place. A ResourceVariable can, and is an array below.
    "builtin_function_or_method numpy.ufunc NotImplementedType method tensorflow.python.framework.ops.EagerTensor"
)
IMMUTABLE = frozenset(IMMUTABLE_WORDS.split())
# Never the shape: a write through a view changes elements of the array, not its lengths.
VALUE_FACTS_WORDS = (
    "has_nan n_nan n_inf has_inf value_range value_info value_type unique_values num_unique "
    "num_unique_at_least example_values items first last asked_items per_column duplicates "
    "examples_by_type min max values texts_look_like first_no_number n_other_texts other_texts column_types ragged"
)
VALUE_FACTS = frozenset(VALUE_FACTS_WORDS.split())
_ARRAYS = {
    "numpy": ("ndarray", "matrix", "memmap", "recarray", "MaskedArray"),
    "pandas": ("DataFrame", "Series", "Index"),
    "torch": ("Tensor", "Parameter"),
    "tensorflow": ("ResourceVariable",),
}
# These change an argument although their package is quiet: `random.shuffle(numbers)`,
# `operator.setitem(d, 'q', 1)`. `next` and `map` run a generator of the notebook.
_CHANGING_FUNCTIONS_WORDS = (
    "numpy.copyto numpy.put numpy.place numpy.putmask numpy.fill_diagonal numpy.put_along_axis "
    "numpy.random.shuffle numpy.nan_to_num random.shuffle heapq.heappush heapq.heappop heapq.heapify "
    "heapq.heapreplace bisect.insort bisect.insort_left bisect.insort_right shutil.rmtree "
    "builtins.setattr builtins.delattr builtins.exec builtins.eval builtins.next builtins.map "
    "builtins.filter gc.collect copy.replace operator.setitem operator.delitem operator.iadd operator.ior "
    "operator.iconcat operator.methodcaller torch.nn.utils.clip_grad_norm_ "
    "torch.nn.utils.clip_grad_value_"
)
_CHANGING_FUNCTIONS = frozenset(_CHANGING_FUNCTIONS_WORDS.split())
# `torch.nn.init` fills weights in place, and `pickle` runs `__setstate__` of own classes.
_CHANGING_PACKAGES = ("torch.nn.init", "torch.optim", "ctypes", "pickle")
_QUIET_PACKAGES_WORDS = (
    "builtins numpy pandas sklearn scipy matplotlib seaborn statsmodels plotly math statistics time "
    "datetime os sys re json warnings logging random string itertools functools collections copy glob "
    "pathlib shutil IPython tqdm torch torchvision keras tensorflow lightgbm xgboost PIL cv2 skimage "
    "missingno wordcloud nltk platform gc operator textwrap pprint typing calendar decimal fractions "
    "hashlib uuid zipfile tarfile gzip csv io"
)
_QUIET_PACKAGES = frozenset(_QUIET_PACKAGES_WORDS.split())
# `fixed.setflags(write=True)` lets a read-only array be written, `resize` changes its shape.
_CHANGING_METHODS = {
    "pandas": frozenset(
        ["pop", "insert", "update", "set_flags", "__setitem__", "eval"]
    ),
    "numpy": frozenset(
        [
            "fill",
            "sort",
            "put",
            "resize",
            "partition",
            "itemset",
            "setfield",
            "setflags",
            "byteswap",
        ]
    ),
}
# Fewer than the 100 parts of a fact into which the heap looks.
_MOST_LINKED = 90
READING = frozenset(
    [
        "copy",
        "count",
        "format",
        "get",
        "index",
        "items",
        "join",
        "keys",
        "values",
        "__call__",
    ]
)
"""Methods of containers that change none."""
_CALLS_BACK = (
    "apply",
    "pipe",
    "map",
    "applymap",
    "transform",
    "agg",
    "aggregate",
    "filter",
    "groupby",
    "rename",
)


def can_be_held(value: AbstractValue) -> bool:
    """Whether who gets a part of something that holds this value may change it."""
    is_fixed = (
        value.type in IMMUTABLE
        and not value._items
        and "part_of" not in value._facts
    )
    return not (value.path or is_fixed or may_share_memory(value))


def link(value: AbstractValue, parts: Iterable[AbstractValue]) -> None:
    """Somewhere in a value that is not known, or as the value itself, there may be these."""
    held = [
        *(value.fact("part_of") or ()),
        *(part for part in parts if part is not value and can_be_held(part)),
    ]
    if held:
        value.facts["part_of"] = list(dict.fromkeys(held))[:_MOST_LINKED]


def may_hold_any(value: AbstractValue) -> bool:
    """Whether it is a container of which not all parts are known."""
    is_open = (
        value._items is None
        and value._members is None
        and not value.is_literal
        and not value.path
    )
    return is_open and is_container(value)


def is_container(value: AbstractValue) -> bool:
    """Whether it is one of Python's own containers."""
    # A tuple stays as it is, and a list in it may change.
    is_plain = value.type in IMMUTABLE and value.type != "tuple"
    return not is_plain and value.package in (
        "builtins",
        "collections",
        "itertools",
    )


def may_share_memory(value: AbstractValue) -> bool:
    """True for arrays and frames, whose values another name may show too."""
    return _is_array(value.type)


@lru_cache(maxsize=4096)
def _is_array(type: str) -> bool:
    package, _, _ = type.partition(".")
    return type.rpartition(".")[2] in _ARRAYS.get(package, ())


def array_facts(
    values: Iterable[AbstractValue],
) -> list[tuple[AbstractValue, dict[str, Any]]]:
    """Arrays with their facts before a step, to see whether it changed them."""
    return [
        (value, dict(value.facts))
        for value in values
        if may_share_memory(value)
    ]


def function_changes_nothing(path: str, arguments: Arguments) -> bool:
    """Whether a call of a library's function certainly leaves its arguments as they are."""
    head = path.partition(".")[0]
    if (
        head not in _QUIET_PACKAGES
        or path in _CHANGING_FUNCTIONS
        or path.startswith(_CHANGING_PACKAGES)
    ):
        return False
    # PyTorch ends the names of functions that change their argument with an underscore.
    # `list.append(numbers, 3)` is a method, which no list of functions here covers.
    if path.endswith("_") or not arguments.is_complete or _is_of_class(path):
        return False
    # `np.nan_to_num(a, copy=False)` and `out=a` write into what they are given.
    if {
        "out",
        "inplace",
        "copy",
        "overwrite_a",
        "overwrite_input",
    } & arguments.keywords.keys():
        return False
    # `np.add.at(a, [1], 5)` adds in place.
    if path.endswith(".at") or _gives_out(path, len(arguments.positional)):
        return False
    return not any(may_run_notebook_code(value) for value in arguments.values)


def _gives_out(path: str, n_positional: int) -> bool:
    """Whether so many positional arguments of a function of NumPy reach `out`: `np.maximum(a, 0, a)`."""
    place = _place_of_out(path) if path.startswith("numpy.") else None
    return place is not None and n_positional > place


@cache
def _place_of_out(path: str) -> int | None:
    """How many arguments come before `out`, by NumPy itself; None where it has none, or NumPy does not say."""
    found: object = np
    for name in path.split(".")[1:]:
        found = getattr(found, name, None)
    if isinstance(found, np.ufunc):
        return found.nin
    try:
        names = list(signature(found).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return names.index("out") if "out" in names else None


def _is_of_class(path: str) -> bool:
    """Whether a path is a method read from its class: `list.append(numbers, 3)`."""
    holder = path.split(".")[:-1]
    return len(holder) > 1 and (
        holder[0] == "builtins" or holder[-1][:1].isupper()
    )


def method_changes_nothing(
    receiver: AbstractValue, name: str, arguments: Arguments
) -> bool:
    """Whether a method of a frame, series or array certainly leaves receiver and arguments as they are."""
    changing = _CHANGING_METHODS.get(receiver.package)
    if changing is None or not arguments.is_complete:
        return False
    if (
        name in changing
        # `df.__setitem__('q', 1)` and `frame._set_axis(...)` are methods that change their object.
        or "_" in (name[:1], name[-1:])
        or {"out", "inplace"} & arguments.keywords.keys()
    ):
        return False
    # The unknown argument may be a function of the notebook: `frame.apply(fill)` appends to a list.
    if name in _CALLS_BACK and any(
        not value.type and not value.path for value in arguments.values
    ):
        return False
    return not any(map(may_run_notebook_code, arguments.values))


def may_run_notebook_code(value: AbstractValue) -> bool:
    """True for functions and objects of the notebook, which a library may call back."""
    if value.path:
        return value.path.startswith("__main__")
    return value.package == "__main__" or value.type in (
        "function",
        "method",
        "generator",
        "functools.partial",
    )

"""Abstract values of what a kernel state tells: entries of a capture (schema 2) and of a published one (schema 1).

Knows the forms of entries and what in them is complete. Refuses to take anything for whole that a limit may have cut.
"""

import ast
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.detectors.rules.paths import public_path
from crane_core.domain import VariableState
from crane_core.prompts import tagged_json

_GROUPS = ("structure", "representation", "values")
_SHAPES = (
    "shape",
    "nested_shape",
    "data_shape",
    "target_shape",
    "image_shape",
    "target_size",
    "batch_shape",
)
# Of these a state writes the value itself.
_SCALAR_TYPES = ("int", "float", "bool", "str", "NoneType", "complex")
_WRAPPED = re.compile(r"^<(?:class|enum) '(?P<name>[^']+)'>$")
_CUT_TEXT = re.compile(r"\u2026 \(\d+ characters\)$")
_TEXT = re.compile(r"[^\W\d][\w ]*")
_CUT = "\u2026"
_PLAIN_KEYS = {"str", "int", "bool", "NoneType"}
_SEQUENCES = ("list", "tuple")
_DICTS = (
    "dict",
    "collections.OrderedDict",
    "collections.defaultdict",
    "collections.Counter",
)
_FRAMES = ("DataFrame", "GeoDataFrame")


def value_from_state(
    name: str, variable: VariableState, *, is_captured: bool
) -> AbstractValue:
    """The AbstractValue of a variable by this name."""
    groups = [
        part
        for group in _GROUPS
        for part in (getattr(variable, group), variable.plus.get(group, {}))
        if isinstance(part, Mapping)
    ]
    facts = _decoded(merged(groups))
    if variable.docs:
        facts["docs"] = variable.docs
    return value_from_facts(
        type_of(variable.type), facts, words=name, is_captured=is_captured
    )


def value_from_entry(
    name: str, entry: Mapping[str, Any], *, is_captured: bool
) -> AbstractValue:
    """The AbstractValue of an entry of `accesses`."""
    return value_from_state(
        name, VariableState.from_json(dict(entry)), is_captured=is_captured
    )


def type_of(written: str) -> str:
    """`pandas.core.frame.DataFrame` from `<class 'pandas.core.frame.DataFrame'>`; "" where it is not a plain type."""
    found = _WRAPPED.match(written)
    name = found["name"] if found else written
    return (
        name.removeprefix("builtins.")
        # A class inside a function is written `f.<locals>.Point`, by which no rule finds it.
        if re.fullmatch(r"[\w.<>]+", name) and "<" not in name
        else ""
    )


def merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """All together; dicts under the same key are put together, of other values the later one stays."""
    whole: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            held = whole.get(key)
            whole[key] = (
                merged([held, value])
                if isinstance(held, dict) and isinstance(value, dict)
                else value
            )
    return whole


def _decoded(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _plain(tagged_json.decode(value)) for key, value in facts.items()
    }


def _plain(value: Any) -> Any:
    """Printed forms as the Python values that they show: torch.Size([2, 3]) is (2, 3)."""
    match value:
        case tagged_json.PrintedCall(
            name="torch.Size" | "Size", arguments=(list() as sizes,)
        ):
            return tuple(sizes)
        case tagged_json.PrintedSet():
            return {_hashed(item) for item in value.items}
        case tagged_json.PrintedDefaultDict():
            return _plain(value.entries)
        case tagged_json.PrintedCall() | tagged_json.Opaque():
            return repr(value)
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple():
            return type(value)(map(_plain, value))
    return value


def _hashed(item: Any) -> Any:
    plain = _plain(item)
    return repr(plain) if isinstance(plain, (list, dict, set)) else plain


def value_from_facts(
    type: str, facts: dict[str, Any], *, words: str, is_captured: bool
) -> AbstractValue:
    """The AbstractValue of a type with merged facts; what is inside becomes items, members and attributes."""
    for name in _SHAPES:
        if isinstance(shape := facts.get(name), (list, tuple)):
            facts[name] = tuple(map(_known_length, shape))
    if is_captured:
        _add_left_out(type, facts)
    value = AbstractValue(type, facts, words=words)
    _fill_value(value, is_captured=is_captured)
    _fill_parts(value, is_captured=is_captured)
    held = value.facts.pop("attributes", None)
    value.attributes = _inside(held, words, is_captured=is_captured)
    # Its settings are what it was made with; texts may be types.
    if type.startswith("torchvision.transforms.") and isinstance(held, dict):
        value.facts |= {
            name: fact
            for name, fact in held.items()
            if isinstance(fact, (int, float, list))
        }
    if (
        isinstance(module := value.facts.get("module"), str)
        and type == "module"
    ):
        value.path = public_path(module)
    return value


def _known_length(length: Any) -> int | None:
    # Keras writes None for the batch, whose length its models do not fix.
    return length if isinstance(length, int) else None


def _add_left_out(type: str, facts: dict[str, Any]) -> None:
    """What a capture says by saying nothing: it tells only what is out of the ordinary."""
    if type == "torch.Tensor":
        facts.setdefault("is_contiguous", "strides" not in facts)
    told = facts.get("value_info") or {}
    # Of arrays of other values no number of them is told.
    if type == "numpy.ndarray" and "num_unique" in told:
        # A capture calls an array of strings "categorical or object".
        are_texts = told.get("value_type") == "categorical or object"
        facts |= {"item_types": {"str": None}} if are_texts else {}


def _fill_parts(value: AbstractValue, *, is_captured: bool) -> None:
    """What is inside of a container or frame."""
    if value.type in _SEQUENCES:
        _fill_items(value, is_captured=is_captured)
    elif value.type in _DICTS:
        _fill_members(value, is_captured=is_captured)
    elif value.type in ("set", "frozenset"):
        _fill_set(value)
    elif value.is_a("pandas", *_FRAMES):
        _fill_columns(value, is_captured=is_captured)


def _fill_value(value: AbstractValue, *, is_captured: bool) -> None:
    """The literal of a number, string, boolean or None. The published extractor writes them as text."""
    if value.type == "NoneType":
        value.literal = None
        return
    if value.type not in _SCALAR_TYPES or "value" not in value.facts:
        return
    written = value.facts["value"]
    value.literal = (
        _captured_value(value, written)
        if is_captured
        else _published_value(value.type, written)
    )


def _captured_value(value: AbstractValue, written: Any) -> Any:
    # Large integers, NaN and infinities are written in other forms than their own.
    if type(written).__name__ != value.type:
        return NOT_KNOWN
    length = value.facts.get("length")
    if isinstance(written, str) and (
        # A text that was cut would be compared, formatted or used as a key as if it were whole.
        _CUT_TEXT.search(written) or length not in (None, len(written))
    ):
        return NOT_KNOWN
    return written


def _published_value(type: str, written: Any) -> Any:
    if type == "str":
        return written if isinstance(written, str) else NOT_KNOWN
    readers: dict[str, Any] = {
        "int": int,
        "float": float,
        # Not `bool`, as `bool('False')` is True.
        "bool": {"True": True, "False": False}.__getitem__,
    }
    try:
        return readers[type](str(written))
    except (KeyError, ValueError):
        return NOT_KNOWN


def _fill_items(value: AbstractValue, *, is_captured: bool) -> None:
    """The items of a list or tuple that is stated whole."""
    items, length = value.facts.pop("items", None), value.facts.get("length")
    types = value.facts.get("item_types", {})
    if length == 0:
        value.items = []
    elif (
        isinstance(items, list)
        and len(items) == length
        and isinstance(types, dict)
    ):
        value.items = _flat(items, types, value.words)
    # Elements that are objects are told by place: those that the target needs, and the first ones.
    elif isinstance(items, dict) and all(map(str.isdigit, items)):
        told = {at: items[at] for at in sorted(items, key=int)}
        found = _inside(
            told, value.words, is_captured=is_captured, is_item=True
        )
        parts = [found[at] for at in _from_first(found)]
        if len(parts) == length:
            value.items = parts
        elif parts:
            value.facts["first_items"] = parts


def _from_first(found: Mapping[str, AbstractValue]) -> list[str]:
    """The places that follow one another from the first on."""
    places = (str(at) for at in itertools.count())
    return list(itertools.takewhile(found.__contains__, places))


def _flat(
    items: list[Any], types: Mapping[str, int], words: str
) -> list[AbstractValue] | None:
    """Plain values; None if one of them may have been written otherwise than it is."""
    # Complex numbers are written as text, so a list that holds one is not known.
    if not set(types) <= set(_SCALAR_TYPES) - {"complex"} or sum(
        types.values()
    ) != len(items):
        return None
    counted: dict[str, int] = {}
    for item in items:
        counted[type(item).__name__] = counted.get(type(item).__name__, 0) + 1
    if counted != dict(types) or any(
        isinstance(item, str) and _CUT_TEXT.search(item) for item in items
    ):
        return None
    return [
        AbstractValue(type(item).__name__, literal=item, words=f"{words}[{at}]")
        for at, item in enumerate(items)
    ]


def _fill_members(value: AbstractValue, *, is_captured: bool) -> None:
    """The members of a dict whose keys are stated whole; what a member is may be unknown."""
    entries, shapes = (
        value.facts.pop("items", None),
        value.facts.get("other_shapes") or {},
    )
    keys = _keys(value, is_captured=is_captured)
    if keys is None:
        return
    inside = _inside(
        entries, value.words, is_captured=is_captured, is_item=True
    )
    # What is inside is told by the key as the capture wrote it.
    labels = value.facts["keys"] if is_captured and keys else keys
    texts = [
        label if isinstance(label, str) else json.dumps(label)
        for label in labels
    ]
    value.members = {
        key: inside.get(text) or _of_shape(shapes.get(text))
        for key, text in zip(keys, texts, strict=True)
    }


def _of_shape(shape: Any) -> AbstractValue:
    """A member of which no more is stated than its shape, if that."""
    return AbstractValue(
        "", {"shape": tuple(shape)} if isinstance(shape, list) else {}
    )


def _keys(value: AbstractValue, *, is_captured: bool) -> list[Any] | None:
    """All keys, where they are plain and each is stated as it is; of published states, only those of an empty dict."""
    length = value.facts.get("length")
    if length == 0:
        return []
    return _captured_keys(value, length) if is_captured else None


def _captured_keys(value: AbstractValue, length: Any) -> list[Any] | None:
    keys, types = value.facts.get("keys"), value.facts.get("key_types", {})
    if (
        not isinstance(keys, list)
        or len(keys) != length
        or not set(types) <= _PLAIN_KEYS
    ):
        return None
    texts = [key if isinstance(key, str) else json.dumps(key) for key in keys]
    # `{(1, 2): 1, '(1, 2)': 2}` has two keys that are written alike.
    if any(map(_is_cut, keys)) or len(set(texts)) != len(keys):
        return None
    return keys


def _is_cut(key: Any) -> bool:
    """Whether a limit has cut a text, or may have."""
    return isinstance(key, str) and (
        _CUT_TEXT.search(key) is not None or key.startswith(_CUT)
    )


def _fill_set(value: AbstractValue) -> None:
    items, types = (
        value.facts.pop("items", None),
        value.facts.get("item_types", {}),
    )
    if value.facts.get("length") == 0:
        value.literal = set()
    elif (
        isinstance(items, list)
        and len(items) == value.facts.get("length")
        and isinstance(types, dict)
    ):
        flat = _flat(items, types, value.words)
        value.literal = (
            NOT_KNOWN if flat is None else {item.literal for item in flat}
        )


def _fill_columns(value: AbstractValue, *, is_captured: bool) -> None:
    """ "columns": all labels in order; "column_labels": all of them in no order, which published states tell too."""
    shape, listed = value.facts.get("shape"), value.facts.pop("columns", None)
    width = shape[1] if isinstance(shape, tuple) and len(shape) == 2 else None
    if not is_captured:
        _fill_published_columns(value, width)
    else:
        _fill_captured_columns(value, width, listed)


def _fill_captured_columns(
    value: AbstractValue, width: int | None, listed: Any
) -> None:
    read = _label_reader(value.facts.get("column_index"))
    if read is None:
        for name in ("dtypes", "per_column"):
            value.facts.pop(name, None)
        tuples = _tuples(listed) if isinstance(listed, list) else None
        if tuples is not None and len(tuples) == width:
            value.facts["column_tuples"] = tuples
        return
    _read_labels(value, read)
    labels = frozenset(value.mapping("dtypes"))
    if width == len(labels) and all(map(_is_text_label, labels)):
        value.facts["column_labels"] = labels
    if (
        isinstance(listed, list)
        and len(listed) == width
        and not _is_double(listed)
    ):
        value.facts["columns"] = tuple(read(label) for label in listed)
        value.facts["column_labels"] = frozenset(value.facts["columns"])
        _add_untold_dtypes(value)


def _tuples(listed: list[Any]) -> tuple[tuple[Any, ...], ...] | None:
    """Labels of several levels, which a state writes as Python does; None where one is not of texts and integers."""
    read: list[tuple[Any, ...]] = []
    for label in listed:
        try:
            found = ast.literal_eval(label)
        # ast reads no times, missing values or labels that a limit has cut.
        except (ValueError, SyntaxError):
            return None
        is_plain = isinstance(found, tuple) and all(
            type(part) in (str, int) for part in found
        )
        if not is_plain or len(found) < 2:
            return None
        read.append(found)
    return tuple(read) if len({*map(len, read)}) == 1 else None


def _add_untold_dtypes(value: AbstractValue) -> None:
    """The dtype of columns beyond a state's limit, where its counts leave one: of all, or of those that miss values."""
    told = value.mapping("dtypes")
    left = Counter(value.mapping("dtypes_summary"))
    left.subtract(Counter(told.values()))
    untold = [label for label in value.facts["columns"] if label not in told]
    # Labels that occur twice are one entry of `dtypes` and several of the counts.
    if not untold or left.total() != len(untold) or min(left.values()) < 0:
        return
    possible = [dtype for dtype, count in left.items() if count]
    floats = [dtype for dtype in possible if dtype.startswith("float")]
    # Integers and booleans of NumPy cannot be missing, and a state tells all columns that hold anything else.
    missing = value.mapping("n_nan") if len(floats) == 1 else {}
    found = dict.fromkeys(missing.keys() & {*untold}, "".join(floats))
    if len(possible) == 1:
        found = dict.fromkeys(untold, possible[0])
    value.facts["dtypes"] = {**told, **found}


def _is_text_label(label: Any) -> bool:
    return isinstance(label, str) and _is_text(label)


def _read_labels(value: AbstractValue, read: Callable[[str], Any]) -> None:
    """Facts by column get the labels themselves in the place of their texts."""
    for name in ("dtypes", "per_column"):
        if isinstance(known := value.facts.get(name), dict):
            value.facts[name] = {
                read(label): fact
                for label, fact in known.items()
                # An ellipsis stands for the columns that a limit cut.
                if label != _CUT
            }


def _is_text(label: str) -> bool:
    """Whether a label of which no type is known was a text: no other type is written like this."""
    # The label None and the text "None" are written alike.
    return bool(_TEXT.fullmatch(label)) and label not in (
        "None",
        "True",
        "False",
        "nan",
        "NaT",
    )


def _is_double(listed: list[str]) -> bool:
    """A label that occurs twice is written with its position."""
    return any(label.endswith(f" [{at}]") for at, label in enumerate(listed))


def _label_reader(known: Any) -> Callable[[str], Any] | None:
    """How labels were written: texts as they are, or integers; None if they may be anything else."""
    if not isinstance(known, dict):
        return str
    types = known.get("label_types")
    # Labels of mixed types ('a' and 1) are written alike, so which is which is not known.
    if types == ["int"] and set(known) <= {"label_types", "name"}:
        return _number
    return (
        str
        if set(known) <= {"name"}
        or types == ["str"]
        and set(known) <= {"label_types", "name"}
        else None
    )


def _number(text: str) -> Any:
    return int(text) if text.lstrip("-").isdigit() else text


def _fill_published_columns(value: AbstractValue, width: int | None) -> None:
    per_column = value.facts.get("per_column")
    if not isinstance(per_column, dict):
        per_column = {}
    # Fewer columns than the table has: a limit has cut the others.
    if (
        width
        and len(per_column) == width
        and all(isinstance(label, str) for label in per_column)
    ):
        value.facts["column_labels"] = frozenset(per_column)
    # Published states list the different dtypes of a table, not those of its columns.
    if isinstance(value.facts.get("dtypes"), list):
        value.facts["distinct_dtypes"] = value.facts.pop("dtypes")


def _inside(
    parts: Any, words: str, *, is_captured: bool, is_item: bool = False
) -> dict[str, AbstractValue]:
    """Values of what is inside, by label."""
    if not is_captured or not isinstance(parts, dict):
        return {}
    found: dict[str, AbstractValue] = {}
    for label, facts in parts.items():
        if not isinstance(facts, dict) or not isinstance(
            facts.get("type"), str
        ):
            continue
        rest = {key: value for key, value in facts.items() if key != "type"}
        at = label if label.isdigit() else repr(label)
        place = f"{words}[{at}]" if is_item else f"{words}.{label}"
        found[label] = value_from_facts(
            type_of(facts["type"]), rest, words=place, is_captured=True
        )
    return found

"""Which operations of libraries are tried, and which of their operands may stand in for others: data alone.

An operation that is not listed is never run. Each is listed with the places of the operands whose values cannot decide
whether it raises, nor the schema of its result: only these may be surrogates. At any other place (lengths, axes,
counts, limits) an operand is sent only if its value is known. Never listed: what draws from values whether it raises
(probabilities), what reads or writes files, what takes code. The lists stand in asked/, a file per library.
"""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

from . import asked, tables
from .asked import (
    of_keras,
    of_matplotlib,
    of_numpy,
    of_pandas,
    of_python,
    of_sklearn,
    of_torch,
)
from .asked.places import ALL, NONE, words

CALLS: Mapping[str, Mapping[str, Sequence[int]]] = asked.by_package("CALLS")
METHODS: Mapping[str, Mapping[str, Sequence[int]]] = asked.merged("METHODS")
DISTRIBUTIONS: Mapping[str, Sequence[str]] = asked.by_package("DISTRIBUTIONS")
UNLESS_MENTIONED: Mapping[str, Sequence[str]] = {
    **asked.by_package("UNLESS_MENTIONED"),
    # What a notebook may have changed: mocks, and settings that make warnings or floating-point
    # faults errors.
    "": (
        "monkeypatch",
        "mock",
        "patch_",
        "cudf",
        "seterr",
        "'raise'",
        '"raise"',
        "'error'",
        '"error"',
    ),
}
"""By package, "" for all: what a notebook may not spell where it is asked, as it may change what operations do."""
BOUND = asked.PACKAGES - {"python"}
"""Packages whose functions, classes and methods are asked which arguments they take, and are not called."""
LAZY = asked.where("IS_LAZY")
RESULTS = asked.where("IS_MADE_AGAIN")
TRIED = asked.where("IS_TRIED")
LATE = asked.where("IS_LATE")
OF_ANY_VERSION = asked.where("IS_OF_ANY_VERSION")
_HIDING_RESULTS = asked.where("HIDES_RESULTS")
_BY_VALUES: Mapping[str, frozenset[str]] = asked.merged("BY_VALUES")
_PARSING = frozenset(asked.chained("PARSING"))
_NOT_MADE_AGAIN = asked.chained("NOT_MADE_AGAIN")
_GROWING = asked.chained("GROWING")
_NOT_OF_OPERANDS = asked.chained("NOT_OF_OPERANDS")
_OF_VERSION: Mapping[str, re.Pattern[str]] = asked.by_package("OF_VERSION")
_KEYWORDS: Mapping[str, frozenset[str]] = asked.by_package("KEYWORDS")
_ANY_KEYWORDS = words(
    "a arr array ary b bias input m other pos_weight target weight weights x"
)
"""Keywords that may be surrogates, where the first operand may and the library's file tells no others."""
_OF_ARRAYS = words(
    "T mT H mH real imag data shape dtype ndim size itemsize nbytes values columns empty axes array"
)
_READ = _OF_ARRAYS.union(tables.ACCESSORS)
"""Attributes that follow from the schema; what others give is not stated."""
STEPS = words(
    "attribute del_item element format item located operator set_item truth"
)
NEVER = words("test load save dump dumps fromfile tofile loads index rindex")
"""Never, whatever the list says: names of what runs tests, reads and writes files, or looks for a text in values."""
_NEVER_KEYWORDS = words("copy device generator pin_memory out like subok")
"""What these ask for depends on the machine, or on how an operand lies in memory."""
_ABOUT_SHAPES = re.compile(
    r"shape|\b[Ss]izes?\b|[Dd]imension|\dD\b|elements|channels|batch_size|matri|scalar outputs|more than one value"
    r"|out of bounds|out of range|'numpy\.ndarray' object has no attribute"
)
_ABOUT_INDEX = re.compile(
    r"\b[Ii]ndex .*out of (?:bounds|range)|^Target \d+ is out"
)
_OF_MATRICES = words(
    "cholesky inv inverse solve matrix_power lstsq tensorinv tensorsolve logdet cond lu_factor"
)
_OF_SCHEMA = re.compile(
    r"square|[Dd]imension|shape|[Ss]ize|dtype|type|argument|broadcast|at least"
)
_COMPARED = ("==", "!=", "<=", ">=")


def is_asked(order: Mapping[str, Any]) -> bool:
    """Whether an operation may be tried with these operands, each in the form in which it is sent."""
    step, of, name = order["step"], order["of"], order["name"]
    operands, keywords = order["operands"], order["keywords"]
    # Results of these depend on the machine or on memory, not on the schema.
    if keywords.keys() & _NEVER_KEYWORDS:
        return False
    if "made" in (*operands, {})[0]:
        return _is_asked_of_result(step, operands)
    if not tables.are_known_enough(order):
        return False
    given = (*operands, *keywords.values())
    if any(_depends_on_more(step, of, name, told) for told in given):
        return False
    # Changing a leaf that requires gradients in place raises; whether it does may be unknown.
    if _changes_tensor(step, of, name) and not _is_without_gradient(operands):
        return False
    if step in ("call", "method"):
        return _is_listed(step, of, name, operands, keywords)
    return _is_plain_step(step, name, operands)


def _is_asked_of_result(
    step: str, operands: Sequence[Mapping[str, Any]]
) -> bool:
    """Whether a step may be tried on the result of another, which must be allowed as well."""
    is_plain = step in ("attribute", "method")
    is_by_known_key = step == "item" and all(map(tables.is_known, operands[1:]))
    return (is_plain or is_by_known_key) and is_asked(operands[0]["made"])


def _depends_on_more(
    step: str, of: str, name: str, told: Mapping[str, Any]
) -> bool:
    """Whether some part of an operand decides by more than its schema, or takes too long."""
    for form, held in tables.parts(told):
        # "cuda:0" works on the notebook's machine and not here, or the other way round.
        if form == "is" and type(held) is str and is_elsewhere(held):
            return True
        if form == "facts" and _is_beyond_schema(step, of, name, held):
            return True
    return False


def _is_beyond_schema(
    step: str, of: str, name: str, facts: Mapping[str, Any]
) -> bool:
    """Whether more than the schema of an operand decides what happens, or trying it takes too long."""
    refuses_objects = of == "torch" and name in of_torch.OF_DATA
    if _is_opaque(step, name, facts) and not refuses_objects:
        return True
    # int("1") and int("a"): of texts only the values tell.
    if name.rpartition(".")[2] in _PARSING and _is_text(facts):
        return True
    # Drawing takes time per point, and shows nothing here. A picture is one object.
    is_drawn_one_by_one = of.startswith("matplotlib") and not name.endswith(
        "imshow"
    )
    return is_drawn_one_by_one and _size(facts) > of_matplotlib.MOST_DRAWN


def is_followed(kind: type, told: Mapping[str, Any]) -> bool:
    """Whether the result of another step is known well enough to be used: all of it, or what hides no labels."""
    package = kind.__module__.partition(".")[0]
    return (
        package in RESULTS
        and tables.is_known(told)
        or package == "pandas"
        and kind.__name__ in of_pandas.GROUPED
    )


def of_results(kind: type) -> frozenset[str]:
    """Methods that may be tried on the result of another step."""
    package, name = kind.__module__.partition(".")[0], kind.__name__
    if package == "pandas" and name in of_pandas.GROUPED:
        return of_pandas.OF_GROUPED
    return frozenset(METHODS.get(f"{package}.{name}", ()))


def is_made_again(order: Mapping[str, Any]) -> bool:
    """Whether the result of a step may be made again for a step on it: the same, not drawn, nor left as memory was."""
    # What is drawn, or left as memory was, is another result each time.
    drawn = order["name"].startswith(_NOT_MADE_AGAIN)
    return (
        "made" in (*order["operands"], {})[0]
        or order["of"].partition(".")[0] in RESULTS
        and not drawn
    )


def is_measured(order: Mapping[str, Any]) -> bool:
    """Whether the integers in a step's result are lengths and counts of dimensions, or follow from known operands."""
    step, of, name = order["step"], order["of"], order["name"]
    if step == "call":
        is_data = (
            of == "torch"
            and name in of_torch.OF_DATA
            and all(map(tables.is_known, order["operands"]))
        )
        # len() is a length in any case; other integers may be values.
        return of == "builtins" and name == "len" or is_data
    if of in ("torch.Tensor", "torch.Parameter"):
        return step in ("attribute", "method") and name in of_torch.LENGTHS
    return step == "attribute" and name in ("shape", "ndim", "size")


def is_member(kind: str, name: str) -> bool:
    """Whether a table or column has an accessor or method of this name for certain."""
    return name in tables.ACCESSORS or name in METHODS[kind]


def tells_type(of: str, name: str) -> bool:
    """Whether the type of an operation's result is certain, where no more of it is."""
    return (
        name in of_pandas.BY_VALUES.get(of, frozenset()) - of_pandas.OF_ANY_TYPE
    )


def _is_plain_step(
    step: str, name: str, operands: Sequence[Mapping[str, Any]]
) -> bool:
    """Whether an operator, an attribute or another step without arguments of its own may be tried."""
    if step not in STEPS:
        return False
    if step == "operator":
        return True
    if not operands or "facts" not in operands[0]:
        return False
    kind = operands[0]["facts"].get("type", "")
    if step == "attribute":
        return _is_attribute_there(kind, name)
    if step in ("item", "set_item", "del_item", "located"):
        return _is_key_enough(step, kind, operands)
    return True


def _is_attribute_there(kind: str, name: str) -> bool:
    # Attributes of objects that grow by use (figures, estimators) need not be there.
    if kind.startswith(_GROWING):
        return False
    # Any other attribute of a table may be one of its labels.
    return (
        kind not in tables.KINDS
        or name in tables.ATTRIBUTES
        or is_member(kind, name)
    )


def _is_key_enough(
    step: str, kind: str, operands: Sequence[Mapping[str, Any]]
) -> bool:
    """Whether what is known of a key decides what it selects."""
    # .str[0] of a list, a dict or a text is three different things.
    if len(operands) < 2 or kind.endswith(".StringMethods"):
        return False
    key = operands[1]
    if step == "located":
        return _is_located_by_masks(key)
    if kind not in tables.KINDS:
        return _tells_place(step, key)
    is_mask = key.get("facts", {}).get("dtype") == "bool"
    # What is stored under a mask must be one value: others are counted.
    is_plain_mask = is_mask and (step != "set_item" or "is" in operands[2])
    return tables.is_known(key) or is_plain_mask


def _is_located_by_masks(key: Mapping[str, Any]) -> bool:
    """Whether no surrogate in a key of loc or iloc can be refused."""
    # A mask selects by values, but never raises for them.
    surrogates = [held for form, held in tables.parts(key) if form == "facts"]
    return all(held.get("dtype") == "bool" for held in surrogates)


def is_elsewhere(text: str) -> bool:
    """Whether a text names a device that may be there, or not."""
    return of_torch.ELSEWHERE.search(text) is not None


def _is_listed(
    step: str,
    of: str,
    name: str,
    operands: Sequence[Mapping[str, Any]],
    keywords: Mapping[str, Mapping[str, Any]],
) -> bool:
    """Whether it is on the list, with surrogates at no other places than those that it tells."""
    places = _places(step, of, name)
    is_method = step == "method"
    if places is None or is_method and not operands:
        return False
    # At other places than those listed, a value decides: an axis, a size, a count.
    for at, told in enumerate(operands[is_method:]):
        if at not in places and not tables.is_known(told):
            return False
    # A keyword may be a surrogate where the first operand may.
    may_name = 0 in places or is_method and len(places) > 0
    named = _KEYWORDS.get(of.partition(".")[0], _ANY_KEYWORDS)
    listed = named if may_name else frozenset()
    return all(
        key in listed or tables.is_known(keywords[key]) for key in keywords
    )


def _places(step: str, of: str, name: str) -> Sequence[int] | None:
    """The places of surrogates; None of what is not listed."""
    if step == "method":
        return METHODS.get(of, {}).get(name)
    if of == "builtins":
        return ALL if name in of_python.BUILTINS else None
    listed = CALLS.get(of, {})
    module, dot, last = name.rpartition(".")
    # A whole module is listed by ".*", without its private functions.
    if name not in listed and (
        not dot
        or last.startswith("_")
        or last in NEVER
        or f"{module}.*" not in listed
    ):
        return None
    return listed.get(name, NONE)


def _changes_tensor(step: str, of: str, name: str) -> bool:
    return of.startswith("torch.") and (
        is_stored(step, name) or step == "method" and _is_change(name)
    )


def is_stored(step: str, name: str) -> bool:
    """Whether a step stores items: an assignment, or an operator that changes its first operand."""
    return (
        step == "set_item"
        or step == "operator"
        and name.endswith("=")
        and name not in _COMPARED
    )


def _is_change(name: str) -> bool:
    """Whether torch names a method so that it changes its tensor."""
    return name.endswith("_") and not name.endswith("__")


def _is_without_gradient(operands: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a tensor may be changed in place for certain; else it depends on who recorded gradients, and when."""
    tensor = operands[0].get("facts", {}) if operands else {}
    return tensor.get("requires_grad") is False


def _is_opaque(step: str, name: str, facts: Mapping[str, Any]) -> bool:
    """Whether elements of an array decide what happens: objects, bytes that are read as text, records."""
    dtype = str(facts.get("dtype", ""))
    # pandas' tables say themselves which steps look at objects.
    if facts["type"] in tables.KINDS:
        return False  # tables.py says which steps look at what they hold
    if dtype == "object":
        return (
            facts["type"] != "numpy.ndarray" or name not in of_numpy.OF_OBJECTS
        )
    is_record = dtype.startswith(("[", "|V", "V"))
    return (
        dtype.startswith(("|S", "S"))
        or is_record
        and step not in ("item", "attribute")
    )


def _size(facts: Mapping[str, Any]) -> int:
    n_elements = 1
    for length in facts.get("shape", (facts.get("length", 1),)):
        # An unknown length counts as one: the limit is for what is certainly large.
        n_elements *= length if type(length) is int else 1
    return n_elements


def _is_text(facts: Mapping[str, Any]) -> bool:
    dtypes = [str(facts.get("dtype", "")), *facts.get("dtypes", ())]
    of_objects = "object of texts" in dtypes
    return of_objects or any(
        dtype.startswith("str") or dtype.lstrip("<>|=")[:1] in ("U", "S")
        for dtype in dtypes
    )


def _tells_place(step: str, index: Mapping[str, Any]) -> bool:
    """Whether values of an index cannot decide of which shape the part is that it selects: arrays but no bounds.

    Nor whether there is such a part, which is checked before it is changed.
    """
    parts = list(tables.parts(index))
    if any(
        form == "slice" and not tables.is_known({form: held})
        for form, held in parts
    ):
        return False
    arrays = [held for form, held in parts if form == "facts"]
    masks = [
        held
        for held in arrays
        if "bool" in f"{held['type']} {held.get('dtype')}"
    ]
    if masks:
        # A mask alone selects some elements, a mask beside an index also decides whether shapes
        # fit.
        return "facts" in index
    return step == "item" or not arrays


def tells_refusal(
    order: Mapping[str, Any], exception: str, message: str
) -> bool:
    """Whether what an operation raised is about the schema of its operands, where it may be about values."""
    if not tables.tells_refusal(order, exception) or any(
        said in message for said in _NOT_OF_OPERANDS
    ):
        return False
    by_values = order["name"].rpartition(".")[2] in _OF_MATRICES
    # inv(), solve() refuse singular matrices: that is a matter of values.
    return (
        not by_values
        or exception == "TypeError"
        or _OF_SCHEMA.search(message) is not None
    )


def takes_indices(step: str, name: str) -> bool:
    """Whether every integer of a tensor counts, so that the least and the largest one decide what is refused."""
    return step == "item" or name.rpartition(".")[2] in of_torch.INDEXING


def is_about_shapes(
    order: Mapping[str, Any],
    exception: str,
    message: str,
    *,
    is_of_any_version: bool,
) -> bool:
    """Whether this is about shapes, or what is not a tensor, as on every device, and in every version if asked.

    Elsewhere than on the processor indices are not checked before they are used. Of Keras only layers count.
    """
    step, of = order["step"], order["of"]
    # Of learning, drawing and layers only those refusals count that every release is taken to make.
    if step == "learns":
        return bool(of_sklearn.ALWAYS_REFUSED.search(message))
    if of.startswith("matplotlib"):
        return bool(of_matplotlib.ALWAYS_REFUSED.search(message))
    if of.startswith(("keras", "sklearn")):
        return step == "method" and bool(
            of_keras.ALWAYS_REFUSED.search(message)
        )
    # On a GPU an index out of bounds is found only when it is used.
    if _ABOUT_INDEX.search(message) and _hold_elements(order):
        return False
    if is_of_any_version and _is_of_some_version(order, exception, message):
        return False
    of_schema = (
        of_torch.NO_TENSOR if exception == "TypeError" else _ABOUT_SHAPES
    )
    return bool(of_schema.search(message))


def _hold_elements(order: Mapping[str, Any]) -> bool:
    """Whether an operand behind the first has elements that may be indices."""
    for told in (*order["operands"][1:], *order["keywords"].values()):
        if any(form in ("facts", "list") for form, _ in tables.parts(told)):
            return True
    return False


def _is_of_some_version(
    order: Mapping[str, Any], exception: str, message: str
) -> bool:
    """Whether torch or NumPy refuses this since some version, or with another class since then."""
    # Pooling raises IndexError in some releases and RuntimeError in others.
    is_pooling = (
        exception == "IndexError"
        and "pool" in f"{order['of']} {order['name']}".lower()
    )
    is_changed = (
        order["name"] in of_numpy.OF_VERSION_NAMES
        or "where" in order["keywords"]
    )
    return (
        is_pooling
        or is_changed
        or any(refused.search(message) for refused in _OF_VERSION.values())
    )


def tells_strides(step: str, name: str) -> bool:
    """Whether how a tensor lies in memory is the same on every device, and in every version of torch."""
    return step == "item" or name in of_torch.VIEWS


def tells_result(step: str, of: str, name: str) -> bool:
    """Whether an operation's result is certain too, not only what it refuses."""
    # Whether a store, or `if x`, raises is an answer; neither has a result.
    if (
        step in ("set_item", "truth")
        or step == "attribute"
        and name not in _READ
    ):
        return False
    if of.partition(".")[0] in _HIDING_RESULTS:
        return False
    if (
        name in _BY_VALUES.get(of, ())
        or name.startswith(of_numpy.CHANGING)
        or of.startswith("torch")
        and _is_change(name)
    ):
        return False
    return not name.endswith("=") or name in _COMPARED

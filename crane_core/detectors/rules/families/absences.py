"""What the state itself says the target needs for certain and will not find: attributes, columns, keys, modules...

Knows the facts of the groups `absent` of a captured state. Refuses those that the state does not call certain.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("absences")
_OF_PANDAS = ("read_csv", "read_table", "read_excel", "read_pickle", "read_fwf", "read_stata")
_OF_NUMPY = ("load", "loadtxt", "genfromtxt", "fromfile")
_RAISE_WITHOUT_FILE = frozenset(
    [
        *(f"pandas.{name}" for name in _OF_PANDAS),
        *(f"numpy.{name}" for name in _OF_NUMPY),
        *("builtins.open", "os.listdir", "os.scandir", "torch.load", "joblib.load", "scipy.io.loadmat"),
        *("PIL.Image.open", "matplotlib.pyplot.imread", "matplotlib.image.imread", "skimage.io.imread"),
        *("keras.utils.load_img", "keras.preprocessing.image.load_img", "torchvision.datasets.ImageFolder"),
    ]
)
"""Functions that raise FileNotFoundError; others give None, or try something else first."""


@RULES.missing("attributes")
def no_attribute(operation: Operation) -> Answer:
    absent = operation.absent
    if isinstance(operation.node, ast.ImportFrom):
        operation.crash(
            "ImportError",
            f"{absent.get('of')} has no {absent.get('attribute')} to import",
            fact=f"the installed module has other names{_similar(absent)}",
            remedy=_instead(absent, "Import a name that the installed version has."),
        )
    name, kind, of = absent.get("attribute"), absent.get("type", "object"), absent.get("of", "")
    if name in ("__call__", "__getitem__"):
        cannot = "is not callable" if name == "__call__" else "has no items"
        operation.crash(
            "TypeError", f"{of} {cannot}", fact=f"{of} is of type {kind}", remedy="Use another object here."
        )
    operation.crash(
        "AttributeError",
        f"{of} has no attribute {name}",
        fact=f"{of} is of type {absent.get('module', kind)}{_similar(absent)}",
        remedy=_FIT_FIRST
        if _is_learnt(name, kind)
        else _instead(absent, f"Remove {name}, or use an attribute that {kind} has."),
    )


_FIT_FIRST = "Call fit first: attributes that end in an underscore exist only after fitting; or correct the name."


def _is_learnt(name: object, kind: str) -> bool:
    return kind.startswith("sklearn.") and isinstance(name, str) and name.endswith("_") and not name.startswith("_")


@RULES.missing("columns")
def no_column(operation: Operation) -> Answer:
    """A name in a formula may be a variable that the target itself makes."""
    absent = operation.absent
    if "fitted" in str(absent.get("why", "")):
        _features(operation)
        return UNKNOWN
    if "~" in operation.text:
        return UNKNOWN
    operation.crash(
        "UndefinedVariableError" if _is_in_query(operation.node, absent.get("column")) else "KeyError",
        f"{absent.get('of', 'the frame')} has no column {absent.get('column')!r}",
        fact=f"{absent.get('of', 'the frame')} has {absent.get('n_columns', 'other')} columns{_similar(absent)}",
        remedy=_instead(absent, "Use an existing column."),
    )


def _is_in_query(node: ast.AST, column: object) -> bool:
    """Whether the name stands in the text of a query, and nowhere else: a text without its own quotes."""
    parts = list(ast.walk(node))
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    name = re.compile(rf"\b{re.escape(str(column))}\b")
    return column not in texts and any(map(name.search, map(_query_of, parts)))


def _query_of(node: ast.AST) -> str:
    match node:
        case ast.Call(ast.Attribute(attr="query" | "eval"), [ast.Constant(str(text)), *_]):
            return text
    return ""


def _features(operation: Operation) -> None:
    """A fitted model refuses a frame with other columns; scikit-learn before 1.2 only warned."""
    if is_at_least(operation, "sklearn", 1, 2):
        absent = operation.absent
        operation.crash(
            "ValueError",
            f"{absent.get('asked_by', 'the model')} was fitted with other columns: {absent.get('column')!r}",
            fact=str(absent.get("why")),
            remedy="Pass the columns that it was fitted with.",
        )


@RULES.missing("keys")
def no_key(operation: Operation) -> Answer:
    absent = operation.absent
    of = absent.get("of", "the object")
    if "index" in absent:
        exception = "IndexError" if isinstance(absent["index"], int) else "TypeError"
        operation.crash(
            exception,
            f"{of} has no item {absent['index']!r}",
            fact=f"{of} is a {absent.get('type')} of length {absent.get('length')}",
            remedy="Use an index below its length.",
        )
    key = absent.get("key", absent.get("label"))
    is_label = absent.get("in") == "index"
    operation.crash(
        "KeyError",
        f"the index of {of} has no label {key!r}" if is_label else f"{of} has no key {key!r}",
        fact=f"the index of {of} has other labels{_similar(absent)}"
        if is_label
        else f"{of} is a {absent.get('type', 'dict')} without it{_similar(absent)}",
        remedy=_instead(absent, "Select rows by position: .iloc[...]." if is_label else "Use an existing key."),
    )


@RULES.missing("modules")
def no_module(operation: Operation) -> Answer:
    module = operation.absent.get("module")
    operation.crash(
        "ModuleNotFoundError",
        f"No module named {module}",
        fact=f"{module} is not installed in the kernel's environment",
        remedy=f"Install the package that provides {module}, or import another module.",
    )


@RULES.missing("arguments")
def no_argument(operation: Operation) -> Answer:
    absent = operation.absent
    of = absent.get("of") or absent.get("function") or "the call"
    said = "; ".join(f"{key} {value}" for key, value in absent.items() if key not in ("line", "certain", "via", "of"))
    operation.crash(
        "TypeError",
        f"the arguments do not match the signature of {of}",
        fact=said,
        remedy="Pass the arguments that its signature names.",
    )


@RULES.missing("files")
def no_file(operation: Operation) -> Answer:
    """A file that is not there, where the function that reads it is known to raise for that."""
    path = operation.absent.get("file")
    if operation.absent.get("function") not in _RAISE_WITHOUT_FILE:
        return UNKNOWN
    operation.crash(
        "FileNotFoundError",
        f"No such file or directory: {path!r}",
        fact=f"{path!r} does not exist in the kernel's folder{_similar(operation.absent)}",
        remedy=_instead(operation.absent, "Correct the path, or add the file."),
    )


def _similar(absent: Mapping[str, Any]) -> str:
    similar = absent.get("similar") or ()
    return f"; there is {', '.join(repr(one) for one in similar[:3])}" if similar else ""


def _instead(absent: Mapping[str, Any], otherwise: str) -> str:
    similar = absent.get("similar") or ()
    return f"Write {similar[0]!r} instead." if similar else otherwise

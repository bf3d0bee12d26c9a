"""What the state itself says the target needs for certain and will not find: attributes, columns, keys, modules...

Knows the facts of the groups `absent` of a captured state. Refuses those that the state does not call certain.
"""

import ast
import re
from typing import NoReturn

from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("absences")
# read_parquet is left out: without an engine it raises ImportError first.
_OF_PANDAS = (
    "read_csv",
    "read_table",
    "read_excel",
    "read_pickle",
    "read_fwf",
    "read_stata",
)
_OF_NUMPY = ("load", "loadtxt", "genfromtxt", "fromfile")
# cv2.imread is left out on purpose: without the file it returns None, and the crash comes later.
_RAISE_WITHOUT_FILE = frozenset(
    [
        *(f"pandas.{name}" for name in _OF_PANDAS),
        *(f"numpy.{name}" for name in _OF_NUMPY),
        *(
            "builtins.open",
            "pathlib.Path.open",
            "pathlib.Path.read_text",
            "pathlib.Path.read_bytes",
            "pathlib.Path.iterdir",
            "os.listdir",
            "os.scandir",
            "torch.load",
            "joblib.load",
            "scipy.io.loadmat",
        ),
        *(
            "PIL.Image.open",
            "matplotlib.pyplot.imread",
            "matplotlib.image.imread",
            "skimage.io.imread",
        ),
        *(
            "keras.utils.load_img",
            "keras.preprocessing.image.load_img",
            "torchvision.datasets.ImageFolder",
        ),
    ]
)
"""Functions that raise FileNotFoundError; others give None, or try something else first."""
_FIT_FIRST = "Call fit first: attributes that end in an underscore exist only after fitting; or correct the name."


def _absent(
    operation: Operation, exception: str, why: str, fact: str, otherwise: str
) -> NoReturn:
    """The crash; what there is instead, where the state tells it."""
    similar = operation.absent.get("similar") or ()
    there = (
        f"; there is {', '.join(repr(one) for one in similar[:3])}"
        if similar
        else ""
    )
    remedy = (
        f"Write {similar[0]!r} instead."
        # A model that is not fitted lacks coef_ however alike another name is.
        if similar and otherwise != _FIT_FIRST
        else otherwise
    )
    operation.crash(exception, why, fact=fact + there, remedy=remedy)


@RULES.missing("attributes")
def no_attribute(operation: Operation) -> Answer:
    """Raises Crash for a name that a module or object lacks; its class depends on the access."""
    absent = operation.absent
    name, kind, of = (
        absent.get("attribute"),
        absent.get("type", "object"),
        absent.get("of", ""),
    )
    # Python raises ImportError for `from module import name`, but AttributeError for `module.name`.
    if isinstance(operation.node, ast.ImportFrom):
        instead = "Import a name that the installed version has."
        _absent(
            operation,
            "ImportError",
            f"cannot import name {name!r} from {of!r}",
            f"{of} has other names",
            instead,
        )
    # A state names calls and items by the method behind them; Python raises TypeError for both.
    if name in ("__call__", "__getitem__"):
        cannot = "is not callable" if name == "__call__" else "has no items"
        fact = f"{of} is of type {kind}"
        operation.crash(
            "TypeError",
            f"{of} {cannot}",
            fact=fact,
            remedy="Use another object here.",
        )
    # In scikit-learn, what fit learns ends in an underscore; private names begin with one.
    is_learnt = (
        kind.startswith("sklearn.")
        and isinstance(name, str)
        and name.endswith("_")
        and name[:1] != "_"
    )
    instead = (
        _FIT_FIRST
        if is_learnt
        else f"Remove {name}, or use an attribute that {kind} has."
    )
    fact = f"{of} is of type {absent.get('module', kind)}"
    _absent(
        operation,
        "AttributeError",
        f"{of} has no attribute {name}",
        fact,
        instead,
    )


@RULES.missing("columns")
def no_column(operation: Operation) -> Answer:
    """A name in a formula may be a variable that the target itself makes; what a model was fitted with is checked."""
    absent, column = operation.absent, operation.absent.get("column")
    of = absent.get("of", "the frame")
    # statsmodels_models.py judges formulas: it knows patsy's functions and looks for variables.
    if (
        "fitted" in str(absent.get("why", ""))
        or "~" in operation.text
        or absent.get("in") == "formula"
    ):
        return UNKNOWN
    # pandas evaluates the text of query and eval itself, and has its own class for unknown names.
    is_in_query = absent.get("in") == "query" or _is_in_query(
        operation.node, column
    )
    exception = "UndefinedVariableError" if is_in_query else "KeyError"
    fact = f"{of} has {absent.get('n_columns', 'other')} columns"
    _absent(
        operation,
        exception,
        f"{of} has no column {column!r}",
        fact,
        "Use an existing column.",
    )


def _is_in_query(node: ast.AST, column: object) -> bool:
    """Whether the name is in the text of a query, and nowhere else: a text without its own quotes."""
    parts = list(ast.walk(node))
    texts = [
        part.value
        for part in parts
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    name = re.compile(rf"\b{re.escape(str(column))}\b")
    return column not in texts and any(map(name.search, map(_query_of, parts)))


def _query_of(node: ast.AST) -> str:
    match node:
        case ast.Call(
            ast.Attribute(attr="query" | "eval"), [ast.Constant(str(text)), *_]
        ):
            return text
    return ""


@RULES.missing("keys")
def no_key(operation: Operation) -> Answer:
    """Raises Crash for a key, an index or a row label that the container certainly lacks."""
    absent = operation.absent
    of, kind = absent.get("of", "the object"), absent.get("type", "dict")
    if "index" in absent:
        size = "shape" if "shape" in absent else "length"
        # Arrays raise IndexError for any bad index; lists raise TypeError for all but integers.
        exception = (
            "IndexError"
            if size == "shape" or isinstance(absent["index"], int)
            else "TypeError"
        )
        # NumPy raises ValueError, "no field of name r", for a structured array.
        exception = (
            "ValueError" if absent.get("why") == "no such field" else exception
        )
        why, fact = (
            f"{of} has no item {absent['index']!r}",
            f"{of} is a {kind} of {size} {absent.get(size)}",
        )
        operation.crash(
            exception, why, fact=fact, remedy="Use an index below its length."
        )
    key = absent.get("key", absent.get("label"))
    if absent.get("in") == "index":
        why, fact = (
            f"the index of {of} has no label {key!r}",
            f"the index of {of} has other labels",
        )
        _absent(
            operation,
            "KeyError",
            why,
            fact,
            "Select rows by position: .iloc[...].",
        )
    _absent(
        operation,
        "KeyError",
        f"{of} has no key {key!r}",
        f"{of} is a {kind} without it",
        "Use an existing key.",
    )


@RULES.missing("modules")
def no_module(operation: Operation) -> Answer:
    """Raises Crash for an import of what the kernel's environment does not contain."""
    module = operation.absent.get("module")
    fact = f"{module} is not installed in the kernel's environment"
    remedy = (
        f"Install the package that provides {module}, or import another module."
    )
    operation.crash(
        "ModuleNotFoundError",
        f"No module named {module}",
        fact=fact,
        remedy=remedy,
    )


@RULES.missing("arguments")
def no_argument(operation: Operation) -> Answer:
    """Raises Crash for a call whose arguments do not fit the signature in the state."""
    absent = operation.absent
    of = absent.get("of") or absent.get("function") or "the call"
    fact = "; ".join(
        f"{key} {value}"
        for key, value in absent.items()
        if key not in ("line", "certain", "via", "of")
    )
    why, remedy = (
        f"the arguments do not match the signature of {of}",
        "Pass the arguments that its signature names.",
    )
    operation.crash("TypeError", why, fact=fact, remedy=remedy)


@RULES.missing("files")
def no_file(operation: Operation) -> Answer:
    """A file that is not there, where the function that reads it is known to raise for that."""
    path = operation.absent.get("file")
    if operation.absent.get("function") not in _RAISE_WITHOUT_FILE:
        return UNKNOWN
    fact = f"{path!r} does not exist in the kernel's folder"
    why = f"No such file or directory: {path!r}"
    _absent(
        operation,
        "FileNotFoundError",
        why,
        fact,
        "Correct the path, or add the file.",
    )

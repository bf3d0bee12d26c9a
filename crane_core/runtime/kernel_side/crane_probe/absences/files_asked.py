"""Files that the target opens by a literal path and that are not there.

Knows functions of libraries that read the file they are given, by name and library. Refuses to open anything: whether a
file exists is all that counts. Of any other function of such a name (`open` of a zip archive, `load` of spaCy, those
of the notebook) it is not known what its first argument means.
"""

from __future__ import annotations

import builtins
import os
import re
import types
from typing import Any, Iterable, Iterator, Mapping

from ..anatomy import Names, instance_dict, is_kind, module_dict, module_of
from ..bounds import Facts
from ..chains.following import chain_text, followed, similar
from ..kinds import Kinds
from ..syntax.asked import CALL, Chain, Unknown
from ..syntax.literals import is_path_object, path_class

# Rather too many words than too few: a file that is made makes a false alarm.
_MAKES_FILES = re.compile(
    r"save|\bto_|writ|dump|extract|unpack|archive|cop(?:y|ie)|move|rename|replace|download|fetch|clone|retrieve|\bmk|"
    r"makedir|link|touch|tofile|system|popen|spawn|exec|eval|export|Handler|connect|get_file|load_data|thread|process|"
    r"pool|submit|chdir|\bmap\b|mount|basicConfig|open\([^)]*['\"][rbt+]*[wax]",
    re.IGNORECASE,
)
"""Words of code that may make a file, or give one another name."""
# Any other package may write files at its import or in any call.
_QUIET_WORDS = (
    "builtins IPython PIL cv2 collections copy csv datetime functools gc glob io itertools json keras lightgbm logging "
    "math matplotlib nltk numpy ntpath operator os pandas pathlib pickle plotly posixpath random re scipy seaborn "
    "skimage sklearn statsmodels string sys tensorflow time torch torchvision tqdm typing warnings xgboost __main__"
)
_QUIET = frozenset(_QUIET_WORDS.split())
"""Packages that make files by functions alone whose names or arguments tell it."""
_READERS_OF_PANDAS = (
    "csv excel table pickle fwf stata parquet feather hdf orc sas spss"
)
_READS = {
    # `open` of these takes a path; tarfile and Image.open raise FileNotFoundError just as it does.
    "open": (
        "_io",
        "io",
        "gzip",
        "bz2",
        "lzma",
        "codecs",
        "tarfile",
        "wave",
        "PIL.Image",
    ),
    "imread": ("matplotlib", "skimage", "imageio", "cv2"),
    "load": ("numpy", "torch.serialization", "joblib"),
    **dict.fromkeys(
        ("loadtxt", "genfromtxt", "fromfile", "memmap"), ("numpy",)
    ),
    # os.listdir is defined in `posix` on Linux and in `nt` on Windows.
    **dict.fromkeys(("listdir", "scandir"), ("os", "posix", "nt")),
    **dict.fromkeys(("loadmat", "load_npz"), ("scipy",)),
    "ImageFolder": ("torchvision",),
    **dict.fromkeys(
        ("load_img", "load_model", "image_dataset_from_directory"),
        ("keras", "tensorflow"),
    ),
    **{f"read_{kind}": ("pandas",) for kind in _READERS_OF_PANDAS.split()},
}
"""By name the modules that define such a function, each with all that are below it."""
_METHODS = {
    "load_weights": ("keras", "tensorflow"),
    "flow_from_directory": ("keras", "tensorflow"),
}
"""Methods of which the same is known, by the class of the object."""
_READS_ITSELF = ("open", "read_text", "read_bytes", "iterdir")
"""Methods of a path that need what it names."""
_FUNCTIONS = Kinds(types.FunctionType, types.BuiltinFunctionType)
# Where the mode is: functions that also write would make the file.
_PLACE_OF_MODE = {"open": 1, "memmap": 2}
_WRITING = ("w", "a", "x")
_LONGEST = 1_000
_LISTED = 2_000


def missing_files(
    chain: Chain, namespace: Names, mentioned: set[str]
) -> Iterator[Facts]:
    """Paths that the calls of a chain read and that do not exist, from the working folder on.

    `mentioned` are the texts that calls before this one were given: one of them may have made the file.
    """
    # Each call of a chain: `pd.read_csv(a).merge(pd.read_csv(b))`.
    for at, step in enumerate(chain.steps):
        if step.kind == CALL:
            name = chain.steps[at - 1].value if at else chain.name
            path = _of_path_object(chain, at, namespace)
            is_method = path is not None
            if not is_method and _is_reader(chain, at, namespace):
                path = _path(name, *step.value)
            if (
                path is not None
                and path not in mentioned
                # lexists, as a link that leads nowhere may have a target by then.
                and not any(map(os.path.lexists, _names_of(path)))
            ):
                yield {
                    "of": chain_text(chain.name, chain.steps[: at + 1]),
                    "by": f"pathlib.Path.{name}"
                    if is_method
                    else chain_text(chain.name, chain.steps[:at]),
                    "file": path,
                    "similar": _similar(path),
                }


def _names_of(path: str) -> Iterator[str]:
    """The names under which functions of numpy and scipy look for a path."""
    # numpy and scipy add endings themselves: `loadmat("x")` reads x.mat.
    return (path + ending for ending in ("", ".gz", ".bz2", ".xz", ".mat"))


def may_be_made(
    path: str, line: int, target: str, modules: Iterable[str]
) -> bool:
    """Whether the target's code before a line, or modules that it imports there, may make a file."""
    before = target.splitlines()[: line - 1]
    # On the same line what is before the path counts: `save(p); open(p)`.
    same = target.splitlines()[line - 1 : line]
    text = "\n".join([*before, *(one.rpartition(path)[0] for one in same)])
    return bool(_MAKES_FILES.search(text)) or any(
        name.partition(".")[0] not in _QUIET for name in modules
    )


def may_make_files(chain: Chain, namespace: Names) -> bool:
    """Whether what a chain calls may make a file: by its name, by its package, or by a function that it is given."""
    if chain.first_call is None:
        return False
    names = [
        one.name for one in chain.given if type(one) is Unknown and one.name
    ]
    # `map(f, names)`, `apply(f)`: a function of the notebook may do anything when it is called.
    if any(type(namespace.get(name)) is types.FunctionType for name in names):
        return True
    # A name that is not in the kernel is a built-in, or missing and told as such.
    is_known = (
        chain.name not in namespace or _package(namespace[chain.name]) in _QUIET
    )
    words = [chain.name, *chain.attributes]
    return not is_known or any(map(_MAKES_FILES.search, words))


def _package(value: Any) -> str:
    module = (
        module_dict(value).get("__name__")
        if is_kind(value, types.ModuleType)
        else _defined_in(value)
    )
    return (
        (module if type(module) is str else module_of(type(value)))
        .partition(".")[0]
        .lstrip("_")
    )


def _is_reader(chain: Chain, at: int, namespace: Names) -> bool:
    """Whether the call at a step is one of a function that is known to read the file of this name."""
    # After a call on the way (`zip.open(...)`) the name means another function.
    if chain.n_attributes < at:
        return False
    value = (
        namespace[chain.name]
        if chain.name in namespace
        else vars(builtins).get(chain.name)
    )
    values = followed(value, chain.steps[:at]).values
    name, holder = (
        (chain.steps[at - 1].value, values.get(at - 1))
        if at
        else (chain.name, None)
    )
    # Methods are known by the class of their object alone; modules hold functions.
    if holder is not None and not is_kind(holder, types.ModuleType):
        return _is_below(module_of(type(holder)), _METHODS.get(name, ()))
    # A module that loads its parts when they are asked for has none to be found, but a name.
    return _is_below(
        _defined_in(values[at])
        if at in values
        else module_dict(value).get("__name__"),
        _READS.get(name, ()),
    )


def _is_below(module: Any, heads: tuple[str, ...]) -> bool:
    return type(module) is str and any(
        f"{module}.".startswith(f"{head}.") for head in heads
    )


def _defined_in(function: Any) -> Any:
    if is_kind(function, type):
        return module_of(function)
    if type(function) is types.MethodType:
        return _defined_in(function.__func__)
    if type(function) in _FUNCTIONS:
        return function.__module__
    # Functions of numpy are objects of C since 1.25, with `__module__` in their dict.
    return instance_dict(function).get("__module__")


def _of_path_object(chain: Chain, at: int, namespace: Names) -> str | None:
    """The path that `path.read_text()` or `Path("a").open()` reads; None of what is no such call."""
    if not at or chain.steps[at - 1].value not in _READS_ITSELF:
        return None
    held: Any = namespace.get(chain.name)
    positional, named = chain.steps[at].value
    # `path.open("w")` makes the file.
    if not _reads("open", ("", *positional), dict(named)):
        return None
    if at == 1 and is_path_object(held):
        return str(held)
    if at == 2 and held is not None and held is path_class():
        parts = chain.steps[0].value[0]
        are_texts = parts and all(type(part) is str for part in parts)
        # Of texts, so that no path is made.
        return os.path.join(*parts) if are_texts else None  # noqa: PTH118
    return None


def _path(name: str, positional: Any, named: Any) -> str | None:
    """The path that a reading call is given, where it is spelled."""
    given = dict(named)
    # Of a path that is built from parts only the value at run time would tell.
    path: Any = (
        positional[0]
        if positional
        else next((given[key] for key in _KEYWORDS if key in given), None)
    )
    if is_path_object(path):
        path = os.fspath(path)
    if (
        type(path) is not str
        or not _is_path(path)
        or name in _PLACE_OF_MODE
        and not _reads(name, positional, given)
    ):
        return None
    return path


def _reads(name: str, positional: Any, given: Mapping[str, Any]) -> bool:
    """Whether a function that also writes certainly only reads."""
    place = _PLACE_OF_MODE[name]
    mode = (
        positional[place] if len(positional) > place else given.get("mode", "r")
    )
    # "r+" needs the file to be there; an opener may find another file than the name says.
    return (
        type(mode) is str
        and not mode.startswith(_WRITING)
        and "opener" not in given
    )


def texts_given(chain: Chain) -> set[str]:
    """Texts among the arguments of a chain's calls."""
    return {value for value in chain.given if type(value) is str}


_KEYWORDS = (
    "filepath_or_buffer",
    "path",
    "filename",
    "file",
    "fname",
    "io",
    "filepath",
    "directory",
    "root",
    "f",
)


def _is_path(text: str) -> bool:
    """True for what can only be a path: not an address, not text to be read itself."""
    # "~" is not expanded by open, but by pandas.
    is_short = bool(text) and len(text) <= _LONGEST and text[0] != "~"
    # Addresses, patterns, templates, and markup or JSON that read_html and read_json take as text.
    return is_short and not any(
        mark in text for mark in ("://", "\n", "<", "{", "*")
    )


def _similar(path: str) -> list[str]:
    """Names in the same folder that may have been meant."""
    folder, name = os.path.split(path)
    try:
        # Bounded: folders of images hold a hundred thousand names.
        with os.scandir(folder or ".") as entries:
            names = [entry.name for _, entry in zip(range(_LISTED), entries)]
    except OSError:
        # A folder that cannot be listed has no names to offer.
        return []
    return similar(name, sorted(names))

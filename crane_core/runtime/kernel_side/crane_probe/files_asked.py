"""Files that the target opens by a literal path and that are not there.

Knows functions that read, by their names. Refuses to open anything: whether a file exists is all that is asked.
"""

from __future__ import annotations

import os
from typing import Any, Iterator

from .asked import CALL, Chain
from .following import chain_text, similar

_READS = {
    *(
        "open",
        "imread",
        "load",
        "loadtxt",
        "genfromtxt",
        "fromfile",
        "load_img",
        "load_model",
        "load_weights",
        "memmap",
    ),
    *(
        "loadmat",
        "listdir",
        "scandir",
        "ImageFolder",
        "image_dataset_from_directory",
        "flow_from_directory",
        "load_npz",
    ),
}
_READERS_OF_PANDAS = "read_"
_WRITING = ("w", "a", "x")
_LONGEST = 1_000
_LISTED = 2_000


def missing_files(chain: Chain, mentioned: set[str]) -> Iterator[dict[str, Any]]:
    """Paths that the calls of a chain read and that do not exist, from the working folder on.

    `mentioned` are the texts that calls before this one were given: one of them may have made the file.
    """
    for at, step in enumerate(chain.steps):
        if step.kind == CALL:
            name = chain.steps[at - 1].value if at else chain.name
            path = _path(name, *step.value)
            if path is not None and path not in mentioned and not os.path.lexists(path):
                yield {"of": chain_text(chain.name, chain.steps[: at + 1]), "file": path, "similar": _similar(path)}


def _path(name: Any, positional: Any, named: Any) -> str | None:
    """The path that a reading call is given, where it is spelled."""
    if type(name) is not str or not (name in _READS or name.startswith(_READERS_OF_PANDAS)):
        return None
    given = dict(named)
    path = positional[0] if positional else next((given[key] for key in _KEYWORDS if key in given), None)
    mode = positional[1] if len(positional) > 1 and name == "open" else given.get("mode", "r")
    if type(path) is not str or type(mode) is str and mode.startswith(_WRITING) and name == "open":
        return None
    return path if _is_path(path, name) else None


def texts_given(chain: Chain) -> set[str]:
    """Texts among the arguments of a chain's calls."""
    calls = [step.value for step in chain.steps if step.kind == CALL]
    given = [value for positional, named in calls for value in [*positional, *(value for _, value in named)]]
    return {value for value in given if type(value) is str}


_KEYWORDS = ("filepath_or_buffer", "path", "filename", "file", "fname", "io", "filepath", "directory", "root", "f")


def _is_path(text: str, name: str) -> bool:
    """True for what can only be a path: not an address, not text to be read itself."""
    if not text or len(text) > _LONGEST or "://" in text or "\n" in text or "<" in text or "{" in text:
        return False
    return (
        name not in ("read_html", "read_json", "read_xml", "read_sql", "read_gbq", "read_clipboard") and "*" not in text
    )


def _similar(path: str) -> list[str]:
    """Names in the same folder that may have been meant."""
    folder, name = os.path.split(path)
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for _, entry in zip(range(_LISTED), entries)]
    except OSError:
        # A folder that cannot be listed has no names to offer.
        return []
    return similar(name, sorted(names))

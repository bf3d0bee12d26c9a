"""Finding the importer for a tree: every module of this package that has a KIND is one.

Knows the three names that make an importer. Refuses to know any format.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import Protocol, cast

import crane_core.importers
from crane_core.domain import Record
from crane_core.errors import SourceError
from crane_core.importers.filetree import FileTree
from crane_core.importers.foreign_tools import refuse_foreign_file
from crane_core.importers.prediction_rows import NEEDED

_CERTAIN = 0.95
"""With this confidence an importer knows its own file; JSON lines of anybody look like predictions with 0.9."""
OTHER_FILES = (
    f"Answers of models: JSON lines or CSV with {', '.join(NEEDED)}. "
    "Labels of people: `campaign labels` with a CSV."
)


class Importer(Protocol):
    """A module that reads one kind of source.

    `recognises` returns a confidence from 0 to 1. `read` yields records and never raises because of a file's contents:
    that becomes a LoadProblem, and the tree's own problems are passed on.
    """

    KIND: str

    def recognises(self, tree: FileTree) -> float:
        """How likely the tree is of this kind, from 0 to 1."""

    def read(self, tree: FileTree) -> Iterator[Record]:
        """Its records, with a LoadProblem for whatever cannot be read."""


@cache
def importers() -> tuple[Importer, ...]:
    """All importers, sorted by kind."""
    names = [
        module.name
        for module in pkgutil.iter_modules(
            crane_core.importers.__path__, "crane_core.importers."
        )
    ]
    modules = [importlib.import_module(name) for name in names]
    found = [
        cast(Importer, module) for module in modules if hasattr(module, "KIND")
    ]
    return tuple(sorted(found, key=lambda importer: importer.KIND))


def importer_for(tree: FileTree) -> Importer:
    """The importer with the highest confidence.

    Raises SourceError for a file of another tool, and, naming what can be imported, for what no importer recognises.
    """
    # Looking into a large file takes a while, so each importer does it once.
    confidences = [importer.recognises(tree) for importer in importers()]
    confidence = max(confidences)
    best = importers()[confidences.index(confidence)]
    # Exports of other tools are JSON lines, too, and would be read as predictions full of faults.
    if confidence < _CERTAIN:
        refuse_foreign_file(tree)
    if confidence > 0:
        return best
    if notebooks := [path for path in tree.paths if path.endswith(".ipynb")]:
        raise _no_pair(notebooks)
    kinds = ", ".join(importer.KIND for importer in importers())
    if not tree.paths:
        raise SourceError(
            f"{tree.name} is empty.",
            remedy="Name a folder or archive with files in it.",
        )
    n_files = "1 file" if len(tree.paths) == 1 else f"{len(tree.paths):,} files"
    raise SourceError(
        f"{tree.name} holds {n_files}, but nothing that can be imported.",
        remedy=f"Use a folder or archive of one of these kinds: {kinds}. {OTHER_FILES}",
    )


def _no_pair(notebooks: list[str]) -> SourceError:
    """What a pair is, and how one is made of a notebook: the first thing that its owner tries to import."""
    first = notebooks[0].rpartition("/")[2]
    which = (
        f"{first} is a notebook"
        if len(notebooks) == 1
        else f"{first} and {len(notebooks) - 1:,} more are notebooks"
    )
    return SourceError(
        f"{which}, but no pair: what is imported are two notebooks of a case, NAME_reproduced.ipynb, which crashes, and"
        " NAME_fixed.ipynb, its repair.",
        remedy=f"Make a pair: `add-case --name NAME --to my_pairs --crashing {first} --edit CELL=FIX.py`, then"
        f" `import my_pairs`. To ask only whether it will crash: `check {first}`.",
    )


def importer_by_kind(kind: str) -> Importer:
    """The importer with this KIND; SourceError when this version has none."""
    for importer in importers():
        if kind == importer.KIND:
            return importer
    raise SourceError(
        f"No importer reads sources of kind {kind!r}.",
        remedy="Update this checkout, or remove that source.",
    )

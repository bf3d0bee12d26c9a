"""Whether something else than files could give a module: what is among the finders of imports.

Knows the finders of Python itself, the one that brings the probe, and those that packages of most environments put
beside them, with the modules that each of them knows. Refuses to ask a finder: that is code. Of one that is not known
here it says that it may know all.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
from typing import Any

from ..anatomy import instance_dict, module_dict, type_name

_OF_PYTHON = (
    importlib.machinery.PathFinder,
    importlib.machinery.FrozenImporter,
    importlib.machinery.BuiltinImporter,
)
_HEADS = {
    "_distutils_hack.DistutilsMetaFinder": ("distutils", "pip", "test"),
    "_virtualenv._Finder": ("distutils", "setuptools"),
    "importlib_metadata.MetadataPathFinder": (),
}
"""By the finder's class the top-level modules that it answers for: setuptools, virtualenv, importlib_metadata."""
_EDITABLE = "_EditableFinder", "_EditableNamespaceFinder"


def may_know(module: str) -> bool:
    """False when no finder but those of files, archives and of Python itself could answer for a module."""
    # The probe's finder answers for its own modules alone.
    return any(
        _may_know(finder, module)
        for finder in list(sys.meta_path)
        if not brings_the_probe(finder)
    )


def brings_the_probe(finder: Any) -> bool:
    """Whether it is a finder of the kind that brought this package, which knows our own modules alone.

    Each look makes another one, and the package may stay from an earlier look, whose finder is gone: the class tells.
    """
    # The loader of this module is of the class that brought it, whichever name that has today.
    own_loader = module_dict(sys.modules[__name__]).get("__loader__")
    return type(finder) is type(own_loader)


def is_in_folder(module: str) -> bool:
    """Whether the working folder holds something that could be a top-level module of this name.

    It is taken from `sys.path` while the probe looks.
    """
    try:
        entries = os.listdir(os.curdir)  # noqa: PTH208 - pathlib may not be loaded here
    except OSError:
        # A folder that cannot be listed may hold it.
        return True
    # Files of any ending: an extension module, a folder, a .pyc.
    return any(entry.partition(".")[0] == module for entry in entries)


def _may_know(finder: Any, module: str) -> bool:
    if any(finder is known for known in _OF_PYTHON):
        return False
    # The finders of Python are classes, those of packages mostly objects.
    kind = finder if isinstance(finder, type) else type(finder)
    head, name = module.partition(".")[0], type_name(kind)
    if name in _HEADS:
        return head in _HEADS[name]
    # six answers only for the names of six.moves that it lists.
    if name.endswith("._SixMetaPathImporter"):
        known = instance_dict(finder).get("known_modules")
        return module in known if type(known) is dict else True
    where, _, own = name.rpartition(".")
    # setuptools makes a module per package that is installed with `pip install -e`.
    if own in _EDITABLE and where.startswith("__editable__"):
        return _is_mapped(module_dict(sys.modules.get(where)), head)
    # A finder that is not known (a notebook importer, an encrypted package) may give anything.
    return True


def _is_mapped(finder: dict[str, Any], head: str) -> bool:
    """Whether a package that pip installed in place (setuptools' MAPPING, NAMESPACES) holds a top-level module."""
    told = [finder.get(name) for name in ("MAPPING", "NAMESPACES")]
    return any(
        # Another release of setuptools may keep another type: then it may hold the module.
        type(names) is not dict
        or any(str(one).partition(".")[0] == head for one in names)
        for names in told
    )

"""A name that is not defined: the one that was meant, or the import that notebooks use it for."""

import ast
import builtins
from collections.abc import Iterator, Sequence

from crane_core.repair.crash_site import CrashSite
from crane_core.repair.fix import Fix
from crane_core.repair.kinds.cell_order import UNDEFINED
from crane_core.repair.near import meant

USUAL_IMPORTS = {
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "plt": "import matplotlib.pyplot as plt",
    "sns": "import seaborn as sns",
    "tf": "import tensorflow as tf",
    "nn": "from torch import nn",
    "sm": "import statsmodels.api as sm",
    "smf": "import statsmodels.formula.api as smf",
    **{
        name: f"import {name}"
        for name in (
            *("collections", "copy", "csv", "datetime", "functools", "glob"),
            *("itertools", "json", "math", "os", "pickle", "random", "re"),
            *("shutil", "statistics", "string", "sys", "time", "warnings"),
            *("keras", "scipy", "sklearn", "torch", "tqdm"),
        )
    },
}
"""Short names that the libraries' own documentation uses for their modules, and modules of Python."""


def propose(site: CrashSite) -> Iterator[Fix]:
    """At a NameError: the name that was meant, or the import that is missing."""
    undefined = UNDEFINED.match(site.message)
    if site.exception != "NameError" or undefined is None:
        return
    name = undefined["name"]
    uses = site.named(name)
    is_only_read = all(isinstance(node.ctx, ast.Load) for node in uses)
    # A name that the cell assigns itself is used too soon, not misspelt.
    if not uses or not is_only_read:
        return
    right = meant(name, _known(site, name, uses))
    if right is not None:
        yield site.fix(
            f"Write {right} for {name}.",
            *(site.replaced(node, right) for node in uses),
        )
        return
    statement = _import_of(site, name)
    # `code` or `time` may as well be a variable: a module is known by what is taken from it.
    if statement and _are_used_as(site, uses, ast.Attribute):
        yield site.with_import(statement, f"Add `{statement}`.")


def _known(site: CrashSite, name: str, uses: Sequence[ast.Name]) -> list[str]:
    """Names that may have been meant."""
    known = site.similar("names", name)
    # A variable `filer` is not the function filter: of Python's own only what is called.
    if _are_used_as(site, uses, ast.Call):
        known += dir(builtins)
    return known


def _are_used_as(
    site: CrashSite,
    uses: Sequence[ast.Name],
    kind: type[ast.Call] | type[ast.Attribute],
) -> bool:
    """Whether each of the names is called, or an attribute of it is read."""
    inner = [
        node.func if isinstance(node, ast.Call) else node.value
        for node in site.anywhere(kind)
    ]
    return all(node in inner for node in uses)


def _import_of(site: CrashSite, name: str) -> str:
    """The import by which the name is usually defined; empty where another cell of the notebook defines it."""
    if any(cell.binds(name) for cell in site.cells):
        return ""
    return USUAL_IMPORTS.get(name, "")

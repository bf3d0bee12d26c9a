"""A model that cross-validation left unfitted: fit it on the data that the notebook cross-validated it with."""

import ast
from collections.abc import Iterator

from crane_core.detectors.rules.cell_code import read_cell
from crane_core.repair.crash_site import CrashSite
from crane_core.repair.fix import Fix, SourceEdit

_VALIDATES = ("cross_val_score", "cross_validate", "cross_val_predict")
"""They fit copies; the estimator itself stays as it was (scikit-learn, Cross-validation)."""


def propose(site: CrashSite) -> Iterator[Fix]:
    """At a NotFittedError: the model fitted on the data that the notebook cross-validated it with."""
    if site.exception != "NotFittedError" or site.statement is None:
        return
    receivers = {
        node.value.id
        for node in site.here(ast.Attribute)
        if isinstance(node.value, ast.Name)
    }
    sources = [cell.source for cell in site.ran]
    used = set()
    for source in (*sources, site.source):
        for name, data in _validated(source):
            if name in receivers:
                used.add((name, data))
    # Validated with two data sets, or two models in one line: which was meant is not known.
    if len(used) != 1:
        return
    [(name, data)] = used
    start, _ = site.span(site.statement)
    indent = site.source[:start].rpartition("\n")[2]
    text = f"{name}.fit({data})\n{indent}"
    # In front of a statement that is not alone on its line there is no place.
    if not indent.strip():
        yield site.fix(
            f"Fit {name} first, on the data that it was cross-validated with.",
            SourceEdit(start, start, text),
        )


def _validated(source: str) -> Iterator[tuple[str, str]]:
    """Names of models and the data, as text, of the calls that cross-validate them."""
    for node in ast.walk(read_cell(source).tree):
        match node:
            case ast.Call(
                func=ast.Name(id=function),
                args=[
                    ast.Name(id=name),
                    ast.Name(id=rows),
                    ast.Name(id=values),
                ],
            ) if function in _VALIDATES:
                yield name, f"{rows}, {values}"

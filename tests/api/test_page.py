"""docs/reference/api.md: every example is run, in its order, in the kernel of a notebook."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from crane_core import api
from crane_core.api import statistics
from tests.patience import PATIENCE_S

PAGE = "docs/reference/api.md"


@pytest.fixture(scope="module")
def outputs(root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each example shows as text."""
    folder = tmp_path_factory.mktemp("notebook")
    shutil.copytree(
        root / "data" / "minibench" / "benchmark" / "pandas_1",
        folder,
        dirs_exist_ok=True,
    )
    next(folder.rglob("*_reproduced.ipynb")).rename(folder / "trip.ipynb")
    path = f"import os, sys; sys.path.insert(0, {str(root)!r}); os.environ['CRANE_DATA'] = {str(folder / 'data')!r}"
    examples = re.findall(
        r"```python\n(.*?)```", (root / PAGE).read_text("utf-8"), re.DOTALL
    )
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(code) for code in [path, *examples]]
    )
    NotebookClient(
        notebook,
        timeout=int(PATIENCE_S),
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    return [
        "".join(
            out.data["text/plain"]
            for out in cell.outputs
            if out.output_type == "execute_result"
        )
        for cell in notebook.cells[1:]
    ]


@pytest.mark.slow
def test_the_examples_show_what_they_are_about(outputs: list[str]) -> None:
    crashes, names, shares, libraries, p_value = outputs
    assert ast.literal_eval(crashes)[0] is True
    assert ast.literal_eval(names)
    assert "gpt-5" in shares and "runtime" in shares
    assert libraries.count("\n") == 3
    assert 0 < float(p_value.removeprefix("np.float64(").rstrip(")")) <= 1


def test_the_page_names_everything_that_is_offered(root: Path) -> None:
    page = (root / PAGE).read_text("utf-8")
    offered = [name for name in vars(api.Data) if not name.startswith("_")]
    assert [
        name
        for name in [*api.__all__, *offered]
        if not re.search(rf"\b{name}\b", page)
    ] == []


def test_all_statistics_explain_themselves() -> None:
    functions = [
        getattr(statistics, name)
        for name in statistics.__all__
        if name.islower()
    ]
    assert len(functions) > 15 and all(
        function.__doc__ for function in functions
    )

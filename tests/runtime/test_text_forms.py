"""Notebooks saved as text become cells; scripts and texts that nobody wrote as cells do not."""

from __future__ import annotations

from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import pytest

from crane_core.errors import NotebookError
from crane_core.runtime import text_forms
from crane_core.runtime.kernel import Kernel, KernelReply
from crane_core.runtime.plan import NotebookPlan, read_plan
from crane_core.runtime.run_up import RunUp
from crane_core.verbs.check import tell_left_out

MYST = """---
kernelspec:
  name: python3
---
# Lanes
```{code-cell}
:tags: [raises-exception]
x = [1]
```
```{code-cell}
x[4]
```
"""
QUARTO = """---
title: Lanes
format_name: quarto
---
```{python}
#| label: lanes
x = [1]
```
Text
```{python tags=c("skip-execution")}
x = 2
```
```{python}
x[4]
```
"""
PERCENT = "# %% [markdown]\n# Lanes\n# %%\n# %pip list\nx = [1]\n\n# %%\nx[4]\n"
LIGHT = "# ---\n# jupyter:\n#   kernelspec:\n#     name: python3\n# ---\n\nx = [1]\n\n# +\nx[4]\n"
MARKED = "x = [1]\n\n# + tags=['b']\nx[4]\n"
MARKDOWN = "---\njupytext:\n  main_language: python\n---\n# Lanes\n```python\nx = [1]\n```\n```python\nx[4]\n```\n"
DATABRICKS = """# Databricks notebook source
# MAGIC %md
# MAGIC # Lanes
# COMMAND ----------
# MAGIC %sql
# MAGIC SELECT 1
# COMMAND ----------
x = [1]
# COMMAND ----------
x[4]
"""
MARIMO = """import marimo
app = marimo.App()

@app.cell
def use(x):
    x[4]
    return

@app.cell
def make():
    x = [1]
    return (x,)
"""


def planned(folder: Path, name: str, text: str) -> NotebookPlan:
    path = folder / name
    path.write_text(text, "utf-8")
    return read_plan(path, None)


def refused(folder: Path, name: str, text: str) -> str:
    with pytest.raises(NotebookError) as error:
        planned(folder, name, text)
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lane.md", MYST),
        ("lane.qmd", QUARTO),
        ("lane.Rmd", QUARTO),
        ("lane.py", PERCENT),
        ("light.py", LIGHT),
        ("marked.py", MARKED),
        ("windows.py", PERCENT.replace("\n", "\r\n")),
        ("lanes.md", MARKDOWN),
        ("source.py", DATABRICKS),
    ],
)
def test_a_text_form_becomes_cells(
    tmp_path: Path, name: str, text: str
) -> None:
    plan = planned(tmp_path, name, text)
    assert plan.target.source == "x[4]"
    assert plan.executed[-1].source.endswith("x = [1]")


def test_tags_and_languages_of_text_forms_are_kept(tmp_path: Path) -> None:
    assert planned(tmp_path, "lane.md", MYST).marked == (
        "code cell 0 is tagged raises-exception",
    )
    assert planned(tmp_path, "lane.qmd", QUARTO).marked == (
        "code cell 1 is tagged skip-execution, left out",
    )
    assert planned(tmp_path, "source.py", DATABRICKS).marked == (
        "code cell 0 is SQL, left out",
    )


def test_one_line_says_what_tags_and_languages_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("lane.qmd", QUARTO), ("plain.py", PERCENT)):
        plan = planned(tmp_path, name, text)
        tell_left_out(plan, Namespace(allow_install=True))
    assert capsys.readouterr().err == (
        "By tags and languages: code cell 1 is tagged skip-execution, left out\n"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("spark", "Only Databricks has spark: leave the cell out"),
        ("_dntk", "Only Deepnote has _dntk"),
        ("lane", "Fix it, choose it with --target"),
    ],
)
def test_a_name_that_a_hosted_service_provides_has_its_own_remedy(
    tmp_path: Path, name: str, words: str
) -> None:
    plan = planned(tmp_path, "source.py", DATABRICKS)
    way = RunUp(plan, cast(Kernel, None))
    message = f"name '{name}' is not defined"
    reply = KernelReply(0.1, "NameError", message, "")
    assert way._raised(plan.executed[0], reply).remedy.startswith(words)


def test_a_cell_of_another_language_is_no_target(tmp_path: Path) -> None:
    path = tmp_path / "source.py"
    path.write_text(DATABRICKS)
    with pytest.raises(NotebookError, match=r"Code cell 0 of .* is SQL"):
        read_plan(path, 0)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("script.py", "x = [1]\n\nx[4]\n", "is a Python script"),
        ("notes.md", "# Lanes\n```python\nx\n```\n", "is a text"),
        ("trip.deepnote", "version: 1", "npx @deepnote/convert trip.deepnote"),
        ("half.md", MYST.replace("[raises", "[["), "that jupytext cannot read"),
    ],
)
def test_what_is_no_form_is_refused_with_the_converter(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    assert words in refused(tmp_path, name, text)


def test_a_header_cannot_choose_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """jupytext would start `quarto` or `pandoc` for a file whose header names their form."""
    started: list[object] = []
    monkeypatch.setattr(
        "subprocess.Popen.__init__",
        lambda *given, **more: started.append(given),
    )
    for form in ("quarto", "pandoc"):
        header = f"---\njupytext:\n  text_representation:\n    format_name: {form}\n---\n"
        planned(tmp_path, f"{form}.md", header + "```python\nx\n```\n")
    assert started == []


@pytest.mark.parametrize(
    ("text", "library", "words"),
    [
        (PERCENT, "jupytext", "crane-workbench[forms]"),
        (MARIMO, "marimo", "marimo export ipynb lane.py"),
    ],
)
def test_a_missing_converter_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    library: str,
    words: str,
) -> None:
    monkeypatch.setattr(
        text_forms,
        "find_spec",
        lambda name: None if name == library else find_spec(name),
    )
    assert words in refused(tmp_path, "lane.py", text)


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("marimo") is None, reason="marimo is not installed"
)
def test_marimo_exports_in_the_order_of_dependence(tmp_path: Path) -> None:
    plan = planned(tmp_path, "lane.py", MARIMO)
    assert [cell.source for cell in plan.cells] == ["x=[1]", "x[4]"]

"""In which language a code cell is, where the program that wrote the notebook says so.

Knows VS Code, Polyglot Notebooks, Databricks and Deepnote. Refuses to guess from code alone: a cell of plain Jupyter is
in the language of its notebook.
"""

import ast
import re
from collections.abc import Mapping
from typing import Any

_PYTHON = ("python", "ipython", "pyspark")
_DATABRICKS = "application/vnd.databricks.v1+notebook"
_DATABRICKS_MAGIC = re.compile(r"\s*%(?P<name>[\w-]+)[^\S\n]*(?P<rest>[^\n]*)")
_DATABRICKS_LANGUAGES = {
    "fs": "Databricks file commands",
    "md": "Markdown",
    "md-sandbox": "Markdown",
    "r": "R",
    "scala": "Scala",
    "sh": "shell",
    "sql": "SQL",
}
"""Magics that hand a whole Databricks cell to another language, with one sign where IPython has two."""
_NAMES = {"shellscript": "shell", "sql": "SQL", "markdown": "Markdown"}
_LETTERS = 40


def other_language(
    cell: Mapping[str, Any], source: str, notebook: Mapping[str, Any]
) -> str | None:
    """The name of the cell's language if it is not Python; `notebook` is the notebook's metadata."""
    metadata = _mapping(cell.get("metadata"))
    if _DATABRICKS in notebook:
        magic = _DATABRICKS_MAGIC.match(source)
        return _DATABRICKS_LANGUAGES.get(magic["name"]) if magic else None
    if metadata.get("deepnote_cell_type") == "sql" and not is_python(source):
        # Deepnote exports its SQL blocks as a call in Python, or as they are.
        return "SQL"
    said = _mapping(metadata.get("vscode")).get("languageId") or _mapping(
        metadata.get("polyglot_notebook")
    ).get("kernelName")
    if not isinstance(said, str) or said.casefold().startswith(_PYTHON):
        return None
    return _NAMES.get(said, said[:_LETTERS])


def as_python(source: str, notebook: Mapping[str, Any]) -> str:
    """The source without Databricks' `%python`, which IPython does not know; line numbers stay."""
    magic = _DATABRICKS_MAGIC.match(source) if _DATABRICKS in notebook else None
    if magic is None or magic["name"] != "python":
        return source
    # Code may follow on the same line.
    return source[: magic.start("name") - 1] + source[magic.start("rest") :]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def is_python(source: str) -> bool:
    """Whether Python can parse it; a cell that cannot be parsed has magics, another language, or a mistake."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True

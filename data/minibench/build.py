"""Runs the sources of minibench in real kernels and writes their notebooks and `cases.csv`.

    .venv/bin/python data/minibench/build.py [CASE_ID ...]

`sources/<case>.toml` holds a pair: the case's labels, then its cells in notebook order. A cell has `markdown`, or
`code` for both versions, or one text each under `reproduced` and `fixed`. `order` lists the code cells (from 0) as
they are run in one kernel, so a cell may be left out, run late or run twice; without it they run top to bottom.
`decisive` is not read here: it tells what must be known of the kernel to predict the crash (README.md). Counts,
outputs and tracebacks are what the kernel answered; only what would differ between machines is taken out.
"""

from __future__ import annotations

import csv
import os
import re
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

HERE = Path(__file__).resolve().parent
VERSIONS = ("reproduced", "fixed")
COLUMNS = (
    "case_id",
    "library",
    "root_cause",
    "exception",
    "crash_type",
    "stage",
    "diagnosis",
)
CELL_TIMEOUT_S = 60
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
"""TensorFlow's own log lines hold times and process ids, which differ with every run."""
METADATA = {
    "kernelspec": {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_LIBRARY_FOLDER = re.compile(r"[^\s'\"]*/(?=site-packages/|lib/python3\.\d+/)")
_CELL_FILE = re.compile(r"[^\s'\"]*/ipykernel_\d+/\d+\.py")
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]+")


def source_paths(case_ids: list[str]) -> list[Path]:
    """The TOML files of the named cases, of all where none is named; an unknown name is a FileNotFoundError."""
    if case_ids:
        return [
            (HERE / "sources" / f"{case_id}.toml").resolve(strict=True)
            for case_id in case_ids
        ]
    return sorted((HERE / "sources").glob("*.toml"))


def notebook_of(source: dict[str, Any], version: str) -> nbformat.NotebookNode:
    """The notebook as written, nothing run yet. Format 4.4: later ones carry random cell ids."""
    notebook = nbformat.v4.new_notebook(metadata=METADATA, nbformat_minor=4)
    for cell in source["cells"]:
        if "markdown" in cell:
            made = nbformat.v4.new_markdown_cell(cell["markdown"].strip("\n"))
        else:
            made = nbformat.v4.new_code_cell(
                cell.get("code", cell.get(version)).strip("\n")
            )
        del made["id"]
        notebook.cells.append(made)
    return notebook


def client_of(
    notebook: nbformat.NotebookNode, folder: Path, sockets: str
) -> NotebookClient:
    """A client whose kernel works in `folder` and is reached over files in `sockets`, not over the network."""
    return NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_S,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
        config=Config(
            KernelManager={"transport": "ipc", "ip": f"{sockets}/kernel"}
        ),
    )


def run(
    notebook: nbformat.NotebookNode, order: list[int] | None, folder: Path
) -> str | None:
    """Runs code cells in `order` in a fresh kernel; the error class that stopped it, None where none did."""
    code_cells = [
        (at, cell)
        for at, cell in enumerate(notebook.cells)
        if cell.cell_type == "code"
    ]
    with TemporaryDirectory() as sockets:
        client = client_of(notebook, folder, sockets)
        with client.setup_kernel(env=os.environ | QUIET):
            for at, cell in [
                code_cells[index] for index in order or range(len(code_cells))
            ]:
                try:
                    client.execute_cell(cell, at)
                except CellExecutionError as error:
                    return error.ename
    return None


def without_machine(text: str) -> str:
    """Text of an output without colours, folders and temporary files of this machine, and memory addresses."""
    placeless = _LIBRARY_FOLDER.sub(
        "", _CELL_FILE.sub("cell.py", _ANSI.sub("", text))
    )
    return _ADDRESS.sub("at 0x0", placeless)


def scrub(notebook: nbformat.NotebookNode) -> None:
    """Leaves in every output only what another machine would print too; images shrink to their text."""
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                output.evalue = without_machine(output.evalue)
                output.traceback = [
                    without_machine(line) for line in output.traceback
                ]
            elif output.output_type == "stream":
                output.text = without_machine(output.text)
            else:
                output.data = {
                    "text/plain": without_machine(output.data["text/plain"])
                }
                output.metadata = {}


def build(path: Path) -> dict[str, str]:
    """Writes both notebooks of a source and gives its row of cases.csv; a pair that does not hold is a ValueError."""
    source = tomllib.loads(path.read_text("utf-8"))
    folder = HERE / "benchmark" / path.stem
    folder.mkdir(parents=True, exist_ok=True)
    errors: dict[str, str | None] = {}
    for version in VERSIONS:
        notebook = notebook_of(source, version)
        errors[version] = run(
            notebook, source.get("order", {}).get(version), folder
        )
        scrub(notebook)
        nbformat.write(notebook, folder / f"{path.stem}_{version}.ipynb")
    if not errors["reproduced"] or errors["fixed"]:
        raise ValueError(
            f"{path.stem}: reproduced must crash and fixed must not, but they gave {errors}"
        )
    labels = {name: source[name] for name in COLUMNS if name in source}
    return labels | {
        "case_id": path.stem,
        "exception": errors["reproduced"].lower(),
    }


def known_rows() -> dict[str, dict[str, str]]:
    """Rows of the present cases.csv by case, so that building one case keeps the others."""
    table = HERE / "cases.csv"
    if not table.exists():
        return {}
    with table.open(encoding="utf-8", newline="") as lines:
        return {row["case_id"]: row for row in csv.DictReader(lines)}


def main(case_ids: list[str]) -> None:
    rows = known_rows() if case_ids else {}
    for path in source_paths(case_ids):
        rows[path.stem] = build(path)
        print(f"{path.stem}: {rows[path.stem]['exception']}")
    with (HERE / "cases.csv").open("w", encoding="utf-8", newline="") as lines:
        table = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows[case_id] for case_id in sorted(rows))


if __name__ == "__main__":
    main(sys.argv[1:])

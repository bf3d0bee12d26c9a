"""`vary`: copies of a benchmark's cases with other names and numbers, each executed."""

import argparse
import os
import tempfile
from pathlib import Path

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.own_notebooks.check import refuse_if_forbidden
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.verification import varied_copies, where
from crane_core.runtime.program import program
from crane_core.storage.cases import case_list
from crane_core.terminal import give_either, one_line, stop_on_interrupt, tell
from crane_core.verbs.capture import add_bounds, add_interpreter, bounded
from crane_core.verbs.check import add_isolation

NAME = "vary"
HELP = "copy a benchmark's cases with other names and numbers; a copy counts if it crashes like its original"
EXAMPLE = """python -m crane_core vary minibench --out minibench-varied
         python -m crane_core vary my_pairs --out my_pairs-varied --cases 'pandas_*' --json"""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what `vary` takes: a benchmark or folder of pairs, where the copies go, and the kernel."""
    add(
        verb,
        option(
            "benchmark BENCHMARK|FOLDER",
            "minibench, an imported benchmark, or a folder or archive of pairs",
            arguments.path_or_name,
        ),
        option(
            "--out FOLDER",
            "new folder of pairs; its name is that of the new benchmark",
            arguments.path,
            required=True,
        ),
        option(
            "--cases GLOB",
            "cases, such as 'numpy_*' (default: all)",
            arguments.name,
            default="*",
        ),
    )
    add_interpreter(verb.add_argument_group("the kernel"))
    add_bounds(verb)
    add_isolation(verb)
    add(verb, flag("--json", "print the copies as JSON to stdout"))


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Write the copies and print how many there are, and why the others were left out; returns 0.

    Raises KernelError if execution is forbidden, SourceError where there is nothing to copy or `--out` is taken.
    """
    refuse_if_forbidden(os.environ, remedy="Unset it, or set it to 1.")
    with (
        tempfile.TemporaryDirectory(prefix="crane-vary-") as place,
        stop_on_interrupt() as stop,
    ):
        [bench, *_] = where.benches(chosen.benchmark, folder, Path(place))
        maker = varied_copies.CopyMaker(
            program(python=chosen.python),
            bounded(chosen),
            stop,
            _labels(folder, bench.benchmark),
        )
        copies = varied_copies.varied_copies(
            bench, chosen.out, chosen.cases, maker, _tell_copy
        )
    made = [copy for copy in copies if copy.why_not is None]
    document = {
        "benchmark": bench.benchmark,
        "copies": len(made),
        "left_out": len(copies) - len(made),
        "cases": [copy._asdict() for copy in copies],
    }
    lines = [
        f"{chosen.out}: {len(made)} of {len(copies)} cases of {bench.benchmark} have a copy that crashes alike",
        *(
            f"  {n} left out: {one_line(why)}"
            for why, n in varied_copies.reasons(copies).items()
        ),
    ]
    give_either(document, "\n".join(lines), as_json=chosen.json)
    return 0


def _labels(folder: DataFolder, benchmark: str) -> dict[str, dict[str, object]]:
    """The labels of the cases, as far as the benchmark is loaded."""
    store = prepare_or_read(folder, tell)
    try:
        known = case_list(store.cursor(), benchmark)
    finally:
        store.close()
    return {str(row["case_id"]): row for row in as_rows(known)}


def _tell_copy(copy: varied_copies.VariedCopy) -> None:
    if copy.why_not is not None:
        tell(f"  {copy.case_id}: left out: {one_line(copy.why_not)}")
        return
    tell(
        f"  {copy.case_id}: {copy.exception}; replaced: names {copy.n_names}, columns {copy.n_columns}, "
        f"numbers {copy.n_numbers}"
    )

"""`add-case`: two notebooks, or one and its edit, become a checked case in a folder of pairs."""

import argparse
import os

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.errors import SourceError
from crane_core.given_path import read_given_text
from crane_core.pipeline.own_notebooks.check import refuse_if_forbidden
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.verification import add_case
from crane_core.runtime.plan import MOST_BYTES
from crane_core.runtime.program import program
from crane_core.terminal import give_either, one_line, stop_on_interrupt, tell
from crane_core.verbs.capture import add_bounds, add_interpreter, bounded
from crane_core.verbs.check import add_isolation

NAME = "add-case"
HELP = "add a crashing notebook and its fix to a folder of pairs, after executing both to see that they are a case"
EXAMPLE = """python -m crane_core add-case --name trip --to my_pairs --crashing trip.ipynb --fixed trip_ok.ipynb
         python -m crane_core add-case --name trip --to my_pairs --crashing trip.ipynb --edit 4=fix.py"""
LONGEST_LABEL = 120
LONGEST_DIAGNOSIS = 4_000


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the two notebooks of a case, its name, folder and labels, and the kernel that executes them."""
    add(
        verb,
        option(
            "--name NAME", "name of the case", arguments.name, required=True
        ),
        option(
            "--to FOLDER",
            "folder of pairs, may be new",
            arguments.path,
            required=True,
        ),
        option(
            "--crashing A.ipynb",
            "the notebook that crashes",
            arguments.path,
            required=True,
        ),
    )
    add(
        verb.add_mutually_exclusive_group(required=True),
        option(
            "--fixed B.ipynb",
            "the same notebook without the fault",
            arguments.path,
        ),
        option(
            "--edit CELL=FILE.py",
            "or: code that replaces that code cell, counted from 0, in the fixed one; repeatable",
            arguments.cell_file,
            action="append",
        ),
    )
    add(
        verb,
        option(
            "--target N",
            "the code cell that crashes, counted from 0 (default: the one with an error output, else as executed)",
            arguments.code_cell,
        ),
    )
    label = arguments.line(LONGEST_LABEL)
    add(
        verb.add_argument_group("labels", "of the case, for cases.csv"),
        option("--library L", "label, for cases.csv", label),
        option("--root-cause R", "label, for cases.csv", label),
        option(
            "--diagnosis TEXT",
            "why it crashes, for cases.csv",
            arguments.line(LONGEST_DIAGNOSIS),
        ),
    )
    kernel = verb.add_argument_group("the kernel")
    add(
        kernel,
        flag("--no-run", "execute nothing; the error output says what crashes"),
    )
    add_interpreter(kernel)
    add_bounds(verb)
    add_isolation(verb)
    add(
        verb,
        flag("--json", "print what was added as JSON to stdout"),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Execute both notebooks and add them to the folder as a pair; returns 0.

    Raises SourceError or NotebookError, and writes nothing, if the crash is not the same twice or the fix does
    not run through.
    """
    if not chosen.no_run:
        refuse_if_forbidden(os.environ, remedy="Unset it, or use --no-run.")
    crashing = add_case.read_notebook(chosen.crashing)
    fixed = (
        add_case.read_notebook(chosen.fixed)
        if chosen.fixed
        else add_case.edited(crashing, _edits(chosen))
    )
    labels = (chosen.library, chosen.root_cause, chosen.diagnosis)
    case = add_case.NewCase(
        chosen.name, crashing, fixed, chosen.target, *labels
    )
    if not chosen.no_run:
        tell(
            f"Running the crashing notebook {add_case.N_TRIES} times and the fixed one once"
        )
    with stop_on_interrupt() as stop:
        kernel = None if chosen.no_run else program(python=chosen.python)
        added = add_case.add_case(
            case, chosen.to, kernel, bounded(chosen), stop=stop
        )
    give_either(
        added._asdict(), in_words(added, str(chosen.to)), as_json=chosen.json
    )
    return 0


def _edits(chosen: argparse.Namespace) -> dict[int, str]:
    return {
        cell: read_given_text(
            path, MOST_BYTES, SourceError, "Name a text file in UTF-8."
        )
        for cell, path in chosen.edit
    }


def in_words(added: add_case.AddedCase, to: str) -> str:
    """What was added, for people to read."""
    lines = [
        one_line(
            f"{to}: added {added.name}_reproduced.ipynb and {added.name}_fixed.ipynb"
        ),
        one_line(f"  target: code cell {added.target}, {added.exception}"),
        "  1 code cell differs"
        if added.n_differ == 1
        else f"  {added.n_differ:,} code cells differ",
    ]
    if added.n_differ > 1:
        lines.append(
            "  warning: a fix should change one cell; look whether all of these belong to it"
        )
    if added.was_run:
        lines.append(
            f"  crashed the same way {add_case.N_TRIES} times; the fixed notebook ran through"
        )
    else:
        lines.append(
            "  not executed: `verify` shows whether it crashes as recorded and its fix runs through"
        )
    return "\n".join(lines)

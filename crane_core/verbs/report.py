"""`report`: the study's tables recomputed from what is loaded, and checked against what was printed; its claims too."""

import argparse

import pandas as pd

from crane_core.arguments import add, flag, option
from crane_core.pipeline.claims import claims, formats
from crane_core.pipeline.export.leaderboard_formats import render_boards
from crane_core.pipeline.frame_formats import (
    frame_latex,
    frame_markdown,
)
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results import leaderboard, plan_findings
from crane_core.pipeline.results.evaluate import printed_numbers, verdict_frame
from crane_core.pipeline.results.plan_findings import readable_plans
from crane_core.pipeline.results.run_list import run_list
from crane_core.pipeline.sheet_text import csv_text
from crane_core.pipeline.study import measured_tables, study_tables, table_cells
from crane_core.pipeline.study.table_formats import Format, render
from crane_core.storage.cases import benchmark_titles
from crane_core.terminal import give, tell

NAME = "report"
HELP = (
    "recompute and print the study's tables; --check compares every printed cell, --claims the paper's claims, --plans"
    " registered plans"
)
ONLY_READS = True
LEADERBOARD = "leaderboard"
"""Named as a table, but of every benchmark; the paper has no such table to compare it with."""
EXAMPLE = "python -m crane_core report --table 2a --format md"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare which tables or claims are printed, in which form, and whether printed cells are compared."""
    ids = [
        *(table.id for table in measured_tables.MEASURED_TABLES),
        LEADERBOARD,
    ]
    add(
        verb.add_mutually_exclusive_group(),
        flag(
            "--claims", "compare the claims of the paper's text with the data"
        ),
        flag("--plans", "compare registered plans with what was found"),
        option("--table ID", f"only this table: {' '.join(ids)}", choices=ids),
    )
    add(
        verb,
        option(
            "--format",
            "default: md",
            choices=[str(f) for f in Format],
            default="md",
        ),
        flag("--json", "the same as --format json"),
        flag(
            "--check",
            "exit 1 if a recomputable cell differs in the printed digits",
        ),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Print the study's tables, recomputed from what is loaded, the leaderboards, or the paper's claims with verdicts.

    Returns 0, or 1 with --check if a recomputable cell differs from the paper in its printed digits.
    """
    fmt = Format.JSON if chosen.json else Format(chosen.format)
    store = prepare_or_read(folder, tell)
    if chosen.table == LEADERBOARD:
        verdicts = verdict_frame(store)
        boards = leaderboard.usual_boards(verdicts, run_list(store, verdicts))
        give(render_boards(boards, fmt, benchmark_titles(store.cursor())))
        store.close()
        return 0
    if chosen.plans:
        material = Material(store, folder)
        found = plan_findings.found_of_plans(material)
        unplanned = plan_findings.exploratory_of_plans(material)
        store.close()
        give(_plans_in(found, fmt))
        for one in unplanned:
            tell(
                f"exploratory, in no registered plan: {one.benchmark}, {one.detector_title}, {one.inputs}"
            )
        return 0
    tables = study_tables.study_tables(
        verdict_frame(store), printed_numbers(store)
    )
    if chosen.claims:
        _give_claims(
            claims.checked_claims(
                claims.loaded_in(store, folder), claims.published_claims()
            ),
            fmt,
        )
    store.close()
    if chosen.table:
        tables = {chosen.table: tables[chosen.table]}
    if not chosen.claims:
        give(render(tables.values(), fmt))
    return _check(tables) if chosen.check else 0


def _plans_in(found: pd.DataFrame, fmt: Format) -> str:
    """A row per planned question; unrounded in CSV and JSON."""
    if fmt is Format.JSON:
        return str(found.to_json(orient="records", indent=2))
    if fmt is Format.CSV:
        rows = found.astype(object).where(found.notna(), None)
        return csv_text([list(found), *rows.to_numpy().tolist()])
    if found.empty:
        return (
            "No plan is registered; `plan new FILE` writes one to begin with."
        )
    shown = readable_plans(found)
    notes = list(dict.fromkeys(found["note"]))
    if fmt is Format.LATEX:
        title = "Registered plans and what was found"
        return frame_latex(
            shown,
            title=title,
            caption=" ".join([f"{title}.", *notes]),
            label="plans",
            numeric=[],
        )
    return "\n".join([frame_markdown(shown), *notes])


def _give_claims(checked: list[claims.CheckedClaim], fmt: Format) -> None:
    give(formats.render_claims(checked, fmt))
    counts = formats.verdict_counts(checked)
    tell(
        f"{len(checked)} claims: "
        + ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n)
    )


def _check(tables: dict[str, table_cells.StudyTable]) -> int:
    for name, counts in study_tables.status_counts(tables.values()).items():
        tell(
            f"{name:>15}: "
            + ", ".join(f"{n} {status}" for status, n in counts.items() if n)
        )
    differing = study_tables.drift(tables.values())
    for name, cell in differing:
        ours = float(cell.ours or 0)
        tell(
            f"differs: table {name}, {cell.row}, {cell.column}: printed {cell.printed}, ours {ours:.4f}"
        )
    tell(
        f"check: {len(differing)} cells differ"
        if differing
        else "check: every recomputable cell matches the printed value"
    )
    return 1 if differing else 0

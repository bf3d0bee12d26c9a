"""`export`: an evidence pack, from which another machine rebuilds the same tables, or a site that opens from disk."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.domain import Setting
from crane_core.errors import DetectorError
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.pipeline.audit import note_written
from crane_core.pipeline.campaigns import campaigns
from crane_core.pipeline.export import evidence, statistic_formats, task_files
from crane_core.pipeline.export.all_statistics import all_statistics
from crane_core.pipeline.export.run_file import SUFFIX, write_run
from crane_core.pipeline.fresh_folder import fresh_folder, refuse_taken
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.notes.notes import all_notes
from crane_core.pipeline.notes.reading import write_notes
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import printed_numbers, verdict_frame
from crane_core.pipeline.study.study_tables import study_tables
from crane_core.pipeline.study.table_formats import Format, render
from crane_core.storage.store import Store
from crane_core.terminal import give_either, tell

Written = TypeVar("Written")
"""What one way of writing returns."""

NAME = "export"
HELP = (
    "write an evidence pack for `import` elsewhere (--out), one run (--run), a site (--site), a dataset (--hf),"
    " prompts to ask by other tools (--tasks) or what people noted (--notes)"
)
ONLY_READS = True
EXAMPLE = """python -m crane_core export --out evidence
         python -m crane_core export --site supplement
         python -m crane_core export --run gpt-5-runtime-junobench-0a1b2c3d --file run.zip
         python -m crane_core export --hf dataset
         python -m crane_core export --tasks inspect --benchmark minibench --setting code,runtime"""
SUFFIXES = {
    Format.MD: "report.md",
    Format.CSV: "report.csv",
    Format.JSON: "report.json",
}


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what `export` writes (evidence pack, site, dataset or one run), where to, and with which texts."""
    add(
        verb.add_mutually_exclusive_group(required=True),
        option(
            "--out DIR", "folder of the evidence pack to create", arguments.path
        ),
        option(
            "--site DIR",
            "folder for HTML pages of results, claims, agreement and every pair",
            arguments.path,
        ),
        option(
            "--hf DIR",
            "folder for Parquet files and a dataset card that `datasets.load_dataset` and `import` read",
            arguments.path,
        ),
        option("--run RUN", "one run as a file, see --file", arguments.name),
        option(
            "--notes FILE",
            "tags, comments and corrected diagnoses, removed ones too; by its ending CSV or JSON",
            arguments.path,
        ),
        option(
            "--tasks TOOL",
            f"prompts to ask elsewhere, as {', '.join(task_files.TaskTool)} takes them, see --dir",
            choices=[str(tool) for tool in task_files.TaskTool],
        ),
    )
    add(
        verb,
        option(
            "--file ZIP",
            "with --run: the file (default: RUN.zip)",
            arguments.path,
        ),
    )
    add(
        verb.add_argument_group("what is in it"),
        flag(
            "--with-published-texts",
            "with --site and --hf: include code, kernel states and texts of answers, which belong to their authors",
        ),
        flag(
            "--with-sources",
            "include published archives, which are otherwise only named",
        ),
        flag(
            "--without-statistics",
            "skip the tables of all statistics that the pages show; they take minutes to compute",
        ),
    )
    add(
        verb.add_argument_group(
            "with --tasks",
            "results come back by `import`: docs/researcher/other-tools.md",
        ),
        option(
            "--dir DIR",
            "folder to create (default: TOOL_tasks)",
            arguments.path,
        ),
        option(
            "--setting S",
            "what is shown, several between commas (default: runtime)",
            arguments.names,
            default=(str(Setting.RUNTIME),),
        ),
        option(
            "--benchmark B",
            f"default: {JUNOBENCH.benchmark}",
            arguments.name,
            default=JUNOBENCH.benchmark,
        ),
        option(
            "--instances GLOB",
            "instances, such as 'numpy_*' (default: all)",
            arguments.name,
            default="*",
        ),
    )
    add(
        verb,
        flag("--json", "print the contents of the pack as JSON to stdout"),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Write what was chosen into a folder or file that is not there yet, and note it in the audit log; returns 0.

    Raises CraneError if the place is taken, DetectorError if there is no such run.
    """
    if chosen.run:
        return _write_run(chosen, folder)
    if chosen.notes:
        return _write_notes(chosen, folder)
    if chosen.tasks:
        return _write_tasks(chosen, folder)
    if chosen.site or chosen.hf:
        return (_write_site if chosen.site else _write_dataset)(chosen, folder)
    return _write_pack(chosen, folder)


def _write_run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    out = chosen.file or Path(f"{chosen.run}{SUFFIX}")
    manifest = write_run(folder, chosen.run, out)
    note_written(folder, f"run {chosen.run}", out)
    words = f"{out}: the run {chosen.run}, {manifest.ledger[0].n_bytes:,} bytes; `import` takes it on another machine"
    give_either(manifest.to_json(), words, as_json=chosen.json)
    return 0


def _write_notes(chosen: argparse.Namespace, folder: DataFolder) -> int:
    out: Path = chosen.notes
    found = all_notes(folder)
    write_notes(found, out)
    note_written(folder, "notes", out)
    words = f"{out}: {len(found):,} note{'' if len(found) == 1 else 's'}"
    told = {"notes": str(out), "n_notes": len(found)}
    give_either(told, words, as_json=chosen.json)
    return 0


def _write_tasks(chosen: argparse.Namespace, folder: DataFolder) -> int:
    tool = task_files.TaskTool(chosen.tasks)
    out = chosen.dir or Path(f"{tool}_tasks")
    refuse_taken(out)
    settings = _settings(chosen.setting)
    store = prepare_or_read(folder, tell)
    try:
        found = task_files.questions(
            store, chosen.benchmark, settings, pattern=chosen.instances
        )
    finally:
        store.close()
    files = task_files.task_files(tool, found.questions)
    with fresh_folder(out) as fresh:
        for name, text in files.items():
            (fresh / name).write_text(text, "utf-8")
    note_written(folder, f"tasks for {tool}", out)
    for name, why in found.skipped.items():
        tell(f"skipped: {name}: {why}")
    told = {
        "tasks": str(out),
        "n_questions": len(found.questions),
        "skipped": found.skipped,
    }
    words = f"{out}: {len(found.questions):,} questions for {tool}; README.txt says how to ask them"
    give_either(told, words, as_json=chosen.json)
    return 0


def _settings(named: Sequence[str]) -> list[Setting]:
    for name in named:
        if name not in list(Setting):
            raise DetectorError(
                f"{name!r} is not a setting.",
                remedy=f"Name one of {', '.join(Setting)}.",
            )
    return [Setting(name) for name in named]


def _write_dataset(chosen: argparse.Namespace, folder: DataFolder) -> int:
    # pyarrow and the dataset's card, which the other exports do not need.
    from crane_core.pipeline.export.hf_dataset import write_dataset

    written = _with_material(chosen, folder, chosen.hf, write_dataset)
    note_written(folder, "dataset", chosen.hf)
    told = {
        "dataset": str(chosen.hf),
        "rows": written.n_rows,
        "with_texts": chosen.with_published_texts,
    }
    lines = [
        f"{chosen.hf}: dataset",
        *(f"  {n:>9,} {name}" for name, n in written.n_rows.items()),
    ]
    give_either(told, "\n".join(lines), as_json=chosen.json)
    return 0


def _write_site(chosen: argparse.Namespace, folder: DataFolder) -> int:
    # Charts and templates, which a pack does not need.
    from crane_core.site.write import write_site

    n_files = _with_material(chosen, folder, chosen.site, write_site)
    note_written(folder, "site", chosen.site)
    told = {
        "site": str(chosen.site),
        "n_files": n_files,
        "with_texts": chosen.with_published_texts,
    }
    words = f"{chosen.site}: {n_files:,} files; open index.html"
    give_either(told, words, as_json=chosen.json)
    return 0


def _with_material(
    chosen: argparse.Namespace,
    folder: DataFolder,
    out: Path,
    write: Callable[..., Written],
) -> Written:
    """What `write` returns, which writes the new folder `out` from everything that is stored."""
    # Before everything is computed, not after.
    refuse_taken(out)
    store = prepare_or_read(folder, tell)
    try:
        return write(
            Material(store, folder),
            out,
            with_texts=chosen.with_published_texts,
            progress=tell,
        )
    finally:
        store.close()


def _write_pack(chosen: argparse.Namespace, folder: DataFolder) -> int:
    # Before everything is computed, not after.
    refuse_taken(chosen.out)
    store = prepare_or_read(folder, tell)
    try:
        tables = list(
            study_tables(verdict_frame(store), printed_numbers(store)).values()
        )
        texts = [
            evidence.PackText(name, render(tables, form))
            for form, name in SUFFIXES.items()
        ]
        texts += [] if chosen.without_statistics else _statistics(store, folder)
    finally:
        store.close()
    # A pack holds the ledger as it is, and with it the plan that tells which detector wrote which item.
    opened = tuple(
        name
        for name in campaigns.campaign_names(folder)
        if campaigns.kept_campaign(folder, name).lock is None
    )
    manifest = evidence.write_pack(
        folder,
        chosen.out,
        texts,
        with_published=chosen.with_sources,
        readme=lambda sources: evidence.readme(sources, opened),
    )
    note_written(folder, "evidence pack", chosen.out)
    for name in opened:
        tell(
            f"campaign {name} is open: the pack reveals what it hides from its annotators"
        )
    words = in_words(manifest, chosen.out)
    give_either(manifest.to_json(), words, as_json=chosen.json)
    return 0


def _statistics(store: Store, folder: DataFolder) -> list[evidence.PackText]:
    """Every statistic that pages show: one CSV, one JSON, a LaTeX table for each kind."""
    found = all_statistics(Material(store, folder), tell)
    texts = [
        evidence.PackText(
            "statistics.csv", statistic_formats.statistics_csv(found)
        ),
        evidence.PackText(
            "statistics.json", statistic_formats.statistics_json(found)
        ),
    ]
    return texts + [
        evidence.PackText(
            f"statistics_{kind}.tex",
            statistic_formats.statistics_latex(kind, rows),
        )
        for kind, rows in found.items()
    ]


def in_words(manifest: evidence.Manifest, out: Path) -> str:
    """What lies in the pack, for people to read."""
    included = [source for source in manifest.sources if source.is_included]
    named = [source for source in manifest.sources if not source.is_included]
    lines = [
        f"{out}: evidence pack",
        f"  {len(manifest.ledger):>7,} ledger files, {sum(file.n_bytes for file in manifest.ledger):,} bytes",
        f"  {len(included):>7,} sources, {sum(source.n_bytes for source in included):,} bytes",
    ]
    lines += [
        f"  named, not included: {source.name} ({source.kind}); add it with --with-sources"
        for source in named
    ]
    return "\n".join(lines)

"""Writes the derived tables of this folder from the published source archives.

    python data/published/make.py ARCHIVES [--out FOLDER]

ARCHIVES holds crane_llm.tar.gz and JunoBench_construct.tar.gz. Knows the paths and sheets of those two archives and
reads them with tarfile, json, calamine and (to count tokens) tiktoken or bpe_openai alone: it imports nothing of
crane_core, so that comparing these tables with what the importers load compares two independent readings. Refuses to
copy anything but facts: no code, no reasoning, no message, no diagnosis. The typed tables (paper_numbers,
readme_numbers, contradictions) are not touched.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import io
import json
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from python_calamine import CalamineWorkbook

Files = dict[str, bytes]
Table = Iterable[tuple[object, ...]]

CRANE = "crane-llm-2025-10"
JUNOBENCH = "junobench-construct"
N_RUNS = 5

LLMS = {
    "gemini_2_5_flash": "gemini-2.5-flash",
    "Qwen_2_5_32B_Instruct": "qwen-2.5-32b-instruct",
    "gpt_5": "gpt-5",
}
ANALYZERS = {"pylint": "pylint", "pyright": "pyright"}
JUNOBENCH_LLMS = {
    "llama3_70b": "llama-3.3-70b",
    "mistralsmall31_latest": "mistral-small-3.1",
}
SETTINGS = {
    "crash_detection_code": "code",
    "crash_detection_code_runinfo": "runtime",
}
INPUTS = {"executed_code": "code", "executed_code_runinfo": "runtime"}
VERSIONS = {"buggy": "reproduced", "fixed": "fixed"}
LABELS = {
    "correct": "correct",
    "partially correct": "partial",
    "reasoning wrong": "wrong",
    "wrong": "misdetected",
}
TITLES = {
    "gemini 2.5 flash": "Gemini 2.5 Flash",
    "qwen 2.5 32b instruct": "Qwen2.5-32B-Instruct",
    "gpt 5": "GPT-5",
    "pylint": "pylint",
    "pyright": "pyright",
}
SUMMARY_SHEETS = {
    "Results_summary": "end-to-end",
    "Results_summary_detection": "detection",
}
SUMMARY_COLUMNS = {
    "Count": ("Count", "count"),
    "FP": ("FP", "count"),
    "FN": ("FN", "count"),
    "Precision": ("Precision", "share"),
    "Recall": ("Recall", "share"),
    "F1": ("F1", "share"),
    "Accurarcy": ("Accuracy", "share"),
}
SHARE_STEP = Decimal("0.0001")

INSTANCE = re.compile(r"[A-Za-z]+_\d+_(fixed|reproduced)")
NEEDED = re.compile(
    r"(llms/llms_outputs|sas/sas_outputs)/results_raw/.*\.json"
    r"|results/(results_summary|benchmark_labels)\.xlsx"
    r"|llms/llms_inputs/executed_code(_runinfo)?/.*\.txt"
    r"|llms/detect_if_cell_crash/[^/]+/(results_(buggy|fixed)/.*\.json|.*\.txt)"
)


def natural(name: str) -> tuple[tuple[int, int | str], ...]:
    """Sort key that puts numpy_2 before numpy_10."""
    return tuple(
        (0, int(part)) if part.isdigit() else (1, part)
        for part in re.split(r"_", name)
    )


def needed_files(archive: Path) -> Files:
    """The members that the tables are made of, by path below the archive's top folder."""
    files: Files = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name.partition("/")[2]
            if member.isfile() and NEEDED.fullmatch(path):
                stream = tar.extractfile(member)
                assert stream is not None
                files[path] = stream.read()
    return files


def sheet(files: Files, path: str, name: str) -> list[list[Any]]:
    workbook = CalamineWorkbook.from_filelike(io.BytesIO(files[path]))
    return workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)


def cases(files: Files) -> Table:
    header, *rows = sheet(
        files, "results/benchmark_labels.xlsx", "Labeled_reviewed"
    )
    columns = (
        "nb_name",
        "label_root_cause",
        "ename",
        "label_refined_exp_type",
        "label_ML_pipeline",
    )
    places = [header.index(column) for column in columns]
    for row in sorted(rows, key=lambda row: natural(row[places[0]])):
        case_id, *facts = (row[place] for place in places)
        yield (case_id, case_id.rpartition("_")[0], *facts)


def raw_files(
    files: Files, room: str, folder: str, setting: str
) -> dict[str, Any]:
    """Instance id -> parsed raw file of one detector and setting, in natural order."""
    start = f"{room}/results_raw/{folder}/{setting}/"
    found = {
        Path(path).stem: json.loads(content)
        for path, content in files.items()
        if path.startswith(start)
    }
    return {
        instance: found[instance] for instance in sorted(found, key=natural)
    }


def llm_detections(files: Files) -> Table:
    for folder, detector in LLMS.items():
        for published, setting in SETTINGS.items():
            for instance, runs in raw_files(
                files, "llms/llms_outputs", folder, published
            ).items():
                yield (
                    CRANE,
                    detector,
                    setting,
                    instance,
                    *(int(run["detection"]) for run in runs),
                )


def analyzer_detections(files: Files) -> Table:
    """An analyzer runs once; a list of errors that is not empty predicts a crash."""
    for folder, detector in ANALYZERS.items():
        for published, setting in SETTINGS.items():
            for instance, errors in raw_files(
                files, "sas/sas_outputs", folder, published
            ).items():
                yield (
                    CRANE,
                    detector,
                    setting,
                    instance,
                    int(bool(errors)),
                    *[""] * (N_RUNS - 1),
                )


def junobench_replies(
    files: Files, folder: str
) -> Iterator[tuple[str, list[str]]]:
    place = re.compile(
        rf"llms/detect_if_cell_crash/{re.escape(folder)}/results_(buggy|fixed)/crash_detection_results_(\w+)\.json"
    )
    for path, content in files.items():
        if match := place.fullmatch(path):
            yield f"{match[2]}_{VERSIONS[match[1]]}", json.loads(content)


def junobench_detections(files: Files) -> Table:
    words = {"TRUE": 1, "FALSE": 0}
    for folder, detector in JUNOBENCH_LLMS.items():
        for instance, replies in sorted(
            junobench_replies(files, folder), key=lambda pair: natural(pair[0])
        ):
            yield (
                JUNOBENCH,
                detector,
                "code",
                instance,
                *(words.get(reply, "") for reply in replies),
            )


def skipped(files: Files) -> Table:
    for folder, detector in JUNOBENCH_LLMS.items():
        listed = files.get(
            f"llms/detect_if_cell_crash/{folder}/cases_exceeds_maxtoken.txt",
            b"",
        )
        for case_id in sorted(listed.decode().split(), key=natural):
            for version in sorted(VERSIONS.values()):
                yield (
                    JUNOBENCH,
                    detector,
                    "code",
                    f"{case_id}_{version}",
                    "input exceeds the context of the model",
                )


def outcomes(files: Files) -> Table:
    header, *rows = sheet(
        files, "results/results_summary.xlsx", "Final_evaluation"
    )
    by_instance = {
        row[0]: dict(zip(header, row, strict=True))
        for row in rows
        if INSTANCE.fullmatch(str(row[0]))
    }
    for folder, detector in (LLMS | ANALYZERS).items():
        for published, setting in SETTINGS.items():
            for instance in sorted(by_instance, key=natural):
                label = LABELS[by_instance[instance][f"{folder}_{published}"]]
                yield (
                    CRANE,
                    detector,
                    setting,
                    instance,
                    "published human",
                    label,
                )


def summary_column(name: str, judged: str) -> tuple[str, str] | None:
    """Our column name and unit. The sheet's FPR and FNR divide by all instances and are left out (SOURCE.md)."""
    stem, sign, _ = re.fullmatch(r"(\w+?)(?:([-+])(RT))?", name).groups()  # type: ignore[union-attr]
    if stem not in SUMMARY_COLUMNS:
        return None
    title, unit = SUMMARY_COLUMNS[stem]
    setting = f" ({sign}RT)" if sign else ""
    return f"{title}{setting}, {judged}", unit


def printed(value: float, unit: str) -> str:
    return (
        str(int(value))
        if unit == "count"
        else str(Decimal(repr(value)).quantize(SHARE_STEP, ROUND_HALF_UP))
    )


def summary_block(rows: list[list[Any]], start: int, judged: str) -> Table:
    """One detector's block: its title and the column names in the first row, then a row per library group."""
    header = rows[start][: rows[start].index("Accurarcy+RT") + 1]
    title = TITLES[header[0]]
    table_id = "analyzers" if header[0] in ANALYZERS else "libraries"
    for row in rows[start + 1 : start + 9]:
        for name, value in zip(header[1:], row[1:], strict=False):
            if value != "" and (found := summary_column(name, judged)):
                column, unit = found
                yield (
                    "crane-llm-workbook",
                    table_id,
                    f"{title}, {row[0]}",
                    column,
                    printed(value, unit),
                    unit,
                )


def workbook_numbers(files: Files) -> Table:
    for name, judged in SUMMARY_SHEETS.items():
        rows = sheet(files, "results/results_summary.xlsx", name)
        for start, row in enumerate(rows):
            if row[0] in TITLES:
                yield from summary_block(rows, start, judged)


def write(path: Path, header: str, rows: Table) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header.split(","))
        writer.writerows(rows)


def input_tokens(files: Files) -> Table:
    """How long each published input is, in tokens of o200k_base: the texts that the models were shown."""
    count = token_counter()
    for folder, setting in INPUTS.items():
        start = f"llms/llms_inputs/{folder}/"
        found = {
            Path(path).stem: content
            for path, content in files.items()
            if path.startswith(start)
        }
        for instance in sorted(found, key=natural):
            yield (
                CRANE,
                setting,
                instance,
                count(found[instance].decode("utf-8")),
            )


def token_counter() -> Callable[[str], int]:
    """By bpe_openai, which brings its table with it, else by tiktoken, which may download one."""
    try:
        encoding = importlib.import_module("bpe_openai").get_encoding(
            "o200k_base"
        )
    except ImportError:
        encoding = importlib.import_module("tiktoken").get_encoding(
            "o200k_base"
        )
    return lambda text: len(encoding.encode_ordinary(text))


def make(archives: Path, out: Path) -> None:
    """Writes the derived tables into `out`; the same archives give the same bytes."""
    crane = needed_files(archives / "crane_llm.tar.gz")
    juno = needed_files(archives / "JunoBench_construct.tar.gz")
    key = "experiment,detector,setting,instance"
    runs = ",".join(f"run_{index}" for index in range(1, N_RUNS + 1))
    detections = (
        *llm_detections(crane),
        *analyzer_detections(crane),
        *junobench_detections(juno),
    )
    write(
        out / "cases.csv",
        "case_id,library,root_cause,exception,crash_type,stage",
        cases(crane),
    )
    write(out / "detections.csv", f"{key},{runs}", detections)
    write(out / "outcomes.csv", f"{key},annotator,label", outcomes(crane))
    write(
        out / "input_tokens.csv",
        "experiment,setting,instance,tokens",
        input_tokens(crane),
    )
    write(out / "skipped.csv", f"{key},reason", skipped(juno))
    write(
        out / "workbook_numbers.csv",
        "publication,table_id,row,column,printed,unit",
        workbook_numbers(crane),
    )


def main() -> None:
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(
        description="Write the derived tables of this folder from the source archives."
    )
    parser.add_argument(
        "archives",
        type=Path,
        help="folder with crane_llm.tar.gz and JunoBench_construct.tar.gz",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=here,
        help="where to write (default: beside this script)",
    )
    options = parser.parse_args()
    make(options.archives, options.out)


if __name__ == "__main__":
    main()

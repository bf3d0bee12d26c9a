"""The repository that built JunoBench: first detections by two language models, and facts about the crashes.

Knows `detect_if_cell_crash/<detector>/results_{buggy,fixed}` and `benchmark_desc.xlsx`. Refuses its cells: upstream
collapsed their indentation, so they are not a source of code.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from crane_core import domain
from crane_core.importers import reading
from crane_core.importers.crane_llm_study import places_of
from crane_core.importers.crane_llm_workbooks import read_case_labels
from crane_core.importers.filetree import FileTree
from crane_core.importers.instance_ids import (
    JUNOBENCH,
    cases_without_labels,
    instance_of,
    is_case_id,
)
from crane_core.importers.published_detectors import detector_named

KIND = "junobench-construct"
EXCEEDS_CONTEXT = "input exceeds the context of the model"

_VERSION = {"buggy": domain.Version.REPRODUCED, "fixed": domain.Version.FIXED}
_RESULTS = re.compile(
    r"(?:|.*/)detect_if_cell_crash/(?P<detector>[^/]+)/results_(?P<version>buggy|fixed)"
)
_FILE_NAME = re.compile(r"crash_detection_results_(?P<case>.+)\.json")
_SKIPPED = re.compile(
    r"(?:|.*/)detect_if_cell_crash/(?P<detector>[^/]+)/cases_exceeds_maxtoken\.txt"
)
_CASES = ("data/benchmark_desc.xlsx", "Sheet1")
_ANSWER = {"TRUE": True, "FALSE": False}


class _Results(NamedTuple):
    path: str
    case_id: str
    version: domain.Version
    detector: domain.Detector


class _Skipped(NamedTuple):
    path: str
    detector: domain.Detector


def recognises(tree: FileTree) -> float:
    """Confidence (0..1): no other layout has result folders of a detector."""
    return (
        1.0
        if any(_RESULTS.fullmatch(folder) for folder in tree.by_folder())
        else 0.0
    )


def read(tree: FileTree) -> Iterator[domain.Record]:
    """Everything in the archive as records; unreadable parts become LoadProblems."""
    yield from tree.problems
    yield JUNOBENCH
    results, misnamed = _result_files(tree)
    skipped = [
        _Skipped(path, detector_named(match["detector"]))
        for path in tree.paths
        if (match := _SKIPPED.fullmatch(path))
    ]
    yield from misnamed
    detectors: list[domain.Detector] = [file.detector for file in results] + [
        file.detector for file in skipped
    ]
    yield from dict.fromkeys(detectors)
    # Cases that no model was shown still belong to the benchmark.
    skips = [
        record for file in skipped for record in _runs_never_asked(tree, file)
    ]
    instance_ids = {f"{file.case_id}_{file.version}" for file in results}
    instance_ids |= {
        record.instance_id for record in skips if isinstance(record, domain.Run)
    }
    yield from _cases_and_instances(tree, instance_ids)
    yield from skips
    for file in results:
        yield from _runs(tree, file)


def _result_files(
    tree: FileTree,
) -> tuple[list[_Results], list[domain.LoadProblem]]:
    files: list[_Results] = []
    misnamed: list[domain.LoadProblem] = []
    for folder, paths in tree.by_folder().items():
        match = _RESULTS.fullmatch(folder)
        if match is None:
            continue
        version, detector = (
            _VERSION[match["version"]],
            detector_named(match["detector"]),
        )
        for path in paths:
            name = _FILE_NAME.fullmatch(path.rpartition("/")[2])
            if name and is_case_id(name["case"]):
                files.append(_Results(path, name["case"], version, detector))
            elif path.endswith(".json"):
                misnamed.append(
                    domain.LoadProblem(
                        path, "file name", "it contains no case id"
                    )
                )
    return files, misnamed


def _cases_and_instances(
    tree: FileTree, instance_ids: set[str]
) -> Iterator[domain.Record]:
    labelled: set[str] = set()
    path, sheet = _CASES
    for found in places_of(tree, path):
        for record in read_case_labels(tree, found, sheet):
            if isinstance(record, domain.Case):
                labelled.add(record.case_id)
            yield record
    yield from (
        case
        for case in cases_without_labels(instance_ids)
        if case.case_id not in labelled
    )
    both = {
        f"{case_id}_{version}"
        for case_id in labelled
        for version in domain.Version
    }
    yield from (
        instance_of(instance_id) for instance_id in sorted(both | instance_ids)
    )


@reading.with_problems
def _runs(
    tree: FileTree, file: _Results
) -> Iterator[domain.Run | domain.LoadProblem]:
    """One Run per answer; "[Error-skipping]" and any other text is a run without an answer."""
    answers = reading.read_json_list(tree, file.path)
    for index, answer in enumerate(answers, start=1):
        if isinstance(answer, (str, bool)):
            yield _run(file, index, answer)
        else:
            yield domain.LoadProblem(
                file.path,
                f"answer {index}",
                f"expected a string, not {type(answer).__name__}",
            )


def _run(file: _Results, index: int, answer: Any) -> domain.Run:
    crashes = (
        # The files hold the words TRUE and FALSE, not JSON's booleans.
        answer
        if isinstance(answer, bool)
        else _ANSWER.get(answer.strip().upper())
    )
    return domain.Run(
        benchmark=JUNOBENCH.benchmark,
        instance_id=f"{file.case_id}_{file.version}",
        detector=file.detector.detector,
        setting=domain.Setting.CODE,
        experiment=KIND,
        run_index=index,
        crashes=crashes,
        unanswered=None if crashes is not None else answer,
    )


@reading.with_problems
def _runs_never_asked(
    tree: FileTree, file: _Skipped
) -> Iterator[domain.Run | domain.LoadProblem]:
    """Both versions of each case that upstream left out because its text is too long for the model."""
    # The published list has no line end at its end; an edited copy may begin with a byte-order mark.
    lines = (
        reading.read_text(tree, file.path).removeprefix("\ufeff").split("\n")
    )
    for number, line in enumerate(lines, start=1):
        case_id = line.strip()
        if is_case_id(case_id):
            for version in domain.Version:
                yield _run_never_asked(f"{case_id}_{version}", file.detector)
        elif case_id:
            yield domain.LoadProblem(
                file.path, f"line {number}", f"{case_id!r} contains no case id"
            )


def _run_never_asked(instance_id: str, detector: domain.Detector) -> domain.Run:
    return domain.Run(
        benchmark=JUNOBENCH.benchmark,
        instance_id=instance_id,
        detector=detector.detector,
        setting=domain.Setting.CODE,
        experiment=KIND,
        # Answers count from 1: 0 marks a question that was never put.
        run_index=0,
        crashes=None,
        unanswered=EXCEEDS_CONTEXT,
    )

"""The repository of CRANE-LLM's study as laid out in 2026: ablations and documentation, answers per model and setting.

Knows the folders of that layout, as far as it is described. Refuses to know how a file is read.
"""

import re
from collections.abc import Iterator

from crane_core.domain import LoadProblem, Record, Setting
from crane_core.importers import crane_llm_study, crane_llm_workbooks
from crane_core.importers.crane_llm_inputs import InputFile
from crane_core.importers.crane_llm_outputs import AnswerFile
from crane_core.importers.filetree import FileTree
from crane_core.importers.published_detectors import detector_named

KIND = "crane-llm-2026"

_SETTING = {
    "code": Setting.CODE,
    "runinfo": Setting.RUNTIME,
    "runinfo_full": Setting.RUNTIME,
    "runinfo_r_v": Setting.RUNTIME_WITHOUT_S,
    "runinfo_s_v": Setting.RUNTIME_WITHOUT_R,
    "runinfo_s_r": Setting.RUNTIME_WITHOUT_V,
    "runinfo_full_doc": Setting.RUNTIME_DOCS,
}
"""Upstream names an ablation after the groups that remain, the paper (section 3.3) after the group that is removed."""

_INPUTS = re.compile(
    r"(?:|.*/)llms_inputs/executed_code(?:_(?P<setting>runinfo(?:_[a-z_]+)?))?(?:/[^/]+)?"
)
_ANSWERS = re.compile(
    r"(?:|.*/)llms_outputs/results_raw/crash_detection_(?P<detector>[^/]+?)_(?P<setting>code|runinfo(?:_[a-z_]+)?)(?:/[^/]+)?"
)
_OUTCOMES = (
    "results/results_parsed_detection_and_diagnosis.xlsx",
    "Final_evaluation",
    "published human",
)
_VALIDATION = (
    "results/results_parsed_human_validation_samples_Jose_validated.xlsx",
    "published human, validation",
)


def recognises(tree: FileTree) -> float:
    """Confidence (0..1): only this layout has answers without a folder per model, or input variants."""
    folders = list(tree.by_folder())
    if any(_ANSWERS.fullmatch(folder) for folder in folders):
        return 1.0
    variants = [
        match["setting"]
        for folder in folders
        if (match := _INPUTS.fullmatch(folder))
    ]
    return (
        0.75 if any(name not in (None, "runinfo") for name in variants) else 0.0
    )


def read(tree: FileTree) -> Iterator[Record]:
    """Everything in the tree as records; unreadable parts become LoadProblems."""
    yield from crane_llm_study.read_study(tree, _sorted_files(tree), KIND)
    path, sheet, annotator = _OUTCOMES
    for found in crane_llm_study.places_of(tree, path):
        yield from crane_llm_workbooks.read_outcomes(
            tree, crane_llm_workbooks.Annotations(found, sheet, annotator, KIND)
        )
    path, annotator = _VALIDATION
    for found in crane_llm_study.places_of(tree, path):
        yield from crane_llm_workbooks.read_validation(
            tree, found, annotator, KIND
        )


def _sorted_files(tree: FileTree) -> crane_llm_study.StudyFiles:
    files = crane_llm_study.StudyFiles()
    for folder, paths in tree.by_folder().items():
        if match := _INPUTS.fullmatch(folder):
            if setting := _setting(files, folder, match["setting"] or "code"):
                files.inputs += [
                    InputFile(path, name, setting)
                    for path, name in files.of_instances(paths, ".txt")
                ]
        elif (match := _ANSWERS.fullmatch(folder)) and (
            setting := _setting(files, folder, match["setting"])
        ):
            _add_replies(files, match["detector"], setting, paths)
    return files


def _add_replies(
    files: crane_llm_study.StudyFiles,
    upstream_name: str,
    setting: Setting,
    paths: list[str],
) -> None:
    detector = detector_named(upstream_name)
    files.detectors[detector.detector] = detector
    for path, instance_id in files.of_instances(paths, ".json"):
        files.replies.append(
            AnswerFile(path, instance_id, detector.detector, setting)
        )


def _setting(
    files: crane_llm_study.StudyFiles, folder: str, name: str
) -> Setting | None:
    if name not in _SETTING:
        # A setting that this version does not know must not be counted as one that it does.
        files.misnamed.append(
            LoadProblem(
                folder, "folder name", f"{name!r} is not a known setting"
            )
        )
    return _SETTING.get(name)

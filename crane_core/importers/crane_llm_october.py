"""The archive of CRANE-LLM's study as published in October 2025.

Knows the folders of that layout. Refuses to know how a file is read, and takes only places, not lists of names:
each folder is a detector.
"""

import re
from collections.abc import Iterator

from crane_core.domain import DetectorKind, Record, Setting
from crane_core.importers import crane_llm_study, crane_llm_workbooks
from crane_core.importers.crane_llm_inputs import InputFile
from crane_core.importers.crane_llm_outputs import AnswerFile, JudgeFile
from crane_core.importers.crane_llm_workbooks import Annotations, read_outcomes
from crane_core.importers.filetree import FileTree
from crane_core.importers.published_detectors import detector_named

KIND = "crane-llm-2025-10"

_SETTING = {"code": Setting.CODE, "code_runinfo": Setting.RUNTIME}
_GROUP = r"(?:/[^/]+)?"
_INPUTS = re.compile(
    rf"(?:|.*/)llms_inputs/executed_(?P<setting>code(?:_runinfo)?){_GROUP}"
)
_ANSWERS = re.compile(
    r"(?:|.*/)(?P<family>llms|sas)_outputs/results_(?P<content>raw|parsed)(?P<reversed>_reversed)?(?:_(?P<repetition>\d+))?"
    rf"/(?P<detector>[^/]+)/crash_detection_(?P<setting>code(?:_runinfo)?){_GROUP}"
)
_VALIDATION = "results/evaluation_human_LLMjudge_validation.xlsx"
_OUTCOMES = (
    ("results/results_summary.xlsx", "Final_evaluation", "published human"),
    (_VALIDATION, "Human_evaluation", "published human, earlier pass"),
)


def recognises(tree: FileTree) -> float:
    """Confidence (0..1): only this layout has answers in a folder per model; inputs may be of the later one."""
    folders = tree.by_folder()
    if any(_ANSWERS.fullmatch(folder) for folder in folders):
        return 1.0
    # Both layouts have these inputs; the other importer claims them with more where it sees its own folders.
    return 0.5 if any(_INPUTS.fullmatch(folder) for folder in folders) else 0.0


def read(tree: FileTree) -> Iterator[Record]:
    """Everything in the archive as records; unreadable parts become LoadProblems."""
    yield from crane_llm_study.read_study(tree, _sorted_files(tree), KIND)
    for path, sheet, annotator in _OUTCOMES:
        for found in crane_llm_study.places_of(tree, path):
            yield from read_outcomes(
                tree, Annotations(found, sheet, annotator, KIND)
            )
    for found in crane_llm_study.places_of(tree, _VALIDATION):
        yield from crane_llm_workbooks.read_settled_differences(
            tree,
            Annotations(
                found, "Human_Validation", crane_llm_workbooks.SETTLED, KIND
            ),
        )


def _sorted_files(tree: FileTree) -> crane_llm_study.StudyFiles:
    files = crane_llm_study.StudyFiles()
    for folder, paths in tree.by_folder().items():
        if match := _INPUTS.fullmatch(folder):
            setting = _SETTING[match["setting"]]
            files.inputs += [
                InputFile(path, name, setting)
                for path, name in files.of_instances(paths, ".txt")
            ]
        elif match := _ANSWERS.fullmatch(folder):
            _sort_answers(files, match, paths)
    return files


def _sort_answers(
    files: crane_llm_study.StudyFiles, match: re.Match[str], paths: list[str]
) -> None:
    is_llm = match["family"] == "llms"
    detector = detector_named(
        match["detector"], DetectorKind.LLM if is_llm else DetectorKind.ANALYZER
    )
    files.detectors[detector.detector] = detector
    setting, name = _SETTING[match["setting"]], detector.detector
    for path, instance_id in files.of_instances(paths, ".json"):
        if match["content"] == "raw":
            answers = files.replies if is_llm else files.diagnostics
            answers.append(AnswerFile(path, instance_id, name, setting))
        else:
            presentation = "reversed" if match["reversed"] else "normal"
            # For analyzers the five entries of one file are the judge's repetitions, so the folder has no
            # number.
            repetition = int(match["repetition"] or 1) if is_llm else None
            files.verdicts.append(
                JudgeFile(
                    path=path,
                    instance_id=instance_id,
                    detector=name,
                    setting=setting,
                    presentation=presentation,
                    repetition=repetition,
                )
            )

"""One release of CRANE-LLM's study, independent of its folder layout: from sorted files to records.

Knows the order of the records: benchmark, detectors, cases, instances, then inputs, runs and labels. Refuses to
know any path pattern.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from crane_core import domain
from crane_core.importers import crane_llm_outputs, crane_llm_workbooks
from crane_core.importers.crane_llm_inputs import InputFile, read_inputs
from crane_core.importers.filetree import FileTree
from crane_core.importers.instance_ids import (
    JUNOBENCH,
    cases_without_labels,
    instance_of,
    is_instance_id,
)

_GROUND_TRUTH = "llms_outputs/ground_truth_crash_prediction.xlsx"
_LABELS = "results/benchmark_labels.xlsx"
_LABELS_SHEET = "Labeled_reviewed"


@dataclass(slots=True)
class StudyFiles:
    """The files of a release by what they hold, the detectors that have a folder, and files that are misnamed."""

    inputs: list[InputFile] = field(default_factory=list)
    replies: list[crane_llm_outputs.AnswerFile] = field(default_factory=list)
    diagnostics: list[crane_llm_outputs.AnswerFile] = field(
        default_factory=list
    )
    verdicts: list[crane_llm_outputs.JudgeFile] = field(default_factory=list)
    detectors: dict[str, domain.Detector] = field(default_factory=dict)
    misnamed: list[domain.LoadProblem] = field(default_factory=list)

    def of_instances(
        self, paths: list[str], suffix: str
    ) -> Iterator[tuple[str, str]]:
        """Path and instance id of the files that end in `suffix`; a name that is not an instance is a problem."""
        for path in paths:
            if path.endswith(suffix):
                instance_id = path.rpartition("/")[2].removesuffix(suffix)
                if is_instance_id(instance_id):
                    yield path, instance_id
                else:
                    self.misnamed.append(
                        domain.LoadProblem(
                            path,
                            "file name",
                            f"{instance_id!r} is not an instance",
                        )
                    )

    def instance_ids(self) -> set[str]:
        """Every instance that a file of the release names."""
        lists = (self.inputs, self.replies, self.diagnostics, self.verdicts)
        return {file.instance_id for files in lists for file in files}


def read_study(
    tree: FileTree, files: StudyFiles, experiment: str
) -> Iterator[domain.Record]:
    """Everything but the human outcomes, whose workbooks differ between releases."""
    yield from tree.problems
    yield from files.misnamed
    yield JUNOBENCH
    yield from files.detectors.values()
    yield from _cases_and_instances(tree, files)
    digests: dict[tuple[str, domain.Setting], str] = {}
    # Inputs first: answers refer to the sha256 of the prompts.
    for record in read_inputs(
        tree, sorted(files.inputs, key=_code_first), experiment
    ):
        if isinstance(record, domain.Prompt):
            digests[record.instance_id, record.setting] = record.sha256
        yield record
    for file in files.replies:
        yield from crane_llm_outputs.read_runs(tree, file, experiment, digests)
    for file in files.diagnostics:
        yield from crane_llm_outputs.read_analyzer_run(
            tree, file, experiment, digests
        )
    for verdict_file in files.verdicts:
        yield from crane_llm_outputs.read_judgements(
            tree, verdict_file, experiment
        )


def places_of(tree: FileTree, path: str) -> list[str]:
    """The file at this path, or under a longer path that ends in it."""
    # Some copies put the study below another folder.
    return [
        found
        for found in tree.paths
        if found == path or found.endswith("/" + path)
    ]


def _code_first(file: InputFile) -> tuple[str, bool, domain.Setting]:
    # The text without runtime state first: its cells are the ones that others are compared with.
    return (
        file.instance_id,
        file.setting is not domain.Setting.CODE,
        file.setting,
    )


def _cases_and_instances(
    tree: FileTree, files: StudyFiles
) -> Iterator[domain.Record]:
    truth = _ground_truth(tree)
    yield from truth.problems
    instance_ids = files.instance_ids() | truth.remarks.keys()
    labelled: dict[str, domain.Case] = {}
    for path in places_of(tree, _LABELS):
        for record in crane_llm_workbooks.read_case_labels(
            tree, path, _LABELS_SHEET
        ):
            if isinstance(record, domain.Case):
                labelled[record.case_id] = record
            else:
                yield record
    # A part of a release is read too: its cases are known by their ids alone.
    for bare in cases_without_labels(instance_ids):
        labelled.setdefault(bare.case_id, bare)
    for case in labelled.values():
        yield replace(case, diagnosis=truth.diagnoses.get(case.case_id))
    for instance_id in sorted(instance_ids):
        yield instance_of(instance_id, truth.remarks.get(instance_id))


def _ground_truth(tree: FileTree) -> crane_llm_workbooks.GroundTruth:
    found = places_of(tree, _GROUND_TRUTH)
    return (
        crane_llm_workbooks.read_ground_truth(tree, found[0])
        if found
        else crane_llm_workbooks.GroundTruth()
    )

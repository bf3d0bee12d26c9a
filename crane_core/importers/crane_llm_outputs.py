"""The answers that CRANE-LLM's study collected: replies of language models, diagnostics of analyzers, judges' labels.

Knows the JSON files under `results_raw` and `results_parsed*`. Refuses to know the folders that hold them, which
differ between the published layouts.
"""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from crane_core import domain
from crane_core.importers.filetree import FileTree
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.importers.published_detectors import label_named
from crane_core.importers.reading import read_json_list, with_problems

JUDGE = "published judge"
NOT_JSON = "the reply is not the requested JSON"
NO_VERDICT = "the reply has no boolean under detection"

PromptDigests = Mapping[tuple[str, domain.Setting], str]
"""sha256 of the prompt by instance and setting, for prompts that are in the same source."""


class AnswerFile(NamedTuple):
    """A published file of answers: its path, and of which instance, detector and setting it is."""

    path: str
    instance_id: str
    detector: str
    setting: domain.Setting


class JudgeFile(NamedTuple):
    """`repetition` is None in the files of analyzers, whose list holds the repetitions instead of the runs."""

    path: str
    instance_id: str
    detector: str
    setting: domain.Setting
    presentation: str
    repetition: int | None


@with_problems
def read_runs(
    tree: FileTree, file: AnswerFile, experiment: str, digests: PromptDigests
) -> Iterator[domain.Run | domain.LoadProblem]:
    """One Run per reply of a language model, in order; a reply that is not JSON is a run without an answer."""
    replies = read_json_list(tree, file.path)
    # By its text's sha256 an answer is tied to the prompt that it replies to, if the source has it.
    digest = digests.get((file.instance_id, file.setting))
    for index, reply in enumerate(replies, start=1):
        # Upstream's writer stores a bare string where a reply was not JSON.
        if not isinstance(reply, (dict, str)):
            yield domain.LoadProblem(
                file.path,
                f"reply {index}",
                f"expected a reply, not {type(reply).__name__}",
            )
            continue
        crashes, reasoning, unanswered = _verdict(reply)
        yield domain.Run(
            benchmark=JUNOBENCH.benchmark,
            instance_id=file.instance_id,
            detector=file.detector,
            setting=file.setting,
            experiment=experiment,
            run_index=index,
            crashes=crashes,
            reasoning=reasoning,
            unanswered=unanswered,
            diagnostics=None,
            prompt_sha256=digest,
        )


def _verdict(
    reply: domain.JsonObject | str,
) -> tuple[bool | None, str | None, str | None]:
    """Whether a crash is predicted, the reasoning, and why there is no answer."""
    if isinstance(reply, str):
        return None, reply, NOT_JSON
    reasoning = reply.get("reasoning")
    if reasoning is not None and not isinstance(reasoning, str):
        # Kept as text, so that nothing that a model said is lost.
        reasoning = json.dumps(reasoning, ensure_ascii=False)
    crashes = reply.get("detection")
    return (
        (crashes, reasoning, None)
        if isinstance(crashes, bool)
        else (None, reasoning, NO_VERDICT)
    )


@with_problems
def read_analyzer_run(
    tree: FileTree, file: AnswerFile, experiment: str, digests: PromptDigests
) -> Iterator[domain.Run | domain.LoadProblem]:
    """The one Run of a static analyzer: it predicts a crash when it reports anything (paper, section 4.2)."""
    diagnostics = read_json_list(tree, file.path)
    yield domain.Run(
        benchmark=JUNOBENCH.benchmark,
        instance_id=file.instance_id,
        detector=file.detector,
        setting=file.setting,
        experiment=experiment,
        run_index=1,
        crashes=bool(diagnostics),
        diagnostics=json.dumps(diagnostics, ensure_ascii=False),
        # With runtime state an analyzer was given annotated code, which is another text than the models'
        # prompt.
        prompt_sha256=digests.get((file.instance_id, domain.Setting.CODE))
        if file.setting is domain.Setting.CODE
        else None,
    )


@with_problems
def read_judgements(
    tree: FileTree, file: JudgeFile, experiment: str
) -> Iterator[domain.Judgement | domain.LoadProblem]:
    """One Judgement per entry: of run k by entry k for language models, of the one run by repetition k for others."""
    verdicts = read_json_list(tree, file.path)
    for number, verdict in enumerate(verdicts, start=1):
        found = label_named(verdict)
        if found is None:
            yield domain.LoadProblem(
                file.path,
                f"verdict {number}",
                f"{verdict!r} is not a label of the study",
            )
            continue
        label, note = found
        yield domain.Judgement(
            benchmark=JUNOBENCH.benchmark,
            instance_id=file.instance_id,
            detector=file.detector,
            setting=file.setting,
            experiment=experiment,
            annotator=JUDGE,
            annotator_kind=domain.AnnotatorKind.JUDGE,
            label=label,
            run_index=0 if file.repetition is None else number,
            repetition=file.repetition or number,
            presentation=file.presentation,
            note=note,
        )

"""Logs of Inspect AI (`.eval`, or `.json`) whose samples ask our prompt: each completion is read as any model's reply.

Knows the members of such a log, as Inspect 0.3 documents and writes them. Refuses to guess whose answer a sample is:
one that names no instance, that failed, or that its author invalidated is left out, and counted.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from crane_core import domain
from crane_core.importers import reading
from crane_core.importers.filetree import FileTree
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.importers.published_detectors import slug
from crane_core.prompts.reply import ReadReply, read_reply

KIND = "inspect-log"
_HEADERS = ("header.json", "_journal/start.json")
"""Members of an .eval file that describe the evaluation: of one that ended, and of one that did not."""

_SAMPLES, _SUFFIX = "samples/", ".json"
_MARKS = (b'"version"', b'"status"', b'"eval"')
_LOOKED_AT = 400
"""Bytes at the beginning of a .json log within which its first members stand."""

_QUOTED = 200
"""Characters of a sample's id or error that a message quotes."""

_MOST_EPOCHS = 1_000_000
_VERSIONS = tuple(f"_{version}" for version in domain.Version)


class _Log(NamedTuple):
    """One evaluation: its model is the detector, and its id the experiment, so that both forms of a log are one."""

    path: str
    model: str
    experiment: str
    status: str
    arguments: domain.JsonObject


class _LeftOutError(Exception):
    """Why a sample becomes no run: the kind of trouble, and what shows it."""

    def __init__(
        self,
        why: str,
        shown: object,
        kind: domain.ProblemKind = domain.ProblemKind.UNREADABLE,
    ) -> None:
        super().__init__(why)
        self.why, self.shown, self.kind = why, str(shown)[:_QUOTED], kind


def recognises(tree: FileTree) -> float:
    """Confidence (0..1): the members of an .eval file, or only JSON files of which the first begins as a log does."""
    if any(header in tree for header in _HEADERS) and any(
        path.startswith(_SAMPLES) for path in tree.paths
    ):
        return 0.95
    if not tree.paths or not all(path.endswith(_SUFFIX) for path in tree.paths):
        return 0.0
    beginning = tree.read(tree.paths[0])[:_LOOKED_AT]
    return 0.95 if all(mark in beginning for mark in _MARKS) else 0.0


def read(tree: FileTree) -> Iterator[domain.Record]:
    """A Run per sample and epoch, the benchmark and detector before its first, and a count of what was left out.

    The instance, setting and benchmark are members of the sample's metadata, else parts of its id between slashes, else
    arguments of the task; the benchmark is JunoBench where none is named.
    """
    yield from tree.problems
    header = next((path for path in _HEADERS if path in tree), None)
    for path in (
        [header]
        if header
        else [path for path in tree.paths if path.endswith(_SUFFIX)]
    ):
        try:
            document = reading.read_json(tree, path)
            log = _log(document, path)
        except reading.UnreadableFileError as error:
            yield error.problem
            continue
        yield from _records(
            log, _members(tree) if header else _listed(document, path)
        )


def _log(document: Any, path: str) -> _Log:
    about = document.get("eval") if isinstance(document, dict) else None
    if not isinstance(about, dict):
        raise reading.UnreadableFileError(
            path, "eval", "it is not a log of Inspect"
        )
    for name in ("model", "task", "eval_id"):
        if not isinstance(about.get(name), str) or not about[name].strip():
            raise reading.UnreadableFileError(
                path, f"eval.{name}", "it is missing or not a string"
            )
    arguments = about.get("task_args")
    return _Log(
        path,
        about["model"],
        # Task and id together: ids alone say nothing to a reader of the list of runs.
        slug(f"{about['task']}-{about['eval_id']}"),
        str(document.get("status", "started")),
        arguments if isinstance(arguments, dict) else {},
    )


def _members(tree: FileTree) -> Iterator[Any]:
    for path in tree.paths:
        if path.startswith(_SAMPLES) and path.endswith(_SUFFIX):
            try:
                yield reading.read_json(tree, path)
            except reading.UnreadableFileError as error:
                yield error.problem


def _listed(document: domain.JsonObject, path: str) -> Iterator[Any]:
    samples = document.get("samples")
    if isinstance(samples, list):
        yield from samples
    else:
        yield domain.LoadProblem(
            path, "samples", "the log was written without its samples"
        )


def _records(log: _Log, samples: Iterator[Any]) -> Iterator[domain.Record]:
    detector = domain.Detector(
        slug(log.model), log.model, domain.DetectorKind.LLM
    )
    told: dict[tuple[str, domain.ProblemKind], list[str]] = defaultdict(list)
    named: set[str] = set()
    stated = reading.Statements()
    for sample in samples:
        if isinstance(sample, domain.LoadProblem):
            yield sample
            continue
        try:
            run = _run(log, sample, detector.detector)
            key = (run.benchmark, run.instance_id, run.setting, run.run_index)
            _refuse_repeated(stated, key, run)
        except _LeftOutError as error:
            told[f"left out: {error.why}", error.kind].append(error.shown)
            continue
        if run.unanswered:
            unanswered = (
                f"kept without an answer: {run.unanswered}",
                domain.ProblemKind.UNREADABLE,
            )
            told[unanswered].append(f"{run.instance_id}, epoch {run.run_index}")
        # The detector comes with its first run, so that a log without a usable sample leaves no trace.
        if not named:
            yield detector
        if run.benchmark not in named:
            named.add(run.benchmark)
            yield (
                JUNOBENCH
                if run.benchmark == JUNOBENCH.benchmark
                else domain.Benchmark(run.benchmark, run.benchmark)
            )
        yield run
    if log.status != "success":
        yield domain.LoadProblem(
            log.path,
            "status",
            f"the evaluation did not end: {log.status[:_QUOTED]!r}",
        )
    for (why, kind), which in told.items():
        n = len(which)
        yield domain.LoadProblem(
            log.path,
            f"{n:,} sample{'s' if n > 1 else ''}",
            f"{why}; the first: {which[0]}",
            kind,
        )


def _refuse_repeated(
    stated: reading.Statements, key: tuple[object, ...], run: domain.Run
) -> None:
    """Raises _LeftOutError for a second sample of one instance and epoch, whether it answers alike or not."""
    sample = f"{run.instance_id}, epoch {run.run_index}"
    repeated = stated.problem(key, run, path="", place="", what=sample)
    if repeated is None:
        return
    is_contradiction = repeated.kind is domain.ProblemKind.CONTRADICTION
    why = (
        "a sample before it answers otherwise"
        if is_contradiction
        else "a sample before it answers the same"
    )
    raise _LeftOutError(why, sample, repeated.kind)


def _run(log: _Log, sample: Any, detector: str) -> domain.Run:
    if not isinstance(sample, dict):
        raise _LeftOutError("it is not an object", type(sample).__name__)
    benchmark, instance_id, setting = _whose(log, sample)
    if sample.get("invalidation") is not None:
        raise _LeftOutError(
            "its author invalidated it", _invalidated(instance_id, sample)
        )
    error = sample.get("error")
    if error is not None:
        raise _LeftOutError(
            "it failed",
            error.get("message") if isinstance(error, dict) else error,
        )
    epoch = sample.get("epoch")
    if (
        isinstance(epoch, bool)
        or not isinstance(epoch, int)
        or not 1 <= epoch <= _MOST_EPOCHS
    ):
        raise _LeftOutError(
            "its epoch is not an integer of 1 or more", repr(epoch)
        )
    said = _said(sample)
    return domain.Run(
        benchmark=benchmark,
        instance_id=instance_id,
        detector=detector,
        setting=setting,
        experiment=log.experiment,
        run_index=epoch,
        crashes=said.crashes,
        reasoning=said.reasoning,
        unanswered=said.trouble,
        prompt_sha256=_digest(sample.get("input")),
    )


def _invalidated(instance_id: str, sample: domain.JsonObject) -> str:
    """Which sample it is, and the reason that its author gave."""
    which = f"{instance_id}, epoch {sample.get('epoch')}"
    invalidation = sample["invalidation"]
    reason = (
        invalidation.get("reason") if isinstance(invalidation, dict) else None
    )
    return (
        f"{which}: {reason}"
        if isinstance(reason, str) and reason.strip()
        else which
    )


def _whose(
    log: _Log, sample: domain.JsonObject
) -> tuple[str, str, domain.Setting]:
    given = sample.get("metadata")
    # The sample's metadata last: what its author stated there outweighs what an id looks like.
    stated = dict(log.arguments) | _named_in(str(sample.get("id", "")))
    stated |= given if isinstance(given, dict) else {}
    instance_id, named = (
        stated.get("instance"),
        stated.get("benchmark", JUNOBENCH.benchmark),
    )
    if not isinstance(instance_id, str) or not instance_id.endswith(_VERSIONS):
        raise _LeftOutError(
            "it names no instance, whose name ends in _reproduced or _fixed",
            repr(sample.get("id")),
        )
    if stated.get("setting") not in list(domain.Setting):
        raise _LeftOutError(
            f"its setting is none of {', '.join(domain.Setting)}",
            repr(stated.get("setting")),
        )
    if not isinstance(named, str) or not named.strip():
        raise _LeftOutError("its benchmark is not a name", repr(named))
    return slug(named), instance_id.strip(), domain.Setting(stated["setting"])


def _named_in(sample_id: str) -> dict[str, str]:
    """What an id such as `junobench/runtime/pandas_1_fixed` looks like."""
    parts = sample_id.split("/")
    instance = next((part for part in parts if part.endswith(_VERSIONS)), None)
    setting = next(
        (part for part in parts if part in list(domain.Setting)), None
    )
    other = next(
        (part for part in parts[:-1] if part not in (instance, setting)), None
    )
    named = {"instance": instance, "setting": setting, "benchmark": other}
    return {name: part for name, part in named.items() if part}


def _said(sample: domain.JsonObject) -> ReadReply:
    output, limit = sample.get("output"), sample.get("limit")
    completion = output.get("completion") if isinstance(output, dict) else None
    if not isinstance(output, dict) or not isinstance(completion, str):
        raise _LeftOutError(
            "its output has no completion", repr(sample.get("id"))
        )
    # Inspect ends a sample at its limits of time or tokens and keeps it without a completion.
    if not completion and isinstance(limit, dict):
        return ReadReply(
            None,
            None,
            f"it met the limit of {str(limit.get('type'))[:_QUOTED]!r}",
        )
    choices = output.get("choices")
    first = (
        choices[0]
        if isinstance(choices, list)
        and choices
        and isinstance(choices[0], dict)
        else {}
    )
    stopped = first.get("stop_reason")
    return read_reply(completion, stopped if isinstance(stopped, str) else None)


def _digest(asked: Any) -> str | None:
    """sha256 of the prompt where it is the whole input, so that it is known again; None for other conversations."""
    if (
        isinstance(asked, list)
        and len(asked) == 1
        and isinstance(asked[0], dict)
    ):
        asked = asked[0].get("content")
    return (
        hashlib.sha256(asked.encode()).hexdigest()
        if isinstance(asked, str)
        else None
    )

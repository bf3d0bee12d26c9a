"""From cells and state to the prediction of a static analyzer: the text, the tool's errors, those that count.

Knows the steps that pylint and pyright share, and which libraries they can read: those that are installed beside
them, in the use of which alone they find errors. Refuses to know how either is started.

Which errors count as the prediction of a crash says diagnostics.toml, entry by entry.
"""

import json
import re
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from crane_core.detectors import bounded_tool
from crane_core.detectors.analyzer_text import (
    AnalyzerText,
    analyzer_text,
    cells_in_order,
)
from crane_core.detectors.registry import LocalQuestion, Prediction
from crane_core.detectors.type_annotations import annotation_lines
from crane_core.domain import Setting
from crane_core.errors import DetectorError
from crane_core.prompts.categories import GROUP_LEFT_OUT, REPRESENTATION

REMEDY = "Run `make setup`, or `pip install -r requirements.txt`."
LIBRARIES = (
    "keras", "lightgbm", "matplotlib", "numpy", "pandas", "pandas-stubs", "scikit-learn", "scipy", "seaborn",
    "statsmodels", "tensorflow", "tensorflow-cpu", "torch", "torchvision",
)  # fmt: skip
"""The libraries of the benchmarks' cases, and stubs that stand for one."""
MOST_DIAGNOSTICS = 500
MOST_OF_A_MESSAGE = 1_000
TOLD = 20
"""Diagnostics of one instance that are kept, characters of each, and those that the diagnosis in words repeats."""
FILE = Path(__file__).with_name("diagnostics.toml")


class CountedRule(NamedTuple):
    """`rule` "" is what has no rule, None is every other rule; `message` must be found in the message.

    `only_annotated` is for errors that the annotations of the target make, not the notebook.
    """

    counts: bool
    reason: str
    rule: str | None = None
    message: str | None = None
    only_annotated: bool = False


class Reported(NamedTuple):
    """One error of a tool: the line of the text from 1, and the rule ("" for what is not Python)."""

    line: int
    rule: str
    message: str


Checked = list[Reported] | bounded_tool.ToolStoppedError


class Tool(NamedTuple):
    """An analyzer: what its diagnostics call the rule, how many texts one run may read, and the run itself.

    `check` returns the errors of each text, or that the tool cannot look at this one. It raises ToolStoppedError if it
    cannot tell which text broke it, and DetectorError where it cannot run at all.
    """

    name: str
    rule_key: str
    texts_per_run: int
    check: Callable[[Sequence[str]], Sequence[Checked]]


def predictions(
    tool: Tool, questions: Sequence[LocalQuestion]
) -> Iterator[Prediction | bounded_tool.ToolStoppedError]:
    """One answer per question, in order; the error is that of one question. Raises DetectorError for the whole."""
    for start in range(0, len(questions), tool.texts_per_run):
        some = questions[start : start + tool.texts_per_run]
        texts = [_text(tool.name, question) for question in some]
        readable = [text for text in texts if isinstance(text, AnalyzerText)]
        found = iter(_checked(tool, [text.code for text in readable]))
        for question, text in zip(some, texts, strict=True):
            # A text that cannot be made was not sent, and has no place among
            # the answers.
            if isinstance(text, bounded_tool.ToolStoppedError):
                yield text
                continue
            reported = next(found)
            yield (
                reported
                if isinstance(reported, bounded_tool.ToolStoppedError)
                else _prediction(tool, question, text, reported)
            )


def prediction(tool: Tool, question: LocalQuestion) -> Prediction:
    """The answer to one question. Raises ToolStoppedError if there is none."""
    [answer] = predictions(tool, [question])
    if isinstance(answer, bounded_tool.ToolStoppedError):
        raise answer
    return answer


def check_files(
    name: str,
    codes: Sequence[str],
    command: Callable[[Path, Sequence[str]], Sequence[str]],
    errors: Callable[[Any, int], Iterable[tuple[str, Reported | str]]],
    limits: bounded_tool.ToolLimits,
    ended_well: Sequence[int],
) -> list[Checked]:
    """The errors of each text, each a file in a folder for which `command` is made.

    `errors` reads the report of so many files: file and error, or what the tool says of having broken there.
    """
    with tempfile.TemporaryDirectory(
        prefix=f"crane-{name}-", ignore_cleanup_errors=True
    ) as scratch:
        folder = Path(scratch)
        # One start of the tool for all texts, because every start takes time.
        files = [f"crane_input_{number}.py" for number in range(len(codes))]
        for file, code in zip(files, codes, strict=True):
            (folder / file).write_text(code, "utf-8")
        printed = bounded_tool.run_tool(
            name, command(folder, files), folder, limits, accepted=ended_well
        )
    found: dict[str, list[Reported]] = {file: [] for file in files}
    broken: dict[str, bounded_tool.ToolStoppedError] = {}
    try:
        for file, error in errors(json.loads(printed), len(files)):
            if isinstance(error, Reported):
                found[file].append(error)
            else:
                said = (
                    f"{name} stopped on the text with an internal error{error}."
                )
                broken[file] = bounded_tool.ToolStoppedError(
                    said, remedy="Try simpler cells."
                )
    except (ValueError, KeyError, TypeError) as error:
        raise bounded_tool.ToolStoppedError(
            f"{name} printed something other than its report: {type(error).__name__}.",
            remedy="Run `make setup`.",
        ) from error
    # What a tool found before it broke may lack the error that matters.
    return [broken.get(file, found[file]) for file in files]


def question_text(question: LocalQuestion) -> AnalyzerText:
    """What the analyzer reads: without types in the setting `code`, with the types of the state in any other.

    Types are R (paper, section 3.3), so where that group is left out no line names one. Raises ValueError for cells
    that make no text, DetectorError for a setting whose state is missing.
    """
    executed, target = cells_in_order(question.cells)
    if question.setting is Setting.CODE:
        return analyzer_text(executed, target, None)
    if question.state is None:
        raise DetectorError(
            f"The setting {question.setting} needs kernel state.",
            remedy="Capture or fetch it, or use the setting `code`.",
        )
    has_types = GROUP_LEFT_OUT.get(question.setting) != REPRESENTATION
    return analyzer_text(
        executed,
        target,
        annotation_lines(executed, question.state) if has_types else [],
    )


def _text(
    name: str, question: LocalQuestion
) -> AnalyzerText | bounded_tool.ToolStoppedError:
    try:
        return question_text(question)
    except ValueError as error:
        return bounded_tool.ToolStoppedError(
            f"No text can be made for {name}: {error}.",
            remedy="Use fewer or shorter cells.",
        )


def _checked(tool: Tool, codes: Sequence[str]) -> list[Checked]:
    """The errors of each text. When a run breaks, its halves are run again, so that the others get their answer."""
    if not codes:
        return []
    try:
        return list(tool.check(codes))
    except bounded_tool.ToolStoppedError as error:
        if len(codes) == 1:
            return [error]
    # 3,000 nested brackets in one cell end the run of pyright for all other texts as well.
    half = len(codes) // 2
    return [*_checked(tool, codes[:half]), *_checked(tool, codes[half:])]


def _prediction(
    tool: Tool,
    question: LocalQuestion,
    text: AnalyzerText,
    reported: Sequence[Reported],
) -> Prediction:
    is_annotated = question.setting is not Setting.CODE
    told, counted = [], []
    # Sorted, as the same input leads to the same prediction: the limit always cuts the same ones.
    for error in sorted(reported)[:MOST_DIAGNOSTICS]:
        reason = why_not(
            tool.name, error.rule, error.message, is_annotated=is_annotated
        )
        message = error.message[:MOST_OF_A_MESSAGE]
        entry: dict[str, Any] = {
            "code_line": text.code_line(error.line)[:MOST_OF_A_MESSAGE],
            "message": message,
        }
        entry |= {
            tool.rule_key: error.rule or None,
            "source": tool.name,
            "counts": reason is None,
        }
        # What does not count is kept with its reason, so that readers can disagree.
        told.append(entry if reason is None else entry | {"why_not": reason})
        if reason is None:
            counted.append(_in_words(error, text))
    return Prediction(
        bool(counted), _told(counted), json.dumps(told, ensure_ascii=False)
    )


def _in_words(error: Reported, text: AnalyzerText) -> str:
    inside = error.line - text.target_line + 1
    place = (
        f"line {inside} of the target"
        if inside > 0
        else f"line {error.line} of the text, before the target"
    )
    return f"{place}: {error.message[:MOST_OF_A_MESSAGE]}" + (
        f" ({error.rule})" if error.rule else ""
    )


def _told(counted: Sequence[str]) -> str | None:
    rest = len(counted) - TOLD
    return (
        "\n".join(
            [*counted[:TOLD], *([f"and {rest} more"] if rest > 0 else [])]
        )
        or None
    )


def installed_version(name: str) -> str | None:
    """The version of a distribution beside the analyzers; None if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def required_version(name: str) -> str:
    """The version of a tool. Raises DetectorError if it is missing."""
    version = installed_version(name)
    if version is None:
        raise DetectorError(f"{name} is not installed.", remedy=REMEDY)
    return version


def library_versions() -> dict[str, str]:
    """The installed versions of LIBRARIES, by distribution; those that are missing are left out."""
    return {
        name: version
        for name in LIBRARIES
        if (version := installed_version(name))
    }


@cache
def entries(tool: str) -> tuple[CountedRule, ...]:
    """The entries of a tool in the order of the file; the first that fits decides."""
    return tuple(
        CountedRule(**entry)
        for entry in tomllib.loads(FILE.read_text("utf-8"))[tool]
    )


def why_not(
    tool: str, rule: str, message: str, *, is_annotated: bool
) -> str | None:
    """Why an error does not count, None if it does."""
    # pyright writes no-break spaces into some messages: "Unindent\u00a0not expected".
    plain = message.replace("\N{NO-BREAK SPACE}", " ")
    for entry in entries(tool):
        fits = entry.rule in (None, rule) and (
            entry.message is None or re.search(entry.message, plain)
        )
        if fits and (is_annotated or not entry.only_annotated):
            return None if entry.counts else entry.reason
    raise ValueError(f"no entry of {FILE.name} decides about {tool}'s {rule}")

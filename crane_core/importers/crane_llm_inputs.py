"""The texts that CRANE-LLM showed to the language models: cells, prompts and runtime blocks.

Knows `llms_inputs/<setting>/<group>/<instance>.txt` of both published layouts. Refuses to know any answer.
"""

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from crane_core import domain
from crane_core.importers.filetree import FileTree
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.importers.reading import UnreadableFileError, read_text
from crane_core.prompts.published import InputText, parse_block, split_input


class InputFile(NamedTuple):
    """A published prompt body: its path, and of which instance and setting it is."""

    path: str
    instance_id: str
    setting: domain.Setting


def read_inputs(
    tree: FileTree, files: list[InputFile], origin: str
) -> Iterator[domain.Record]:
    """Prompts and states of all files, and the cells of each instance once, from its first file.

    A later file of the instance with other cells is a contradiction and is reported.
    """
    cells_of: dict[str, tuple[str, ...]] = {}
    for file in files:
        try:
            text = read_text(tree, file.path)
            parts = _split(file, text)
        except UnreadableFileError as error:
            yield error.problem
            continue
        yield _prompt(file, text, origin)
        # The cells of -RT and +RT are the same in all 222 pairs of files of October 2025, so they are stored once.
        yield from _cells_once(file, parts, origin, cells_of)
        if parts.block is not None:
            yield _state_or_problem(file, parts.block, origin)


def _split(file: InputFile, text: str) -> InputText:
    try:
        return split_input(text)
    except ValueError as error:
        raise UnreadableFileError(file.path, "file", str(error)) from error


def _prompt(file: InputFile, text: str, origin: str) -> domain.Prompt:
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    return domain.Prompt(
        benchmark=JUNOBENCH.benchmark,
        instance_id=file.instance_id,
        setting=file.setting,
        origin=origin,
        sha256=digest,
        text=text,
    )


def _cells_once(
    file: InputFile,
    parts: InputText,
    origin: str,
    cells_of: dict[str, tuple[str, ...]],
) -> Iterator[domain.Cell | domain.LoadProblem]:
    # The texts have no execution counts: their order is the order of execution.
    codes = (*parts.executed, parts.target)
    if file.instance_id not in cells_of:
        cells_of[file.instance_id] = codes
        for position, code in enumerate(codes):
            role = (
                domain.CellRole.TARGET
                if position == len(parts.executed)
                else domain.CellRole.EXECUTED
            )
            yield domain.Cell(
                benchmark=JUNOBENCH.benchmark,
                instance_id=file.instance_id,
                origin=origin,
                position=position,
                role=role,
                code=code,
            )
    elif cells_of[file.instance_id] != codes:
        reason = f"its cells differ from those of the text without runtime information of {file.instance_id}"
        yield domain.LoadProblem(
            file.path, "cells", reason, domain.ProblemKind.CONTRADICTION
        )


def _state_or_problem(
    file: InputFile, block: str, origin: str
) -> domain.KernelState | domain.LoadProblem:
    try:
        parsed = parse_block(block)
    except ValueError as error:
        return domain.LoadProblem(file.path, "runtime block", str(error))
    return domain.KernelState(
        benchmark=JUNOBENCH.benchmark,
        instance_id=file.instance_id,
        setting=file.setting,
        origin=origin,
        variables=parsed.variables,
        accesses=parsed.accesses,
        is_literal=parsed.is_literal,
    )

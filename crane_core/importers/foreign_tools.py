"""Files of other evaluation and labelling tools, distinguished by the members that only they write.

Knows the first record of a file. Refuses to read answers or labels out of it: which member is the answer differs from
one evaluation to the next, so that its owner has to say it.
"""

from enum import StrEnum
from typing import NamedTuple

from crane_core.errors import SourceError
from crane_core.importers.answer_maps.answer_map import ready_maps
from crane_core.importers.filetree import FileTree
from crane_core.importers.first_record import first_members
from crane_core.importers.label_maps.label_map import label_map_of
from crane_core.importers.mapped_answers import HOW_TO_MAP, knows
from crane_core.importers.prediction_rows import NEEDED

_PREDICTED = frozenset(NEEDED)


class Holds(StrEnum):
    """What a tool's file is about."""

    ANSWERS = "answers of models"
    LABELS = "labels of people"


class ForeignTool(NamedTuple):
    """A tool, and members that stand together in the first record of its files alone."""

    name: str
    holds: Holds
    marks: tuple[frozenset[str], ...]


def _tool(name: str, holds: Holds, *marks: str) -> ForeignTool:
    return ForeignTool(
        name, holds, tuple(frozenset(mark.split()) for mark in marks)
    )


_TOOLS = (_tool("HELM", Holds.ANSWERS, "adapter_spec request_states"),)
"""Known by name, without a mapping."""

_REMEDIES = {
    Holds.ANSWERS: (
        f"Write them as JSON lines or CSV with {', '.join(NEEDED)} (instance: a name such as pandas_1_reproduced;"
        f" crashes: true, false or empty), and import that file. Or map its members: {HOW_TO_MAP}"
    ),
    Holds.LABELS: (
        "Import them with `campaign labels NAME --file FILE --annotator WHO`; CSV needs the columns item and label, or"
        " their names: --item-column, --label-column, --map."
    ),
}


def refuse_foreign_file(tree: FileTree) -> None:
    """Raise SourceError, which says what to do, where the source is one file that another tool wrote."""
    if len(tree.paths) != 1:
        return
    [path] = tree.paths
    tool = foreign_tool(path, tree.read(path))
    if tool is not None:
        raise SourceError(
            f"{path} is an export of {tool.name}: {tool.holds}, in its own form.",
            remedy=remedy_of(tool),
        )


def remedy_of(tool: ForeignTool) -> str:
    """How its content can be brought here."""
    return _REMEDIES[tool.holds]


def foreign_tool(name: str, content: bytes) -> ForeignTool | None:
    """The tool that wrote a file of this name, as its first record shows; None where no tool is recognised."""
    members = first_members(name, content)
    if len(members & _PREDICTED) > 1:
        return None  # predictions in our own form, perhaps with a member forgotten: their importer says which
    for rules in ready_maps():
        if knows(rules, members):
            return ForeignTool(rules.tool, Holds.ANSWERS, rules.known_by)
    labels = label_map_of(name, content)
    if labels is not None:
        about = labels.about
        return ForeignTool(about.tool, Holds.LABELS, about.known_by)
    return next(
        (
            tool
            for tool in _TOOLS
            if any(members >= mark for mark in tool.marks)
        ),
        None,
    )

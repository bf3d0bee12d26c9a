"""Editions: another release of a source than the default keeps answers, labels and texts under its own names.

`crane-llm-2026@9a8b7c6` is what the release at commit 9a8b7c6 says, in the layout of 2026. Cases and instances are
shared: their ids mean the same notebooks in every release.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from crane_core.domain import Cell, Judgement, KernelState, Prompt, Record, Run
from crane_core.pipeline.loading.sources import StagedSource
from crane_core.releases import PUBLISHED, SHORT, Release, is_commit

_MARK = "@"


def edition_of(
    release: Release | None, sha256: str, sources: Iterable[StagedSource]
) -> str:
    """The edition that a source of this release is; "" for the default release and for what is not a release.

    Where no commit is the default one, it is the first that was imported. A release without a commit goes by its
    content.
    """
    if release is None:
        return ""
    edition = (release.commit or sha256)[:SHORT]
    default = PUBLISHED[release.name].default
    if is_commit(default):
        return "" if release.commit == default else edition
    others = [
        source
        for source in sources
        if source.release and source.release.name == release.name
    ]
    return edition if any(not source.edition for source in others) else ""


def in_edition(name: str, edition: str) -> str:
    """The name of an experiment or origin of that edition."""
    return f"{name}{_MARK}{edition}" if edition else name


def without_edition(name: str) -> tuple[str, str]:
    """The experiment or origin of the default release, and the edition, "" for the default."""
    plain, _, edition = name.partition(_MARK)
    return plain, edition


def filed(record: Record, edition: str) -> Record:
    """The record under the name of its edition; so are annotators, or their agreement would be over both releases."""
    match record:
        case Run() if edition:
            return replace(
                record, experiment=in_edition(record.experiment, edition)
            )
        case Judgement() if edition:
            experiment, annotator = (
                in_edition(record.experiment, edition),
                in_edition(record.annotator, edition),
            )
            return replace(record, experiment=experiment, annotator=annotator)
        case Cell() | KernelState() | Prompt() if edition:
            return replace(record, origin=in_edition(record.origin, edition))
        case _:
            return record


def rank(name: str, order: Sequence[str]) -> tuple[bool, int, str]:
    """A sort key: default releases in that order, then others, then editions."""
    plain, edition = without_edition(name)
    return (
        bool(edition),
        order.index(plain) if plain in order else len(order),
        name,
    )

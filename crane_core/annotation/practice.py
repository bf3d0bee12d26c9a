"""The practice round: diagnoses written for practice, with the guideline's labels. Nothing is stored."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import NamedTuple

from crane_core.domain import Label


class PracticeItem(NamedTuple):
    """A diagnosis of a minibench case: texts with their numbers of runs, the label they deserve, and why."""

    case_id: str
    texts: tuple[tuple[str, int], ...]
    label: Label
    why: str


def practice_items() -> list[PracticeItem]:
    """The ten of practice.toml, in its order."""
    entries = tomllib.loads(
        (files("crane_core.annotation") / "practice.toml").read_text("utf-8")
    )["items"]
    return [
        PracticeItem(
            entry["case"],
            tuple((text, n) for text, n in entry["texts"]),
            Label(entry["label"]),
            entry["why"],
        )
        for entry in entries
    ]

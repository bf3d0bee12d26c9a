"""The labels of a campaign as data: words, signs, keys, colours, credit, reasons. The study's three are the default.

Knows what a set is and what the study's is. Refuses to know files and what makes a set valid (`label_check`).
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any


class Scale(StrEnum):
    """ORDINAL: the labels stand from best to worst, and distances between them count. NOMINAL: they have no order."""

    ORDINAL = "ordinal"
    NOMINAL = "nominal"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a label was given: `code` is stored, `key` chooses it at the desk."""

    code: str
    words: str
    key: str


@dataclass(frozen=True, slots=True)
class LabelEntry:
    """One label: `code` is stored, everything else is shown or counted.

    colour and colour_dark: #rrggbb on a light and on a dark page. credit: how much of a correct diagnosis it is, 0..1;
    None if it does not count. reasons: codes of the reasons that may follow it. means: a sentence for the guideline.
    """

    code: str
    word: str
    sign: str
    key: str
    colour: str
    colour_dark: str
    credit: float | None = None
    reasons: tuple[str, ...] = ()
    means: str = ""

    @property
    def words(self) -> str:
        """Sign and word: "✓ correct"."""
        return f"{self.sign} {self.word}"


@dataclass(frozen=True, slots=True)
class LabelSet:
    """The labels in their order, and all reasons that any of them offers."""

    name: str
    scale: Scale
    labels: tuple[LabelEntry, ...]
    reasons: tuple[Reason, ...] = ()

    def __contains__(self, code: object) -> bool:
        return any(label.code == code for label in self.labels)

    @property
    def codes(self) -> tuple[str, ...]:
        """The stored codes in the set's order."""
        return tuple(label.code for label in self.labels)

    @property
    def is_ordinal(self) -> bool:
        """Whether the labels are ordered, so that weighted kappa and alpha apply."""
        return self.scale is Scale.ORDINAL

    @property
    def reason_words(self) -> dict[str, str]:
        """Code to words of every reason."""
        return {reason.code: reason.words for reason in self.reasons}

    def of(self, code: str) -> LabelEntry:
        """The label with this code. Raises KeyError."""
        found = next(
            (label for label in self.labels if label.code == code), None
        )
        if found is None:
            raise KeyError(code)
        return found

    @property
    def with_reasons(self) -> tuple[LabelEntry, ...]:
        """The labels that a reason may follow."""
        return tuple(label for label in self.labels if label.reasons)

    def listed(self) -> str:
        """The codes in a sentence: "correct, partial, wrong"."""
        return ", ".join(self.codes)


def label_set(body: Mapping[str, Any]) -> LabelSet:
    """The set of a document whose members are known to be there; see `label_check` for one that is not."""
    return LabelSet(
        name=body["name"],
        scale=Scale(body["scale"]),
        labels=tuple(
            LabelEntry(
                **entry
                | {
                    "reasons": tuple(entry.get("reasons", ())),
                    "credit": _credit(entry),
                }
            )
            for entry in body["labels"]
        ),
        reasons=tuple(Reason(**entry) for entry in body.get("reasons", ())),
    )


def _credit(entry: Mapping[str, Any]) -> float | None:
    credit = entry.get("credit")
    return None if credit is None else float(credit)


@cache
def study_labels() -> LabelSet:
    """The set of study_labels.toml."""
    return label_set(
        tomllib.loads(
            (files("crane_core.annotation") / "study_labels.toml").read_text(
                "utf-8"
            )
        )
    )


def means_the_study(labels: LabelSet) -> bool:
    """Whether these are the study's labels, whatever their words, keys and colours."""
    study = study_labels()
    return labels.scale is study.scale and _credits(labels) == _credits(study)


def same_meaning(one: LabelSet, other: LabelSet) -> bool:
    """Whether a label of one set can stand for that of the other: the same set, or both the study's."""
    return one == other or (means_the_study(one) and means_the_study(other))


def shares_with_study(labels: LabelSet) -> bool:
    """Whether any of the labels is one of the study's; only then has the set's credit the study's meaning."""
    return any(code in study_labels() for code in labels.codes)


def _credits(labels: LabelSet) -> tuple[tuple[str, float | None], ...]:
    return tuple((label.code, label.credit) for label in labels.labels)

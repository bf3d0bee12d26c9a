"""What a claim is about, as text: the column `of` of data/published/claims.csv. Knows its grammar, no numbers.

    rate=F1 score=end-to-end detector=gpt-5 from=code to=runtime

is one change. Alternatives (`|`) give one estimate each, joined values (`+`) are taken together: detectors as the mean
of their changes, groups as all of their notebooks. After `vs` is what the change is compared with, as far as it
differs. `from=none` leaves out the input before the change, so that the rate with the input `to` is meant. `each` are
the study's three LLMs, each on its own, `mean` their mean. Values with blanks are quoted.
"""

from __future__ import annotations

import shlex
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from crane_core.domain import Setting
from crane_core.pipeline.claims.changes import DetectorRate, Term
from crane_core.pipeline.study.table_scores import STUDY_LLMS

DEFAULTS = {
    "score": "end-to-end",
    "from": Setting.CODE.value,
    "to": Setting.RUNTIME.value,
}
GROUPS = ("library_group", "root_cause")
WORDS = {"each": "|".join(STUDY_LLMS), "mean": "+".join(STUDY_LLMS)}
VERSUS = "vs"
NONE = "none"

Fields = dict[str, str]


class Contrast(NamedTuple):
    """One estimate to make: its name, which tells what sets it apart, and its terms."""

    name: str
    terms: tuple[Term, ...]


def read_fields(of: str) -> Fields:
    """ "a=1 b='x y'" as a dictionary. Raises ValueError on anything else."""
    return dict(_pair(word) for word in shlex.split(of))


def _pair(word: str) -> tuple[str, str]:
    name, mark, value = word.partition("=")
    if not (name and mark and value):
        raise ValueError(f"{word!r} is not name=value")
    return name, value


def read_contrasts(of: str) -> list[Contrast]:
    """Every estimate that a text asks for, in its order. Raises ValueError."""
    words = shlex.split(of)
    cut = words.index(VERSUS) if VERSUS in words else len(words)
    left, right = (
        dict(_pair(word) for word in part) for part in (words[:cut], words[cut + 1 :])
    )
    found = []
    for fields in _alternatives(DEFAULTS | left):
        for others in _alternatives(right) if right else [None]:
            terms = _change(fields, Fraction(1))
            if others is not None:
                terms += _change(fields | others, Fraction(-1))
            name = _name(
                fields, [key for key, value in left.items() if "|" in _spelled(value)]
            )
            if others is not None:
                name += f" {VERSUS} {_name(others, list(others))}"
            found.append(Contrast(name.strip(), tuple(terms)))
    return found


def _spelled(value: str) -> str:
    return WORDS.get(value, value)


def _alternatives(fields: Fields) -> list[Fields]:
    choices = [_spelled(value).split("|") for value in fields.values()]
    return [dict(zip(fields, chosen, strict=True)) for chosen in product(*choices)]


def _name(fields: Fields, keys: list[str]) -> str:
    values = (
        "mean of LLMs" if fields[key] == WORDS["mean"] else fields[key] for key in keys
    )
    return ", ".join(values)


def _change(fields: Fields, weight: Fraction) -> list[Term]:
    where = {name: tuple(fields[name].split("+")) for name in GROUPS if name in fields}
    detectors = fields["detector"].split("+")
    terms = []
    for detector in detectors:
        for setting, sign in ((fields["from"], -1), (fields["to"], 1)):
            if setting == NONE:
                continue
            rate = DetectorRate(
                fields["rate"], fields["score"], detector, Setting(setting), where
            )
            terms.append(Term(sign * weight / len(detectors), rate))
    return terms

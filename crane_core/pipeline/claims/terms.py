"""What a claim is about, as text: the column `of` of data/published/claims.csv. Knows its grammar, no numbers.

    rate=F1 score=end-to-end detector=gpt-5 from=code to=runtime

is one change. Alternatives (`|`) give one estimate each, joined values (`+`) are taken together: detectors as the mean
of their changes, groups as all of their notebooks. After `vs` is what the change is compared with, as far as it
differs. `from=none` leaves out the input before the change, so that the rate with the input `to` is meant. `each` are
the study's three LLMs, each on its own, `mean` their mean. Values with blanks are quoted.
"""

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
NAMES = {WORDS["mean"]: "mean of LLMs"}
VERSUS = "vs"
NONE = "none"

Fields = dict[str, str]


class Contrast(NamedTuple):
    """One estimate to make: its name, which tells what sets it apart, and its terms."""

    name: str
    terms: tuple[Term, ...]


def read_fields(of: str) -> Fields:
    """ "a=1 b='x y'" as a dictionary. Raises ValueError on anything else."""
    fields = {}
    for word in shlex.split(of):
        name, _, value = word.partition("=")
        if not (name and value):
            raise ValueError(f"{word!r} is not name=value")
        fields[name] = value
    return fields


def read_contrasts(of: str) -> list[Contrast]:
    """Every estimate that a text asks for, in its order. Raises ValueError."""
    left, _, right = of.partition(f" {VERSUS} ")
    mine, compared = read_fields(left), read_fields(right)
    varied = [
        key for key, value in mine.items() if "|" in WORDS.get(value, value)
    ]
    found = []
    for fields, others in product(
        _alternatives(DEFAULTS | mine), _alternatives(compared)
    ):
        name = _name(fields, varied)
        terms = _change(fields, Fraction(1))
        if others:
            name += f" {VERSUS} {_name(others, list(others))}"
            terms += _change(fields | others, Fraction(-1))
        found.append(Contrast(name.strip(), tuple(terms)))
    return found


def _alternatives(fields: Fields) -> list[Fields]:
    """Every choice of one alternative per field; of no field the one empty choice."""
    choices = [WORDS.get(value, value).split("|") for value in fields.values()]
    return [
        dict(zip(fields, chosen, strict=True)) for chosen in product(*choices)
    ]


def _name(fields: Fields, keys: list[str]) -> str:
    return ", ".join(NAMES.get(fields[key], fields[key]) for key in keys)


def _change(fields: Fields, weight: Fraction) -> list[Term]:
    where = {
        name: tuple(fields[name].split("+"))
        for name in GROUPS
        if name in fields
    }
    detectors = fields["detector"].split("+")
    signs = {fields["from"]: -1, fields["to"]: 1}
    signs.pop(NONE, None)
    terms = []
    for detector, (setting, sign) in product(detectors, signs.items()):
        rate = DetectorRate(
            name=fields["rate"],
            score=fields["score"],
            detector=detector,
            setting=Setting(setting),
            where=where,
        )
        terms.append(Term(sign * weight / len(detectors), rate))
    return terms

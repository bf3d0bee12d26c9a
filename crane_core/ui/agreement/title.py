"""The title of Agreement: whether the chosen annotators agree more often than by chance. Knows no widget."""

from collections.abc import Sequence
from typing import Any

from crane_core.pipeline.agreement.agreement import MIN_COMMON_WHEN_BLIND
from crane_core.pipeline.campaigns.label_frame import LabellerKind
from crane_core.stats.agreement import Why
from crane_core.stats.agreement_reading import AgainstChance, against_chance
from crane_core.ui import words

PAGE = "Agreement"
NOBODY = "Agreement needs two annotators"
SLIGHT = 0.2
"""Below it a coefficient is little more than chance: the slight agreement of Landis and Koch (1977)."""
MOST_NAMED = 32
"""Letters of all names together that a title has room for; of longer ones the kinds stand there."""
UNNAMED = (A_PERSON, A_JUDGE) = ("a person", "an LLM judge")
SHORT = {"Cohen's kappa": "kappa"}
"""Coefficients whose whole name a title has no room for; of Krippendorff's alpha the level is left out."""


def agreement_title(
    row: dict[str, Any],
    subject: str,
    noun: str,
    agreed: float | None = None,
) -> str:
    """The sentence of the headline's coefficient; row: of `agreement_table`, over one item or more.

    agreed: the share on which two annotators agree; None of more of them.
    """
    name = _short(row["coefficient"])
    said = f"{name} {words.coefficient(row['value'])}"
    bounds = f"(95% {words.coefficient_interval(row['low'], row['high'])})"
    is_full = row["value"] is not None and row["value"] > 1 - 1e-9
    everything = f"all {words.count(row['n'])} {noun}"
    first = _begins(subject)
    little = "little " if (row["value"] or 0) < SLIGHT else ""
    on = "" if agreed is None else f" on {words.percent(agreed)},"
    match against_chance(row["value"], row["low"], row["high"]):
        case AgainstChance.MORE:
            return f"{first} agree{on} {little}more often than by chance: {said} {bounds}"
        case AgainstChance.LESS:
            return (
                f"{first} agree{on} less often than by chance: {said} {bounds}"
            )
        case AgainstChance.NO_EVIDENCE:
            return f"No evidence that {subject} agree more often than by chance: {said} {bounds}"
        case AgainstChance.NO_INTERVAL if is_full:
            return f"{first} agree on {everything}; too few for an interval of {name}"
        case AgainstChance.NO_INTERVAL:
            return f"Too few cases to compare {subject} with chance: {said}, {words.count(row['n'])} {noun}"
        case _ if row["why"] == Why.NO_VARIATION:
            return (
                f"{first} give {everything} one label, so {name} is not defined"
            )
        case _:
            return f"{words.sentence_case(name)} of {subject} is not defined: {row['why']}"


def nothing_title(subject: str, noun: str) -> str:
    """Where no item has labels of two of them."""
    return f"{_begins(subject)} have none of the {noun} in common"


def withheld_title(n: int, noun: str) -> str:
    """Where totals would reveal single labels of a campaign that is not locked."""
    return f"{words.count(n)} {noun} in common: totals appear from {MIN_COMMON_WHEN_BLIND} on"


def subject_words(names: Sequence[str], kinds: Sequence[str]) -> str:
    """The annotators within a sentence: their names where they are short, else what they are.

    Annotators of one campaign ("pilot: ana") are named without it.
    """
    campaigns = {name.partition(": ")[0] for name in names}
    if len(campaigns) == 1:
        names = [name.partition(": ")[2] or name for name in names]
    if len(names) == 2 and sum(map(len, names)) <= MOST_NAMED:
        return words.listed(names)
    n_judges = sum(kind == LabellerKind.JUDGE for kind in kinds)
    n_people = len(kinds) - n_judges
    groups = []
    if n_people:
        groups.append(A_PERSON if n_people == 1 else f"{n_people} people")
    if n_judges:
        groups.append(
            A_JUDGE if n_judges == 1 else f"{n_judges} passes of LLM judges"
        )
    return words.listed(groups)


def _short(name: str) -> str:
    return SHORT.get(name, name.partition(",")[0])


def _begins(subject: str) -> str:
    """The subject as a title begins with it; the name of a campaign or a person stays as they write it."""
    return (
        words.sentence_case(subject) if subject.startswith(UNNAMED) else subject
    )

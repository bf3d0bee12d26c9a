"""What a phrase such as "torch missed by GPT-5" asks of the list of cases, as the list's filters.

Knows the words of the filters. One word that is not understood makes the whole phrase unknown: half an answer would
look like a whole one.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crane_core.pipeline.cases.pairs import Pattern
from crane_core.ui import keys

FILLERS = frozenset(
    {
        "a", "all", "and", "by", "case", "cases", "crash", "crashes", "for", "from", "in", "of", "on", "the", "which",
        "with",
    }
)  # fmt: skip
"""Words between the values of filters that change nothing."""
PATTERN_WORDS = {
    "missed": Pattern.MISSED,
    "missed by all": Pattern.MISSED,
    "false alarm": Pattern.ALARM,
    "false alarms": Pattern.ALARM,
    "wrong reason": Pattern.WRONG_REASON,
    "right call, wrong reason": Pattern.WRONG_REASON,
    "models disagree": Pattern.DIFFER,
    "unstable": Pattern.FLIP,
    "rt helped": Pattern.HELPED,
    "helped": Pattern.HELPED,
    "rt hurt": Pattern.HURT,
    "hurt": Pattern.HURT,
}


class FilterValue(NamedTuple):
    """One value of a filter: the filter's name in the address, the value there, how people read and may write it."""

    key: str
    value: str
    words: str
    spellings: tuple[str, ...] = ()


Vocabulary = Mapping[str, FilterValue]
"""What people may write, in lower case, to the filter's value that it means."""


class Phrase(NamedTuple):
    """What was understood: the filters, and the same in words."""

    query: dict[str, str | list[str]]
    words: str


def vocabulary(values: Sequence[FilterValue]) -> dict[str, FilterValue]:
    """The words for these values and for the patterns; of two values with the same words the first counts."""
    known = {
        words: FilterValue(keys.AGREEMENT, str(pattern), str(pattern))
        for words, pattern in PATTERN_WORDS.items()
    }
    for one in values:
        for words in (one.words, one.value, *one.spellings):
            if words:
                known.setdefault(words.lower(), one)
    return known


def understood(text: str, known: Vocabulary) -> Phrase | None:
    """The filters that the whole text names; None if a word of it is not known, or none is."""
    words = re.findall(r"[^\s,;]+", text.lower())
    longest = max((len(key.split()) for key in known), default=0)
    found: list[FilterValue] = []
    while words:
        # The longest first: "data confusion" before a value "data".
        sizes = range(min(longest, len(words)), 0, -1)
        size = next((n for n in sizes if " ".join(words[:n]) in known), 0)
        if size:
            found.append(known[" ".join(words[:size])])
        elif words[0] not in FILLERS:
            return None
        words = words[max(size, 1) :]
    return _phrase(found) if found else None


def _phrase(found: Sequence[FilterValue]) -> Phrase:
    query: dict[str, str | list[str]] = {}
    for one in found:
        if one.key == keys.AGREEMENT:
            query[one.key] = one.value
            continue
        values = query.setdefault(one.key, [])
        if isinstance(values, list) and one.value not in values:
            values.append(one.value)
    return Phrase(query, _in_words(found))


def _in_words(found: Sequence[FilterValue]) -> str:
    """As the list of cases counts them: the patterns are those of the chosen answers alone."""
    of_answers = (keys.DETECTOR, keys.SETTING)
    patterns = [one.words for one in found if one.key == keys.AGREEMENT]
    answers = dict.fromkeys(one.words for one in found if one.key in of_answers)
    labels = dict.fromkeys(
        one.words
        for one in found
        if one.key not in (keys.AGREEMENT, *of_answers)
    )
    counted = [f"answers of {', '.join(answers)}"] if answers else []
    return " · ".join([*labels, *patterns[-1:], *counted])

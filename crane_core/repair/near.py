"""Which of the known labels a wrong one was meant to be: few, and none where two could be meant.

Knows what people mistype. Refuses what only looks alike: `x_2` is not `x_1`, `max_temp` not `min_temp`.
"""

import re
from collections.abc import Iterable

_PART = re.compile(r"\d+|[^\W\d_]+")
# In short words one other letter is another word: `sum` and `num`, `row` and `col`.
_SHORTEST, _LONG = 4, 8
_REPLACED = 6
"""From so many letters on, one of them may be another: below, `test` and `text`, `cost` and `coat` are two words."""


def meant(wrong: str, known: Iterable[str]) -> str | None:
    """The one known label that is near; None if there is none, or more than one."""
    labels = dict.fromkeys(known)
    others = [label for label in labels if label != wrong]
    # "Price " for "price" is what most missing columns are, so spelling counts only after it.
    letters = _letters(wrong)
    found = [label for label in others if _letters(label) == letters]
    if not found:
        found = [label for label in others if _is_misspelt(wrong, label)]
    if len(found) != 1:
        return None
    return found[0]


def _letters(label: str) -> str:
    """Letters and digits alone, of one case; the label itself where it has none."""
    kept = filter(str.isalnum, label.casefold())
    return "".join(kept) or label


def _is_misspelt(wrong: str, label: str) -> bool:
    """Whether every part is the same but for a letter or two; numbers are, always."""
    ours = _PART.findall(wrong.casefold())
    theirs = _PART.findall(label.casefold())
    if not ours or len(ours) != len(theirs):
        return False
    for one, other in zip(ours, theirs, strict=True):
        is_same = one == other
        if not is_same and not _is_typo(one, other):
            return False
    return True


def _is_typo(one: str, other: str) -> bool:
    shorter = min(len(one), len(other))
    if shorter < _SHORTEST or one.isdigit():
        return False
    # People rarely miss the first letter, by which `increase` and `decrease` differ.
    if one[0] != other[0]:
        return False
    has_same_length = len(one) == len(other)
    is_replaced = has_same_length and sorted(one) != sorted(other)
    if is_replaced and shorter < _REPLACED:
        return False
    most = 2 if shorter >= _LONG else 1
    return _distance(one, other) <= most


def _distance(one: str, other: str) -> int:
    """Letters that are added, left out, replaced, or exchanged with their neighbour (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        two_ago = before
        before = row
        row = [i]
        for j, theirs in enumerate(other, start=1):
            is_other = letter != theirs
            cost = min(
                before[j] + 1,
                row[j - 1] + 1,
                before[j - 1] + is_other,
            )
            if i > 1 and j > 1:
                exchanged = theirs + other[j - 2]
                if one[i - 2 : i] == exchanged:
                    cost = min(cost, two_ago[j - 2] + 1)
            row.append(cost)
    return row[-1]

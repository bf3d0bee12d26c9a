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
    others = [label for label in dict.fromkeys(known) if label != wrong]
    # "Price " for "price" is what most missing columns are, so spelling counts only after it.
    same = [label for label in others if _letters(label) == _letters(wrong)]
    found = same or [label for label in others if _is_misspelt(wrong, label)]
    return found[0] if len(found) == 1 else None


def _letters(label: str) -> str:
    """Letters and digits alone, of one case; the label itself where it has none."""
    return "".join(filter(str.isalnum, label.casefold())) or label


def _is_misspelt(wrong: str, label: str) -> bool:
    """Whether every part is the same but for a letter or two; numbers are, always."""
    ours, theirs = (_PART.findall(each.casefold()) for each in (wrong, label))
    pairs = list(zip(ours, theirs, strict=False))
    return len(ours) == len(theirs) > 0 and all(
        one == other or _is_typo(one, other) for one, other in pairs
    )


def _is_typo(one: str, other: str) -> bool:
    shorter = min(len(one), len(other))
    # People rarely miss the first letter, by which `increase` and `decrease` differ.
    if shorter < _SHORTEST or one.isdigit() or one[0] != other[0]:
        return False
    is_replaced = len(one) == len(other) and sorted(one) != sorted(other)
    if is_replaced and shorter < _REPLACED:
        return False
    return _distance(one, other) <= (2 if shorter >= _LONG else 1)


def _distance(one: str, other: str) -> int:
    """Letters that are added, left out, replaced, or exchanged with their neighbour (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        last, row, two_ago = row, [i], before
        for j, theirs in enumerate(other, start=1):
            cost = min(
                last[j] + 1,
                row[j - 1] + 1,
                last[j - 1] + (letter != theirs),
            )
            is_exchange = (
                i > 1
                and j > 1
                and letter == other[j - 2]
                and one[i - 2] == theirs
            )
            row.append(min(cost, two_ago[j - 2] + 1) if is_exchange else cost)
        before = last
    return row[-1]

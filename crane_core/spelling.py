"""What a mistyped word was meant to be: the nearest of the known ones.

Knows spelling only; who prints the suggestion says what the word was for.
"""

from collections.abc import Iterable

LIKE = 0.75
"""`chek` and `gaurd` are nearer than that to `check` and `guard`; with difflib's own 0.6, `dream` was `rename`."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is nearest to this one, whatever its case; None if none is near."""
    import difflib  # only who mistyped pays for it

    by_lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(
        word.lower(), list(by_lower), n=1, cutoff=LIKE
    )
    return by_lower[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean X?`, to stand behind what is wrong; empty if no known word is near."""
    found = nearest(word, known)
    return f"; did you mean {found}?" if found else ""

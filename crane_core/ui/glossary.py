"""The words that mean something of their own here, each with one sentence; the same for the menu bar and for hovers."""

import re
from collections.abc import Callable
from html import escape

TERMS = {
    "−RT": "Code only: the detector reads the executed cells and the target cell.",
    "+RT": "With runtime state: the detector also reads what the live kernel holds.",
    "S": "Structure: shapes, sizes and counts of the variables.",
    "R": "Representation: types, dtypes and column names.",
    "V": "Values: contents of variables and the state of objects.",
    "target cell": "The cell that is about to run.",
    "answer": "What a detector says about one notebook when asked once. The study asks each question five times.",
    "run": "A job: one detector with one input answers every notebook of a benchmark.",
    "vote": "The majority vote: a crash is predicted if more than half of the answers say so.",
    "strict": "A crash counts as detected only if the diagnosis is correct, too.",
    "half credit": "As strict, but a partly correct diagnosis counts one half.",
    "detection only": "A crash counts as detected whatever the diagnosis says.",
    "rehearsal": "The target cell executed in a copy of the kernel, which is dropped. It predicts nothing.",
    "false alarm": "A crash predicted for a fixed notebook, which runs without one.",
    "pp": "Percentage points: the difference of two percentages.",
}
OF_INPUTS = ("−RT", "+RT", "S", "R", "V")
"""Terms that name what a detector was shown."""
_WRITTEN = {
    "−RT": r"−RT(?![−+]|\\\+)",
    "+RT": r"(?<![−+])\\?\+RT(?![−+]|\\\+)",
    "vote": r"majority of (?:\w+ )?answers",
    "strict": r"strict",
    "half credit": r"half credit",
    "detection only": r"detection (?:only|alone)",
}
"""How a sentence writes a term, as a pattern; Markdown may have a backslash before a sign."""
_TERM = re.compile(
    "|".join(
        rf"(?P<t{i}>(?<!\w){words}(?!\w))"
        for i, words in enumerate(_WRITTEN.values())
    ),
    re.I,
)


def explained(term: str, words: str | None = None) -> str:
    """The term (or `words` in its place) as HTML that says on hover and focus what it means."""
    return meant(words or term, TERMS[term])


def meant(words: str, meaning: str) -> str:
    """The words as HTML that says this on hover and focus."""
    return f'<abbr class="cw-term" tabindex="0" title="{escape(meaning)}">{escape(words)}</abbr>'


def with_terms(text: str) -> str:
    """Text or Markdown in which the first of each term says what it means; "<" and "&" of the text stay characters."""
    seen: set[str] = set()

    def mark(found: re.Match[str]) -> str:
        term = list(_WRITTEN)[int(str(found.lastgroup)[1:])]
        if term in seen:
            return found[0]
        seen.add(term)
        return explained(term, found[0].removeprefix("\\"))

    return _TERM.sub(mark, re.sub(r"\\?<", "&lt;", text.replace("&", "&amp;")))


def prose(draw: Callable[..., object], markdown: str, **looks: str) -> None:
    """Draw by `st.caption` or `st.markdown` what may hold terms: each says on hover and focus what it means."""
    draw(with_terms(markdown), unsafe_allow_html=True, **looks)

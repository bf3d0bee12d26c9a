"""Takes from a text the marks by which a reader recognises who wrote it: quotes, dashes, emphasis, lists, line breaks.

What the text says, and its length, stay: a model that writes long texts writes long texts here too.
"""

import re

_ALIKE = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‘’‚‛′", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
        "`": None,
    }
)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+", re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*+•‣◦▪]|\d{1,3}[.)])\s+", re.MULTILINE)
# Not the signs of Python: 2**3, **options.
_EMPHASIS = re.compile(
    r"(?<![\w*])(\*\*|\*)(?=[^\s*])(.+?)(?<=[^\s*])\1(?![\w*])"
)
_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)


def plain_text(text: str) -> str:
    """The text in one line, with straight quotes, short dashes, no Markdown, and a full stop at its end."""
    bare = _FENCE.sub("", text)
    bare = _ITEM.sub("", _HEADING.sub("", bare))
    bare = _EMPHASIS.sub(r"\2", bare).translate(_ALIKE)
    line = " ".join(bare.split())
    if not line or line.endswith((".", "!", "?")):
        return line
    return f"{line}."

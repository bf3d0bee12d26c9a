"""What a file is that should be a notebook and is none: a pointer, a conflict, a web page, half a file.

Knows the signs of each in its bytes, and what brings the notebook back. Refuses to repair anything.
"""

import json
import re
from typing import Any

NEWEST_FORMAT = 4
"""The major format of notebooks since 2015."""

_POINTER = b"version https://git-lfs.github.com/spec/"
_CONFLICT = re.compile(
    rb"^[ \t]*(?:<{7}|\|{7}|={7}|>{7})(?:[ \r]|$)", re.MULTILINE
)
"""In JSON no line begins so outside of quotes."""
_PAGE = re.compile(rb"\s*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-16, as PowerShell's `>` writes them."""
_PACKED = {b"PK\x03\x04": "a ZIP archive", b"\x1f\x8b": "a gzip file"}
_LITERALS = ("true", "false", "null")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

BY_HAND = "Correct it, or take an earlier version of the file."
_AGAIN = "Copy or download it again."
_EARLIER = "Take an earlier version of the file, or save the notebook again."


class UnreadableNotebookError(ValueError):
    """The message is the end of a sentence about the file; `remedy` says what brings the notebook back."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.remedy = remedy


def document_in(data: bytes) -> dict[str, Any]:
    """The JSON object of a notebook file. Raises UnreadableNotebookError, and RecursionError for deep nesting.

    Half a surrogate pair, which no encoding can write, becomes the replacement character, as browsers show it.
    """
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except ValueError as error:
        raise _named(data, error) from error
    if not isinstance(document, dict):
        raise UnreadableNotebookError(
            "it is JSON, but not a notebook",
            "Name an .ipynb file that Jupyter has saved.",
        )
    declared = document.get("nbformat", NEWEST_FORMAT)
    if isinstance(declared, int) and declared > NEWEST_FORMAT:
        raise UnreadableNotebookError(
            f"its format {declared:.3g} is newer than {NEWEST_FORMAT}, the newest one known here",
            f"Save it in format {NEWEST_FORMAT} with the program that wrote it.",
        )
    return _writable(document)


def _writable(document: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(document, ensure_ascii=False)
    if _LONE_SURROGATE.search(text) is None:
        return document
    # One emoji that was cut in a saved output must not refuse the whole notebook.
    kept: dict[str, Any] = json.loads(_LONE_SURROGATE.sub("\ufffd", text))
    return kept


def _named(data: bytes, error: ValueError) -> UnreadableNotebookError:
    """What the bytes are instead of JSON, the surest sign first."""
    if not data.strip():
        return UnreadableNotebookError("it is empty", _EARLIER)
    if data.startswith(_POINTER):
        return UnreadableNotebookError(
            "it is a Git LFS pointer, not the notebook that it stands for",
            "Fetch the notebook: `git lfs pull`.",
        )
    if conflict := _CONFLICT.search(data):
        line = data.count(b"\n", 0, conflict.start()) + 1
        return UnreadableNotebookError(
            f"it has an unresolved merge conflict in line {line:,}",
            "Resolve it, for example with `nbdime mergetool`, or take one side: `git checkout --ours FILE`.",
        )
    if _PAGE.match(data):
        return UnreadableNotebookError(
            "it is a web page, such as one for logging in or downloading",
            "Download the notebook itself, as the raw file.",
        )
    if isinstance(error, json.JSONDecodeError):
        return _broken(error)
    return _not_text(data)


def _not_text(data: bytes) -> UnreadableNotebookError:
    if data.startswith(_WIDE):
        return UnreadableNotebookError(
            "it is text in UTF-16, not in UTF-8", "Save it in UTF-8."
        )
    for start, what in _PACKED.items():
        if data.startswith(start):
            return UnreadableNotebookError(f"it is {what}", "Unpack it.")
    return UnreadableNotebookError("it is not JSON in UTF-8", _AGAIN)


def _broken(error: json.JSONDecodeError) -> UnreadableNotebookError:
    """Text that JSON refuses: because it ends too early, or at a line."""
    rest = error.doc[error.pos :].strip()
    is_half_a_word = any(word.startswith(rest) for word in _LITERALS)
    is_half_an_escape = "escape" in error.msg and len(rest) <= len(r"\uFFFF")
    is_cut = (
        is_half_a_word
        or is_half_an_escape
        # Only the end of the file ends a string so: a line end in one is another error.
        or error.msg.startswith("Unterminated string")
    )
    if is_cut:
        n_lines = error.doc.count("\n") + 1
        return UnreadableNotebookError(
            f"it ends too early, in line {n_lines:,}: the file is truncated",
            _AGAIN,
        )
    return UnreadableNotebookError(
        f"it is not JSON: {error.msg} in line {error.lineno:,}, column {error.colno:,}",
        BY_HAND,
    )

"""Two devices of one person write a note on the same item: both texts are kept."""

from __future__ import annotations


def merged_note(stored: str, before: str, written: str) -> str:
    """The note to store where a device changed the note `before` to `written`, and `stored` is what is there now.

    The same as `written` if the device knew the stored note. Otherwise the other device's text stays, and what this
    device wrote follows in a separate paragraph; a text that it removed without having seen the whole note
    stays as well, because another device's words are not removed unread.
    """
    if stored in ("", before, written):
        return written
    # This device wrote the last paragraph itself, and edits it now.
    others = (
        stored.removesuffix(before).rstrip()
        if before and stored.endswith(f"\n{before}")
        else stored
    )
    if not written or written in others.split("\n"):
        return others
    return f"{others}\n{written}"

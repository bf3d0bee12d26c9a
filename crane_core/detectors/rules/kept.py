"""What was found out of the first cells of a notebook, kept for the next target of the same notebook.

Knows texts and their order. Refuses to know what is kept: the caller must not change it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from hashlib import blake2b
from threading import Lock
from typing import Generic, TypeVar

_T = TypeVar("_T")
_Key = tuple[Hashable, int, bytes]


class Kept(Generic[_T]):
    """Values by a sequence of texts, the ones used last; `about` is what else a value depends on."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._values: OrderedDict[_Key, _T] = OrderedDict()

    def longest(self, texts: Sequence[str], about: Hashable = ()) -> tuple[int, _T | None]:
        """The value of the most of the first texts that is known, and of how many it is."""
        with self._lock:
            for key in reversed(list(_keys(texts, about))):
                if key in self._values:
                    self._values.move_to_end(key)
                    return key[1], self._values[key]
        return 0, None

    def keep(self, texts: Sequence[str], value: _T, about: Hashable = ()) -> None:
        *_, key = _keys(texts, about)
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)


def _keys(texts: Sequence[str], about: Hashable) -> Iterator[_Key]:
    """One key for none of the texts, one for the first, and so on."""
    digest = blake2b(digest_size=16)
    yield about, 0, digest.digest()
    for n_texts, text in enumerate(texts, start=1):
        code = text.encode("utf-8", "surrogatepass")
        digest.update(len(code).to_bytes(8, "big") + code)
        yield about, n_texts, digest.digest()

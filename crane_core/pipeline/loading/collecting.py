"""Python's cyclic garbage collector, held back while a source becomes records and rows.

An import makes a hundred thousand records that all live until they are written, and no cycles: each pass of the
collector visits them all and frees nothing, which took a third of the import's time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """No automatic collection in this process until the body ends; where it was off already, it stays so."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

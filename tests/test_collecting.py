"""The garbage collector rests while a source is loaded, and works afterwards as before."""

from __future__ import annotations

import gc

import pytest

from crane_core.pipeline.loading.load import collection_paused


@collection_paused()
def broken() -> None:
    raise ValueError("on" if gc.isenabled() else "off")


def test_it_rests_inside_and_works_again_after_an_error() -> None:
    with pytest.raises(ValueError, match="off"):
        broken()
    assert gc.isenabled()


def test_what_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collection_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()

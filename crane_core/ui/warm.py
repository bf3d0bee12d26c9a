"""Does beside the server's start what visitors would wait for: imports, and what pages compute once.

Knows which pages exist and what they show first. Stores nothing itself: the caches of the pages do. Overview comes
first, while the first browser loads its scripts; the rest waits until that visit has its page, or no visitor came.
"""

import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from threading import Event, Thread

from streamlit.logger import get_logger

from crane_core.errors import CraneError
from crane_core.pipeline.maintenance import publishing
from crane_core.replica import writer
from crane_core.storage.store import DatabaseError
from crane_core.ui import first_visit
from crane_core.ui.navigation import page_files

_LOG = logging.getLogger(__name__)
_OF_STREAMLIT = (
    "scriptrunner_utils.script_run_context",
    "caching.cache_data_api",
    "caching.cache_resource_api",
)
"""Loggers of streamlit.runtime that warn of work outside of a visit."""


_PATIENCE_S = 5.0
"""How long the rest waits for a first visitor."""


def begin(patience_s: float = _PATIENCE_S) -> Thread:
    """Keep the copy for replicas, on request, and warm up in the thread returned, while the server runs."""
    every_s = publishing.interval_s()
    if every_s and not writer():
        _publish(every_s)
    thread = Thread(
        target=_warm_up, args=(patience_s,), name="warm-up", daemon=True
    )
    thread.start()
    return thread


def _publish(every_s: float) -> None:
    from crane_core.ui import data

    with _quietly():
        publishing.publish_regularly(
            data.store(), data.folder(), every_s, Event()
        )


def _warm_up(patience_s: float) -> None:
    with _quietly():
        # Overview first: it is what the first visitor opens.
        _prepare_overview()
        for step in _other_steps():
            # Done at the same time, it would delay the page of a visitor.
            first_visit.wait_for_a_page(patience_s)
            step()


def load() -> None:
    """The frame of every page, which the server would import with a warning in the terminal for each cache."""
    with _quietly():
        import_module("crane_core.ui.frame")


def _prepare_overview() -> None:
    first_visit.import_modules(
        ["crane_core.ui.overview_view", "crane_core.ui.overview_example"]
    )
    from crane_core.ui.leaderboard_view import prepare_top
    from crane_core.ui.overview_example import prepare_example
    from crane_core.ui.overview_view import prepare_answer

    prepare_answer()
    prepare_top()
    inspect.stack()  # Streamlit asks for it in the first visit; looking through all modules takes 0.3 s once
    prepare_example()


@contextmanager
def _quietly() -> Iterator[None]:
    """Without Streamlit's warning for every cache that is filled outside of a visit; a refusal is logged."""
    loggers = [
        get_logger(f"streamlit.runtime.{name}") for name in _OF_STREAMLIT
    ]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    except (CraneError, DatabaseError) as error:
        _LOG.warning("Not warmed up, the pages will say why: %s", error)
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def imported_by_pages() -> list[str]:
    """The modules of ours that the page files import, in menu order."""
    return list(
        dict.fromkeys(
            name
            for page in page_files()
            for name in first_visit.imported_by(page)
        )
    )


def _other_steps() -> Iterator[Callable[[], object]]:
    """In small steps, each of which a visitor may have to wait for."""
    for name in (
        *imported_by_pages(),
        "crane_core.detectors.registry",
        "crane_core.ui.agreement.computed",
    ):
        yield partial(first_visit.import_modules, [name])
    from crane_core.detectors.registry import local_detectors
    from crane_core.ui import data
    from crane_core.ui.agreement.computed import prepare_usual
    from crane_core.ui.bar.index import prepare_answers
    from crane_core.ui.case_filters import prepare_counts
    from crane_core.ui.drops_view import prepare_drops
    from crane_core.ui.specification_view import prepare_caveat
    from crane_core.ui.trial.asking import prepare_price

    # In the order of the menu, on which Cases comes first.
    yield data.run_list
    yield prepare_counts
    yield prepare_answers
    yield prepare_caveat
    yield local_detectors
    yield prepare_usual
    yield prepare_drops
    yield prepare_price

"""Does beside the server's start what visitors would wait for: imports, and what pages compute once.

Knows which pages exist and what they show first. Stores nothing itself: the caches of the pages do. Overview comes
first, while the first browser loads its scripts; the rest waits until that visit has its page, or no visitor came.
"""

import inspect
import logging
from collections.abc import Iterator
from contextlib import contextmanager
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
        # Done at the same time, the rest would delay the first visitor's page.
        first_visit.wait_for_a_page(patience_s)
        first_visit.import_modules(imported_by_pages())
        _prepare_others()


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


def _prepare_others() -> None:
    first_visit.import_modules(
        ["crane_core.detectors.registry", "crane_core.ui.agreement.computed"]
    )
    from crane_core.detectors.registry import local_detectors
    from crane_core.ui import data
    from crane_core.ui.agreement.computed import prepare_usual
    from crane_core.ui.bar.index import prepare_answers
    from crane_core.ui.case_filters import prepare_counts
    from crane_core.ui.drops_view import prepare_drops
    from crane_core.ui.specification_view import prepare_caveat
    from crane_core.ui.trial.asking import prepare_price

    data.run_list()
    # Cases is the first entry of the menu.
    prepare_counts()
    prepare_answers()
    prepare_caveat()
    local_detectors()
    prepare_usual()
    prepare_drops()
    prepare_price()

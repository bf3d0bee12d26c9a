"""Does what the first visitor would wait for while the server comes up: imports, and what the pages compute once.

Knows which pages there are and what stands first on them. It keeps nothing itself: the caches of the pages do.
"""

from __future__ import annotations

import ast
import logging
from importlib import import_module
from threading import Thread

from crane_core.errors import CraneError
from crane_core.storage.store import DatabaseError
from crane_core.ui.navigation import page_files

_LOG = logging.getLogger(__name__)
_OF_STREAMLIT = logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context")


def begin() -> Thread:
    """Warm up beside the server, in a thread that ends with the process."""
    thread = Thread(target=warm_up, name="warm-up", daemon=True)
    thread.start()
    return thread


def warm_up() -> None:
    """Overview first, as it is the page that people open; then what the other pages begin with."""
    before = _OF_STREAMLIT.level
    _OF_STREAMLIT.setLevel(logging.ERROR)  # it warns of every cache that is filled outside of a visit, as here
    try:
        from crane_core.ui.overview_example import prepare_example
        from crane_core.ui.overview_view import prepare_answer

        prepare_answer()
        prepare_example()
        for module in imported_by_pages():
            import_module(module)
        _prepare_others()
    except (CraneError, DatabaseError) as error:
        _LOG.warning("Not warmed up, the pages will say why: %s", error)
    finally:
        _OF_STREAMLIT.setLevel(before)


def imported_by_pages() -> list[str]:
    """The modules of ours that the page files import, in menu order."""
    steps = (step for file in page_files().values() for step in ast.parse(file.read_text("utf-8")).body)
    found = [step.module for step in steps if isinstance(step, ast.ImportFrom) and step.module]
    return list(dict.fromkeys(name for name in found if name.startswith("crane_core.")))


def _prepare_others() -> None:
    from crane_core.detectors.registry import local_detectors
    from crane_core.ui import data
    from crane_core.ui.agreement.computed import prepare_usual

    data.run_list()
    local_detectors()
    prepare_usual()

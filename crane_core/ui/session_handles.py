"""Releases what the sessions of closed tabs hold open.

Each Streamlit session owns an event loop, which is three open files, until it is collected as garbage: for two minutes
in case its browser comes back, and for an unknown time after. A system that allows 256 open files refused the 80th
visitor. No page uses the loop between two runs, so it is closed with the connection, and a session that comes back gets
a new one. Knows two private attributes of Streamlit's AppSession, which no public interface shows.
"""

from __future__ import annotations

import asyncio
from weakref import WeakSet

from streamlit.runtime import exists, get_instance
from streamlit.runtime.app_session import AppSession

_known: WeakSet[AppSession] = WeakSet()
"""Sessions that were seen here: Streamlit forgets those that do not come back, while something may still hold them."""


def release_handles() -> None:
    """Close the loops of sessions without a connection, and renew those of sessions that are back.

    Called on the server's event loop. A session whose page is still being drawn waits for the next call.
    """
    if not exists():
        return
    manager = get_instance()._session_mgr
    _known.update(info.session for info in manager.list_sessions())
    for session in list(_known):
        is_connected = manager.is_active_session(session.id)
        is_drawing = session._scriptrunner is not None
        loop = session._script_event_loop
        if is_connected and loop.is_closed():
            session._script_event_loop = asyncio.new_event_loop()
        elif not is_connected and not is_drawing and not loop.is_running():
            loop.close()

"""Whether this process is a replica: it shows a copy of another process's database, and all access is read-only.

CRANE_REPLICA_OF holds the address of the app that writes. Refuses to know what is copied, and how.
"""

import os

from crane_core.errors import StoreError

VARIABLE = "CRANE_REPLICA_OF"


def writer() -> str | None:
    """The address of the app that writes, without a trailing slash; None where this process is not a replica."""
    return os.environ.get(VARIABLE, "").rstrip("/") or None


def refuse_on_replica() -> None:
    """Raises StoreError in a replica, before anything is written to the data folder that it shares."""
    if there := writer():
        raise StoreError(
            "This is a read-only copy; nothing was changed.",
            remedy=f"Do it at {there}.",
        )

"""Exceptions that a copy of the kernel may raise where the kernel itself would not: none is reported as a crash.

Knows what a copy lacks: memory, files to write, connections, programs, threads, a GPU. When in doubt, it doubts.
"""

from __future__ import annotations

# These say what the name of a file leads to, which is the same in the copy.
_SURE_OS_ERRORS = (
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    FileExistsError,
)
# Raised by Python from the values alone: words such as "memory" in their messages mean nothing.
_SURE = (
    LookupError,
    NameError,
    AttributeError,
    TypeError,
    ZeroDivisionError,
    SyntaxError,
    AssertionError,
)
_TALKERS = (
    "sqlite3 socket ssl http urllib urllib3 requests httpx aiohttp zmq psycopg2 psycopg pymysql MySQLdb sqlalchemy"
    " pymongo redis botocore boto3 google azure paramiko multiprocessing concurrent joblib subprocess ray dask"
    " distributed pyspark py4j duckdb huggingface_hub kaggle wandb mlflow asyncio psutil"
)
"""Packages that talk to a service, or to another process."""
_PARTNERS = frozenset(_TALKERS.split())
# RuntimeError of torch and TensorFlow name what failed in their message alone.
_WORDS = "cuda gpu fork thread memory alloc worker daemon socket connection network permission readonly stdin"
_PHRASES = (
    *_WORDS.split(),
    "timed out",
    "read-only",
    "read only",
    "no space",
    "be opened",
    "not open",
    "to open",
)
_DEEPEST = 20


def doubt(error: BaseException) -> str | None:
    """Why the exception may be the copy's alone, None where it cannot be."""
    # Cycles of causes can be made by hand, and `in` would call the notebook's own __eq__.
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while (
        cause is not None
        and len(seen) < _DEEPEST
        and all(cause is not one for one in seen)
    ):
        seen.append(cause)
        # A library wraps the refusal that it met: the doubtful one may be the cause of a KeyError.
        cause = cause.__cause__ or cause.__context__
    return next(
        (reason for reason in map(_doubt, seen) if reason is not None), None
    )


def _doubt(error: BaseException) -> str | None:
    name = type(error).__name__
    # By name: ipykernel is not there in every shell.
    if name == "StdinNotImplementedError":
        return "the cell waits for input"
    why = _lacking(error)
    return None if why is None else f"{name}: {why}"


def _lacking(error: BaseException) -> str | None:
    """What the copy may lack where this is raised."""
    if isinstance(error, MemoryError):
        return "the copy has less memory than the kernel"
    if isinstance(error, KeyboardInterrupt):
        return "the copy was interrupted"
    if isinstance(error, OSError) and not isinstance(error, _SURE_OS_ERRORS):
        return (
            "files, connections and programs of the kernel are not the copy's"
        )
    # EOFError is what reading from a pipe or socket that leads nowhere comes to.
    if isinstance(error, EOFError) or _is_of_a_partner(type(error)):
        return "connections and programs of the kernel are not the copy's"
    if isinstance(error, _SURE):
        return None
    message = _message(error)
    is_doubtful = any(phrase in message for phrase in _PHRASES)
    return "it may come from the copy's limits" if is_doubtful else None


def _is_of_a_partner(kind: type) -> bool:
    # Subclasses count: a notebook's own exception may inherit from one of requests.
    modules = [one.__module__ for one in kind.__mro__]
    tops = [name.partition(".")[0] for name in modules if type(name) is str]
    return not _PARTNERS.isdisjoint(tops)


def _message(error: BaseException) -> str:
    try:
        return str(error).lower()
    except Exception:  # noqa: BLE001 - the notebook's own __str__, in the copy
        return ""

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
    return next((reason for reason in map(_doubt, seen) if reason is not None), None)


def _doubt(error: BaseException) -> str | None:
    kind = type(error)
    name = kind.__name__
    if isinstance(error, MemoryError):
        return f"{name}: the copy has less memory than the kernel"
    # By name: ipykernel is not there in every shell.
    if name == "StdinNotImplementedError":
        return "the cell waits for input"
    if isinstance(error, KeyboardInterrupt):
        return f"{name}: the copy was interrupted"
    # Subclasses count: a notebook's own exception may inherit from one of requests.
    packages = {
        one.__module__.partition(".")[0]
        for one in kind.__mro__
        if type(one.__module__) is str
    }
    if isinstance(error, OSError) and not isinstance(error, _SURE_OS_ERRORS):
        return (
            f"{name}: files, connections and programs of the kernel are not the copy's"
        )
    # EOFError is what reading from a pipe or socket that leads nowhere comes to.
    if packages & _PARTNERS or isinstance(error, EOFError):
        return f"{name}: connections and programs of the kernel are not the copy's"
    if not isinstance(error, _SURE) and any(
        phrase in _message(error) for phrase in _PHRASES
    ):
        return f"{name}: it may come from the copy's limits"
    return None


def _message(error: BaseException) -> str:
    try:
        return str(error).lower()
    except Exception:  # noqa: BLE001 - the notebook's own __str__, in the copy
        return ""

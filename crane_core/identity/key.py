"""Keys that only the server reads: files of the data folder that only its owner can open.

The key that signs invitations and sessions is CRANE_SECRET, else such a file. Another key ends all sessions and
invitations: delete the file, or change the variable.

Sessions and logouts lie in such files, too, which the app, its replicas and commands change one at a time. Each is
replaced as a whole: a reader sees the old one or the new one.
"""

import fcntl
import json
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crane_core.errors import IdentityError

VARIABLE = "CRANE_SECRET"
FILE_NAME = "identity.key"
MIN_CHARACTERS = 32


def signing_key(
    folder: Path, environ: Mapping[str, str] | None = None
) -> bytes:
    """The key, created if there is none yet. Raises IdentityError if it is weak or others can read it."""
    given = (os.environ if environ is None else environ).get(VARIABLE, "")
    if given:
        if len(given) < MIN_CHARACTERS:
            raise IdentityError(
                f"{VARIABLE} has fewer than {MIN_CHARACTERS} characters.",
                remedy="Set a random one: `openssl rand -hex 32`, or remove it to use the key of the data folder.",
            )
        return given.encode()
    return kept_key(folder / FILE_NAME, ends="all sessions and invitations end")


def kept_key(path: Path, *, ends: str) -> bytes:
    """The key in a file of the data folder, created if there is none yet. Raises IdentityError.

    ends: what another key would end, in words.
    """
    if not path.exists():
        _make(path)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise IdentityError(
            f"{path.name} in the data folder can be read by others.",
            remedy=f"Delete it, so that a new key is made; {ends}.",
        )
    key = path.read_bytes()
    if len(key) < MIN_CHARACTERS:
        raise IdentityError(
            f"{path.name} in the data folder is damaged.",
            remedy="Delete it; a new key is made.",
        )
    return key


def _make(path: Path) -> None:
    """Write the key atomically: the file gets its name when it is complete, and the first one wins."""
    descriptor, name = tempfile.mkstemp(
        dir=path.parent, prefix=".identity-"
    )  # readable by its owner alone
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(32))
    try:
        os.link(name, path)
    except FileExistsError:
        return  # another process was first
    finally:
        Path(name).unlink()


@contextmanager
def held(folder: Path, name: str) -> Iterator[None]:
    """While the body runs, no other process changes the file."""
    handle = os.open(folder / f".{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def replace_file(folder: Path, name: str, document: Any) -> None:
    """Write the whole file, and return when it is on the disk."""
    descriptor, fresh = tempfile.mkstemp(
        dir=folder, prefix=".sessions-"
    )  # readable by its owner alone
    with os.fdopen(descriptor, "w") as file:
        json.dump(document, file)
        file.flush()
        os.fsync(file.fileno())
    Path(fresh).replace(folder / name)

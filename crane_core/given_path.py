"""Whether a typed path may be opened: an ordinary file or folder, or nothing yet.

A device or a pipe can be read without end, and /proc and /sys answer to being read.
"""

import stat
from collections.abc import Sequence
from pathlib import Path

from crane_core.errors import CraneError

OF_THE_KERNEL = ("/proc", "/sys")


def refusal(text: str) -> str | None:
    """Why not, as the end of a sentence; None if it may be opened."""
    if not text.strip():
        return "is empty"
    if "\0" in text:
        return "contains a NUL character"
    given = Path(text)
    try:
        real = given.resolve()
        is_special = (
            given.exists() and not given.is_file() and not given.is_dir()
        )
    except RuntimeError:
        return "is a link that leads to itself"
    except OSError as error:
        return f"cannot be opened: {error.strerror}"
    if any(real.is_relative_to(folder) for folder in OF_THE_KERNEL):
        return f"lies in {' or '.join(OF_THE_KERNEL)}, where the system shows itself, not files"
    return (
        "is a device, pipe or socket, not a file or folder"
        if is_special
        else None
    )


def special_files(folder: str, names: Sequence[str]) -> set[str]:
    """Those of the names that are devices, pipes or sockets; `shutil.copytree` takes it as `ignore`."""
    return {name for name in names if _is_special(Path(folder, name))}


def _is_special(path: Path) -> bool:
    mode = path.lstat().st_mode
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def read_given(path: Path, most_bytes: int) -> bytes:
    """The bytes of an ordinary file. Raises OSError, and ValueError in words where it is none or larger."""
    if why := refusal(str(path)):
        raise ValueError(f"it {why}")
    with path.open("rb") as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ValueError(f"it is larger than {most_bytes:,} bytes")
    return data


def read_given_text(
    path: Path, most_bytes: int, refused: type[CraneError], remedy: str
) -> str:
    """The text of an ordinary file in UTF-8. Raises `refused` with this remedy where it is none, or larger."""
    try:
        return read_given(path, most_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        why = f"it is not UTF-8 ({error.reason})"
        raise refused(
            f"{path} cannot be read: {why}.", remedy=remedy
        ) from error
    except OSError as error:
        raise refused(
            f"{path} cannot be read: {error.strerror}.", remedy=remedy
        ) from error
    except ValueError as error:
        raise refused(
            f"{path} cannot be read: {error}.", remedy=remedy
        ) from error

"""Running a foreign program over untrusted text: in its own folder, bounded, killed as a group.

Knows processes and limits. Refuses to know which tool it is, and hands it nothing of the user's environment.
"""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from crane_core.errors import DetectorError
from crane_core.helper_process import python, start

MIB = 2**20
_LIMITED = (
    "import ctypes, os, resource, signal, sys\n"
    "memory, output = int(sys.argv[1]), int(sys.argv[2])\n"
    "def bound(kind, most):\n"
    "    hard = resource.getrlimit(kind)[1]\n"
    # Only root may raise a hard limit, so one that is lower already stays.
    "    most = most if hard == resource.RLIM_INFINITY else min(most, hard)\n"
    "    resource.setrlimit(kind, (most, most))\n"
    "bound(resource.RLIMIT_DATA, memory)\n"
    "bound(resource.RLIMIT_FSIZE, output)\n"
    "bound(resource.RLIMIT_CORE, 0)\n"
    "if sys.platform == 'linux':\n"
    "    ctypes.CDLL(None).prctl(1, signal.SIGKILL)\n"
    "os.execv(sys.argv[3], sys.argv[3:])\n"
)
"""Sets the limits, asks to be killed when its parent process ends (PR_SET_PDEATHSIG), and becomes the tool.

Its own program, as code of ours between fork and exec could hang where threads run: in the app.
"""

_PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")


class ToolStoppedError(DetectorError):
    """A tool that said nothing usable of what it was given: too slow, too large, or broken by it."""


class ToolLimits(NamedTuple):
    """`seconds` is wall time of the whole run, `memory_bytes` the data of the process, `output_bytes` any one file."""

    seconds: float
    memory_bytes: int = 6 * 1024 * MIB
    output_bytes: int = 64 * MIB


def run_tool(
    name: str,
    command: Sequence[str],
    folder: Path,
    limits: ToolLimits,
    *,
    accepted: Sequence[int] | None = None,
) -> str:
    """What the command prints, run in `folder`, which is also its home; `accepted` are exit codes, None takes any.

    Raises ToolStoppedError, with the last words of the tool, where it does not end well within the limits.
    """
    printed, said = folder / "printed.txt", folder / "said.txt"
    bounds = (str(limits.memory_bytes), str(limits.output_bytes))
    limited = python("-c", _LIMITED, *bounds, *command, has_site=False)
    # Into files, whose size the limits bound: a tool that prints without end would fill memory.
    with printed.open("wb") as out, said.open("wb") as err:
        process = start(
            limited,
            folder=folder,
            env=_environment(folder),
            stdout=out,
            stderr=err,
            # In its own group, so that what the tool has started is ended with it.
            own_session=True,
        )
        try:
            code = process.wait(limits.seconds)
        except subprocess.TimeoutExpired as error:
            raise ToolStoppedError(
                f"{name} took more than {limits.seconds:.0f} s.",
                remedy="Try fewer or shorter cells.",
            ) from error
        finally:
            # After a good end as well: what the tool has started may still run.
            _end_group(process)
    if code < 0 or (accepted is not None and code not in accepted):
        raise ToolStoppedError(
            f"{name} ended with {code}: {_last_words(said)}.",
            remedy="Try fewer or shorter cells.",
        )
    return printed.read_text("utf-8", "replace")


def _environment(folder: Path) -> dict[str, str]:
    """No setting of the user's reaches the tool: no PYTHONPATH, PYLINTRC, NODE_OPTIONS, no home with configuration."""
    # A .pylintrc or pyrightconfig.json of the user would change what counts.
    own = {
        name: str(folder)
        for name in (
            "HOME",
            "TMPDIR",
            "XDG_CACHE_HOME",
            "XDG_CONFIG_HOME",
            "PYLINTHOME",
        )
    }
    passed_on = {
        name: os.environ[name] for name in _PASSED_ON if name in os.environ
    }
    return (
        {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONIOENCODING": "utf-8"}
        | passed_on
        | own
    )


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Whatever is left of the tool and what it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()


def _last_words(said: Path) -> str:
    lines = said.read_text("utf-8", "replace")[-2000:].strip().splitlines()
    return lines[-1][:300] if lines else "it printed nothing"

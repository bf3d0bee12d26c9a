"""How bubblewrap seals a kernel off: which folders of the machine are there, and what in them is not.

Knows bubblewrap's command line, what an interpreter needs of the disk, and what of Linux's /proc reaches beyond the
kernel. Refuses to show what was not named: every folder is listed, hidden files are left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from crane_core import helper_process
from crane_core.errors import KernelStartError
from crane_core.runtime import hidden_files

SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt/rocm",
    "/opt/intel",
    "/opt/nvidia",
)
SETTINGS = (
    "alternatives",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "nsswitch.conf",
)
"""Of /etc: what programs need to start, and no passwords or keys."""
PARTS_OF_A_PREFIX = (
    *(
        "bin",
        "condabin",
        "conda-meta",
        "etc",
        "include",
        "lib",
        "lib32",
        "lib64",
        "libexec",
        "nvvm",
        "plugins",
    ),
    *("pyvenv.cfg", "share", "ssl", "targets", "x86_64-conda-linux-gnu"),
)
"""Of an interpreter's own folder, which may be a home folder."""
# bubblewrap's command line holds each of them, and has an end.
MOST_MODULES, MOST_HIDDEN = 500, 1_000
# Shared memory is needed by torch's loaders, but must be the kernel's own.
_SHARED = "/dev/shm"
_ASK_S = 60
_WHERE = (
    "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix, sys.exec_prefix])); "
    "print(json.dumps(sys.path))"
)
# What tells of the machine's memory and keys; as root they could be read.
_UNREADABLE = (
    "kcore",
    "keys",
    "key-users",
    "kmsg",
    "kpagecgroup",
    "kpagecount",
    "kpageflags",
    "sched_debug",
)
_PROC = Path("/proc")
_ANYBODY_WRITES = 0o222


def command(
    program: str,
    python: str,
    folder: Path,
    room: Path,
    *,
    copy: Path | None,
    network: bool,
) -> list[str]:
    """bubblewrap's words before the program that it starts, which runs with the interpreter `python` in `folder`.

    The kernel sees `copy` as its folder and may write there; where it is None it can only read the folder. `room` is
    its own. Raises KernelStartError if the interpreter does not answer, or too much would have to be hidden.
    """
    # --new-session, else a notebook could type into the terminal (TIOCSTI, CVE-2017-5226).
    words = [
        program,
        "--die-with-parent",
        "--new-session",
        "--unshare-all",
        "--cap-drop",
        "ALL",
    ]
    words += ["--hostname", "notebook"]
    if network:
        # DNS and certificates, without which a network cannot be used.
        words += [
            "--share-net",
            "--ro-bind-try",
            "/etc/resolv.conf",
            "/etc/resolv.conf",
        ]
        words += [
            "--ro-bind-try",
            "/etc/ssl",
            "/etc/ssl",
            "--ro-bind-try",
            "/etc/hosts",
            "/etc/hosts",
        ]
    for path in SYSTEM:
        words += _as_it_is(path)
    for name in SETTINGS:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    # Bounded: shared memory is memory of the machine.
    words += [
        *_proc(),
        "--dev",
        "/dev",
        "--size",
        str(64 * 2**20),
        "--tmpfs",
        _SHARED,
    ]
    words += (
        ["--bind", str(copy), str(folder)]
        if copy
        else ["--ro-bind", str(folder), str(folder)]
    )
    if copy is None:
        # A folder that is shown as it is still hides its keys.
        words += _covered(folder)
    # Behind the folder, in which an interpreter may stand under a hidden name: .venv.
    for path in (*_libraries(python), *_named_by_user(folder)):
        if _is_behind_link(Path(path), folder, copy or folder):
            continue  # The link is shown, and so is the place to which it leads.
        words += ["--ro-bind", path, path]
        if _is_source(Path(path)):
            words += _covered(Path(path))
    # A data folder may lie inside a folder that libraries are shown from.
    data = os.environ.get("CRANE_DATA")
    if (
        data
        and Path(data).is_dir()
        and not folder.is_relative_to(Path(data).resolve())
    ):
        words += _without(str(Path(data).resolve()), words)
    # Last: what is mounted above stays writable or not, the rest of / becomes read-only.
    return [
        *words,
        "--bind",
        str(room),
        str(room),
        "--remount-ro",
        "/",
        "--chdir",
        str(folder),
    ]


def _as_it_is(path: str) -> list[str]:
    """A folder of the system, which may be a link into another one."""
    if Path(path).is_symlink():
        # On merged systems /bin and /lib are links into /usr.
        return ["--symlink", str(Path(path).readlink()), path]
    return ["--ro-bind-try", path, path]


def _proc() -> list[str]:
    """Its own /proc, in which nothing that belongs to the whole machine can be written.

    The owner of those files is root, whose number a sealed kernel keeps where root starts it; bubblewrap itself covers
    only folders in which it could make files, and /proc/sys is none.
    """
    words = ["--proc", str(_PROC)]
    for path in sorted(_PROC.iterdir()):
        is_of_a_process = path.name.isdigit() or path.is_symlink()
        if path.name in _UNREADABLE:
            words += ["--ro-bind", os.devnull, str(path)]
        # Files of the kernel's own processes stay as they are; those of the machine are covered.
        elif not is_of_a_process and (
            path.is_dir() or path.stat().st_mode & _ANYBODY_WRITES
        ):
            words += ["--ro-bind-try", str(path), str(path)]
    return words


def _is_behind_link(path: Path, folder: Path, shown: Path) -> bool:
    """Whether a path leads through a link in the notebook's folder, of which `shown` is what the kernel sees."""
    if not path.is_relative_to(folder):
        return False
    inside = path.relative_to(folder)
    return any(
        (shown / part).is_symlink() for part in (inside, *inside.parents)
    )


def _covered(folder: Path) -> list[str]:
    """What is hidden in and below a folder, under something empty. Raises KernelStartError if it is too much."""
    # One more than may be hidden, to tell that there are more, without walking on for hours.
    found = list(islice(hidden_files.hidden_below(folder), MOST_HIDDEN + 1))
    if len(found) > MOST_HIDDEN:
        raise KernelStartError(
            f"{folder} holds more than {MOST_HIDDEN:,} hidden files, which cannot all be kept from a sealed kernel.",
            remedy="Move the notebook and its data into a separate folder.",
        )
    words = []
    for path in found:
        if path.is_symlink():
            continue  # Where it leads to is not there, or is hidden itself.
        words += (
            ["--tmpfs", str(path)]
            if path.is_dir()
            else ["--ro-bind", os.devnull, str(path)]
        )
    return words


def _without(folder: str, words: list[str]) -> list[str]:
    """The data folder of this program, where a folder that is shown holds it."""
    shown = [
        word
        for word, before in zip(words[1:], words, strict=False)
        if word == before and word.startswith("/")
    ]
    is_shown = any(Path(folder).is_relative_to(path) for path in shown)
    # tmpfs: an empty folder in its place.
    return ["--tmpfs", folder] if is_shown else []


@cache
def _libraries(python: str) -> tuple[str, ...]:
    """What the interpreter needs, nothing inside another or inside the system's folders.

    Of its own folders the known parts; of those that hold sources of a user (editable installations), the modules.
    """
    asked = helper_process.python("-c", _WHERE, interpreter=python)
    try:
        # Asked of the interpreter itself: only it knows its paths, .pth files included.
        prefixes, searched = map(
            json.loads,
            helper_process.answer(asked, seconds=_ASK_S).splitlines(),
        )
    except (OSError, ValueError) as error:
        raise KernelStartError(
            f"{python} does not say where its libraries are: {error}.",
            remedy="Check the interpreter.",
        ) from error
    # A venv's python is a link: both ends must be there.
    wanted = [Path(python), Path(python).resolve()]
    wanted += [
        Path(prefix, part) for prefix in prefixes for part in PARTS_OF_A_PREFIX
    ]
    for path in map(Path, searched):
        # Of a user's folder only modules: notebooks and data beside them are not the kernel's.
        wanted += [path] if _is_installed(path) else modules_in(path)
    wanted += [path.resolve() for path in wanted]
    return _outermost(path for path in wanted if path.exists())


def _named_by_user(folder: Path) -> tuple[str, ...]:
    """The modules, and nothing else, of the folders that PYTHONPATH names outside the notebook's own."""
    # PYTHONPATH may be relative, which means the notebook's folder.
    named = map(
        Path,
        filter(
            os.path.isabs, os.environ.get("PYTHONPATH", "").split(os.pathsep)
        ),
    )
    found = [
        path
        for entry in named
        if not entry.is_relative_to(folder)
        for path in modules_in(entry)
    ]
    return _outermost(path for path in found if not path.is_relative_to(folder))


def _is_installed(path: Path) -> bool:
    """Whether pip or the interpreter's maker filled the folder, rather than a user."""
    return (
        path.name in hidden_files.INSTALLED
        or (path / "os.py").is_file()
        or path.name == "lib-dynload"
    )


def _is_source(path: Path) -> bool:
    """Whether a user works there: hidden files may hold keys. In what was installed they hold libraries."""
    return (
        path.is_dir()
        and not any(part in hidden_files.INSTALLED for part in path.parts)
        and (path / "__init__.py").is_file()
    )


def modules_in(folder: Path) -> list[Path]:
    """What Python can import of a folder: files of modules, packages, and what pip noted about them.

    Raises KernelStartError if it is too much.
    """
    if folder.is_file():
        return [folder]  # An archive.
    if not folder.is_dir():
        return []
    hidden = hidden_files.hidden_names(folder)
    found = [
        path
        for path in sorted(folder.iterdir())
        if path.name not in hidden and _is_module(path)
    ]
    if len(found) > MOST_MODULES:
        raise KernelStartError(
            f"{folder} holds more than {MOST_MODULES} modules outside a site-packages folder.",
            remedy="Install them for the interpreter of the kernel, or leave the folder out of PYTHONPATH.",
        )
    return found


def _is_module(path: Path) -> bool:
    if path.is_file():
        return path.suffix in (".py", ".so", ".pyc")
    if path.suffix in (".dist-info", ".libs"):
        return True
    # Without __init__.py it may be a namespace package, whose parts are packages.
    return path.name.isidentifier() and any(
        (place / "__init__.py").is_file()
        for place in (path, *_folders_in(path))
    )


def _folders_in(path: Path) -> Iterator[Path]:
    return (
        (entry for entry in path.iterdir() if entry.is_dir())
        # A folder of another user cannot be listed, and holds nothing importable.
        if os.access(path, os.R_OK | os.X_OK)
        else iter(())
    )


def _outermost(paths: Iterator[Path]) -> tuple[str, ...]:
    kept: list[Path] = [Path(path) for path in SYSTEM]
    # Shortest first, so that an outer folder is met before what is in it.
    for path in sorted(set(paths), key=lambda one: len(one.parts)):
        if not any(path.is_relative_to(above) for above in kept):
            kept.append(path)
    return tuple(map(str, kept[len(SYSTEM) :]))

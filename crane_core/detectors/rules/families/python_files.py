"""Files that are closed: nothing can be read from them or written to them any more.

Knows the file objects of Python's `open`, as the state tells them.
"""

from __future__ import annotations

from typing import Final, NoReturn

from crane_core.detectors.rules.families.python_values import words_of
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

RULES: Final = Family("python: files")
_ASK_IT: Final = "read readline readlines write writelines seek tell truncate flush fileno isatty __enter__ __next__"
_READERS: Final = ("json.load", "pickle.load", "builtins.next")
_WRITERS: Final = ("json.dump", "pickle.dump")


@RULES.element("_io.*")
def element(site: Site) -> Thing | None:
    _refuse_closed(site, site.receiver)
    return None


@RULES.method("_io.*", *_ASK_IT.split())
def asked(site: Site) -> Thing | None:
    _refuse_closed(site, site.receiver)
    return None


@RULES.function(*_READERS)
def read(site: Site) -> Thing | None:
    _refuse_closed(site, site.first)
    return None


@RULES.function(*_WRITERS)
def written(site: Site) -> Thing | None:
    """The file is the second argument. What cannot be written may be refused before the file is asked."""
    if len(site.arguments.positional) > 1 and site.arguments.positional[0].is_literal:
        _refuse_closed(site, site.arguments.positional[1])
    return None


def _refuse_closed(site: Site, thing: Thing | None) -> None:
    if thing is not None and thing.package == "_io" and thing.fact("closed") is True:
        _closed(site, thing)


def _closed(site: Site, thing: Thing) -> NoReturn:
    site.crash(
        "ValueError",
        "I/O operation on closed file",
        fact=f"{words_of(thing, 'the file')} is closed",
        remedy="Open it again, and use it inside its `with` block.",
    )

"""An attribute that an object lacks: the one that was meant, or the name that a later release gave it."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from crane_core.repair.crash_site import CrashSite
from crane_core.repair.fix import Fix, SourceEdit
from crane_core.repair.near import meant

_LACKS = re.compile(
    r"(?:type object |module )?'(?P<kind>[\w.]+)'(?: object)? has no attribute '(?P<name>\w+)'"
)
_RENAMED = Path(__file__).with_name("renamed.toml")


def propose(site: CrashSite) -> Iterator[Fix]:
    """At an AttributeError: the attribute that was meant, or its name in the installed release."""
    lacks = _LACKS.match(site.message)
    if site.exception != "AttributeError" or lacks is None:
        return
    name = lacks["name"]
    here = _of_name(site.here(ast.Attribute), name)
    receivers = {site.text(node.value) for node in here}
    # Two objects with the name in one line: which of them lacks it is not known.
    if len(receivers) != 1:
        return
    everywhere = _of_name(site.anywhere(ast.Attribute), name)
    nodes = [
        node
        for node in everywhere
        # The same object, by what is written.
        if site.text(node.value) in receivers
    ]
    later_names = renamed().get(lacks["kind"], {})
    new = later_names.get(name)
    if new is None:
        new = meant(name, _similar(site, name))
    if new is not None:
        yield _with_name(site, nodes, name, new)


def _of_name(nodes: list[ast.Attribute], name: str) -> list[ast.Attribute]:
    return [node for node in nodes if node.attr == name]


def _with_name(
    site: CrashSite, nodes: list[ast.Attribute], name: str, new: str
) -> Fix:
    """`new` takes the place of the attribute; with a leading `=`, of the object too."""
    text = new.removeprefix("=")
    edits = []
    for node in nodes:
        start, end = site.span(node)
        if text == new:
            start = end - len(name)
        edits.append(SourceEdit(start, end, text))
    return site.fix(f"Write {text} for {name}.", *edits)


@cache
def renamed() -> Mapping[str, dict[str, str]]:
    """New names by class or module and old name."""
    text = _RENAMED.read_text("utf-8")
    return tomllib.loads(text)


def _similar(site: CrashSite, name: str) -> list[str]:
    # An attribute has no blank: `df.yield_kg` cannot become `df.yield kg`.
    near = site.similar("attributes", name)
    return [other for other in near if other.isidentifier()]

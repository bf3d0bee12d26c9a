"""Arguments that a call does not take: one under another name, those by position, one left out, two exchanged."""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from crane_core.repair.crash_site import CrashSite
from crane_core.repair.fix import Fix, SourceEdit
from crane_core.repair.near import meant

_UNEXPECTED = re.compile(
    r"(?P<of>[\w.<>]+)\(\) got an unexpected keyword argument '(?P<name>\w+)'(?:\. Did you mean '(?P<meant>\w+)'\?)?"
)
_LEFT_OUT = re.compile(
    r"(?P<of>[\w.<>]+)\(\) missing 1 required positional argument: '(?P<name>\w+)'"
)
# Since seaborn 0.12 only `data` may stand first; before, the order was x, y.
_SEABORN = re.compile(
    r"(?P<of>\w+plot)\(\) takes from 0 to 1 positional arguments but 2 (?:positional|were given)"
)
_NOT_A_TYPE = "isinstance() arg 2 must be a type"
_JOINED = "'list' object has no attribute 'join'"
_PARAMETER = re.compile(r"(?:^\(|, )\**(?P<name>\w+)(?=[=:,)])")


def propose(site: CrashSite) -> Iterator[Fix]:
    """At arguments that a call refuses: renamed, added, named, exchanged or joined."""
    message = site.message
    if unexpected := _UNEXPECTED.match(message):
        yield from _renamed(site, unexpected)
    elif left_out := _LEFT_OUT.match(message):
        yield from _added(site, left_out["of"], left_out["name"])
    elif _SEABORN.match(message):
        yield from _named(site)
    elif message.startswith(_NOT_A_TYPE):
        yield from _exchanged(site)
    elif message.startswith(_JOINED):
        yield from _joined(site)


def _renamed(site: CrashSite, found: re.Match[str]) -> Iterator[Fix]:
    name = found["name"]
    calls = site.here(ast.Call)
    calls = [call for call in calls if name in _keywords(call)]
    if len(calls) != 1:
        return
    [call] = calls
    given = _keywords(call)
    right = found["meant"]
    if right is None:
        right = meant(name, _parameters(site, call))
    if right is None or right in given:
        return
    start, _ = site.span(given[name])
    edit = SourceEdit(start, start + len(name), right)
    yield site.fix(f"Write {right} for the argument {name}.", edit)


def _keywords(call: ast.Call) -> dict[str | None, ast.keyword]:
    return {each.arg: each for each in call.keywords}


def _parameters(site: CrashSite, call: ast.Call) -> list[str]:
    """The names of the function's parameters, as far as the state tells its signature."""
    text = site.text(call.func)
    variable = site.state.variables.get(text)
    if variable is not None:
        docs: Any = variable.docs
    else:
        access = site.state.accesses.get(text, {})
        docs = access.get("docs")
    if not isinstance(docs, Mapping):
        return []
    signature = str(docs.get("signature", ""))
    return [each["name"] for each in _PARAMETER.finditer(signature)]


def _added(site: CrashSite, of: str, name: str) -> Iterator[Fix]:
    """A variable with the very name of the parameter, which a cell before has assigned."""
    _, _, function = of.rpartition(".")
    calls = site.calls(function)
    calls = [call for call in calls if not _is_starred(call)]
    is_known = any(cell.binds(name) for cell in site.ran)
    if len(calls) != 1 or not is_known:
        return
    [call] = calls
    argument = f"{name}={name}"
    yield site.fix(
        f"Pass {name} too: {argument}.",
        site.with_argument(call, argument),
    )


def _is_starred(call: ast.Call) -> bool:
    if None in _keywords(call):
        return True
    return any(isinstance(each, ast.Starred) for each in call.args)


def _named(site: CrashSite) -> Iterator[Fix]:
    calls = [
        call
        for call in site.here(ast.Call)
        if len(call.args) == 2 and not _is_starred(call)
    ]
    # The function may have another name here, so only a single call with two arguments is sure.
    if len(calls) != 1:
        return
    [call] = calls
    names = _keywords(call)
    if "x" in names or "y" in names:
        return
    edits = []
    for name, node in zip("xy", call.args, strict=True):
        start, _ = site.span(node)
        edits.append(SourceEdit(start, start, f"{name}="))
    yield site.fix("Name the arguments: x=..., y=....", *edits)


def _exchanged(site: CrashSite) -> Iterator[Fix]:
    match site.calls("isinstance"):
        case [ast.Call(args=[ast.Name(id=name) as kind, value])]:
            pass
        case _:
            return
    if site.is_builtin(name):
        yield site.fix(
            "Exchange the arguments: the value comes first, then its type.",
            site.replaced(kind, site.text(value)),
            site.replaced(value, name),
        )


def _joined(site: CrashSite) -> Iterator[Fix]:
    match site.calls("join"):
        case [
            ast.Call(
                func=ast.Attribute(value=listed),
                args=[ast.Constant(value=str()) as separator],
            ) as call
        ]:
            method = f"{site.text(separator)}.join"
            yield site.fix(
                "Join by the separator: its method takes the list.",
                site.replaced(call, f"{method}({site.text(listed)})"),
            )

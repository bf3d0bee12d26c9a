"""All fixes that the kinds of remedies propose for a crash, less those that a fix must not be."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

from crane_core.repair import kinds
from crane_core.repair.changed_names import assigned_names
from crane_core.repair.crash_site import CrashSite
from crane_core.repair.fix import Fix, Proposals
from crane_core.repair.refusals import refusal


@cache
def all_kinds() -> dict[str, Callable[[CrashSite], Iterator[Fix]]]:
    """What proposes fixes, by the name of its file."""
    files = pkgutil.iter_modules(kinds.__path__)
    names = sorted(file.name for file in files)
    found = {}
    for name in names:
        module = importlib.import_module(f"{kinds.__name__}.{name}")
        found[name] = module.propose
    return found


def proposals(site: CrashSite) -> Proposals:
    """The fixes of every kind, each once."""
    found: list[Fix] = []
    for propose in all_kinds().values():
        found += propose(site)
    return checked(site, Proposals(tuple(found)))


def checked(site: CrashSite, found: Proposals) -> Proposals:
    """Those that may be tried; the reasons against others are added to those that there are."""
    unique = {(fix.source, fix.first): fix for fix in found.fixes}
    fixes = []
    refused = [*found.refused]
    for fix in unique.values():
        reason = refusal(site.source, fix)
        if reason:
            refused.append(reason)
        else:
            names = tuple(assigned_names(fix.source))
            fixes.append(replace(fix, names=names))
    return Proposals(tuple(fixes), tuple(refused))

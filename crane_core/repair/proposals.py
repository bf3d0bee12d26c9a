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
    names = sorted(
        module.name for module in pkgutil.iter_modules(kinds.__path__)
    )
    modules = {
        name: importlib.import_module(f"{kinds.__name__}.{name}")
        for name in names
    }
    return {name: module.propose for name, module in modules.items()}


def proposals(site: CrashSite) -> Proposals:
    """The fixes of every kind, each once."""
    found = [fix for propose in all_kinds().values() for fix in propose(site)]
    return checked(site, Proposals(tuple(found)))


def checked(site: CrashSite, found: Proposals) -> Proposals:
    """Those that may be tried; the reasons against others are added to those that there are."""
    unique = {(fix.source, fix.first): fix for fix in found.fixes}
    reasons = {key: refusal(site.source, fix) for key, fix in unique.items()}
    return Proposals(
        tuple(
            replace(fix, names=tuple(assigned_names(fix.source)))
            for key, fix in unique.items()
            if not reasons[key]
        ),
        (*found.refused, *filter(None, reasons.values())),
    )

"""A case that is checked and added while the page stays alive, in one of the server's places for notebooks."""

from __future__ import annotations

from dataclasses import dataclass

from crane_core.pipeline.verification.add_case import NewCase
from crane_core.pipeline.verification.own_case import OwnCase, add_own_case
from crane_core.ui import data
from crane_core.ui.trial.background import Background, begin
from crane_core.ui.trial.running import full, limits, places


@dataclass(slots=True, kw_only=True)
class Adding(Background[OwnCase]):
    """One case on its way into a benchmark."""

    name: str


def start_adding(case: NewCase, benchmark: str) -> Adding:
    """Begin to execute its notebooks. Raises KernelError if too many notebooks are running."""
    adding = Adding(name=case.name)
    folder, store = data.folder(), data.store()

    def work() -> OwnCase:
        return add_own_case(case, benchmark, folder, store, limits(), stop=adding.stop)

    begin(adding, work, places(), full=full(), failed="Adding the case failed")
    return adding

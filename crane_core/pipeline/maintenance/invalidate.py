"""Single answers taken out of every statistic, with who did it and why; the sources and the ledger keep them."""

from collections.abc import Sequence

from crane_core import domain, ledger
from crane_core.errors import StoreError
from crane_core.pipeline.inventory import inventory, inventory_file
from crane_core.pipeline.jobs.files import now, sayable
from crane_core.pipeline.places import DataFolder
from crane_core.storage.answers import RunKey
from crane_core.storage.invalidated import AnswerKey

LONGEST_REASON = 500
"""Characters of a reason."""


def invalidate(
    folder: DataFolder, answers: Sequence[AnswerKey], reason: str, *, by: str
) -> list[str]:
    """Note in the ledger that these answers are invalid; their names. `load.catch_up` then leaves them out.

    Raises StoreError without an answer, or without a reason that can be shown.
    """
    said = " ".join(sayable(reason).split())
    if not said or len(said) > LONGEST_REASON:
        raise StoreError(
            f"A reason has 1 to {LONGEST_REASON} characters, not {len(said):,}.",
            remedy="Say in a sentence why the answer is invalid.",
        )
    if not answers:
        raise StoreError(
            "There is no such answer.",
            remedy="See the run on the page Runs, or `sql`.",
        )
    at = now()
    acts = [
        domain.InventoryAct(
            domain.Listed.ANSWER,
            domain.answer_name(*key),
            domain.InventoryAction.REMOVE,
            at,
            by,
            held=f"answer {key.run_index} about {key.instance_id}",
            reason=said,
        )
        for key in answers
    ]
    ledger.append(inventory_file(folder), *acts)
    return [act.name for act in acts]


def invalidated(
    folder: DataFolder, run: RunKey, instance_id: str = ""
) -> list[domain.InventoryAct]:
    """The acts that took out answers of a run, or only those to one instance, by the name of the answer."""
    parts = (*run, instance_id) if instance_id else run
    beginning = "".join(f"{part}/" for part in parts)
    found = [
        act
        for (kind, name), act in inventory(folder).removed.items()
        if kind is domain.Listed.ANSWER and name.startswith(beginning)
    ]
    return sorted(found, key=lambda act: act.name)

"""A campaign's plan as it may be shown before the lock: without what reveals an item's detector or input.

Withheld are the population query, the items and their orders, the names of strata, and the seed, because with it the
names of items can be computed. Strata are in the order of their size, so that their position does not reveal their
names. The sha256 of the full plan commits to all of it.

What an export says of items goes under other names for each person (`cover_name`): annotators know the names of their
own items, and must not find others' labels under them.
"""

import hashlib
import json
from dataclasses import asdict
from typing import Any

from crane_core.annotation.plan import Plan

WITHHELD = (
    "population",
    "population_sha256",
    "seed",
    "names of strata",
    "items",
    "orders",
    "labels that are shown after one's own",
)
COMMITMENT = "full_plan_sha256"


def cover_name(plan: Plan, person: str, item: str) -> str:
    """An item's name in one person's acts, until the lock. Only the seed, which is withheld, links the names."""
    return hashlib.sha256(
        f"{plan.seed}\0{plan.campaign}\0{person}\0{item}".encode()
    ).hexdigest()[:12]


def plan_file(text: str) -> bytes:
    """The plan as a file, byte for byte what the ledger holds and a newline."""
    return (text + "\n").encode()


def blind_plan_file(plan: Plan, text: str) -> bytes:
    """The same before the lock; `text` is the plan as the ledger holds it."""
    return (
        json.dumps(_body(plan, text), ensure_ascii=False, indent=1) + "\n"
    ).encode()


def _body(plan: Plan, text: str) -> dict[str, Any]:
    # Sorted by size: the order of the plan is that of the names.
    sizes = sorted(
        (stratum.population, stratum.sampled, stratum.overlap)
        for stratum in plan.strata
    )
    return {
        "campaign": plan.campaign,
        "title": plan.title,
        "created_at": plan.created_at,
        "created_by": plan.created_by,
        "annotators": plan.annotators,
        "guideline": plan.guideline,
        "blind": plan.blind,
        "design": asdict(plan.design),
        "population_size": plan.population_size,
        "left_out": plan.left_out,
        "required": plan.required,
        "strata": [
            {
                "name": f"stratum {place}",
                "population": population,
                "sampled": sampled,
                "overlap": overlap,
                "inclusion_probability": sampled / population,
            }
            for place, (population, sampled, overlap) in enumerate(
                sizes, start=1
            )
        ],
        "n_items": len(plan.items),
        "n_gold": len(plan.gold),
        "gold_feedback": plan.gold_feedback,
        "shown_after": plan.shown_after and plan.shown_after.origin,
        "n_showings": {name: len(order) for name, order in plan.orders.items()},
        "withheld_until_lock": WITHHELD,
        COMMITMENT: hashlib.sha256(plan_file(text)).hexdigest(),
    }

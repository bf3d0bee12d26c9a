"""A campaign's plan as it may be shown before the lock: everything but what tells who said an item, or in which input.

Withheld are the population query, the verdicts behind the items, the names of strata, and the seed, because with it
the names of items can be computed. Items come in the order of their names and strata in the order of their size, so
that no place tells either. The sha256 of the full plan commits to all of it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

from crane_core.annotation.plan import Plan

WITHHELD = ("population", "population_sha256", "seed", "names of strata", "verdict and stratum of every item")
COMMITMENT = "full_plan_sha256"


def plan_file(text: str) -> bytes:
    """The plan as a file, byte for byte what the ledger holds and a newline."""
    return (text + "\n").encode()


def blind_plan_file(plan: Plan, text: str) -> bytes:
    """The same before the lock; `text` is the plan as the ledger holds it."""
    return (json.dumps(_body(plan, text), ensure_ascii=False, indent=1) + "\n").encode()


def _body(plan: Plan, text: str) -> dict[str, Any]:
    sizes = sorted((stratum.population, stratum.sampled, stratum.overlap) for stratum in plan.strata)
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
            for place, (population, sampled, overlap) in enumerate(sizes, start=1)
        ],
        "items": sorted(item.item for item in plan.items),
        "orders": {name: [asdict(showing) for showing in order] for name, order in plan.orders.items()},
        "withheld_until_lock": WITHHELD,
        COMMITMENT: hashlib.sha256(plan_file(text)).hexdigest(),
    }

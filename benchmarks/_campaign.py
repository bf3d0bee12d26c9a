"""A campaign on imported data, as measurements and browser tests need one."""

from __future__ import annotations

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Plan, Population
from crane_core.pipeline.campaigns.campaigns import drawn_plan, keep_campaign
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder

CAMPAIGN = "pilot"
STUDY = Population("junobench", "crane-llm-2025-10")
SEED = 20261121


def new_campaign(
    folder: DataFolder, annotators: tuple[str, ...], name: str = CAMPAIGN
) -> Plan:
    """Draw and keep the study's own design, 222 of 501, for these annotators; nothing else has the store open."""
    store = prepare(folder)
    try:
        plan = drawn_plan(store, CampaignRequest(name, annotators, STUDY, seed=SEED))
    finally:
        store.close()
    keep_campaign(folder, plan)
    return plan

"""Blind campaigns that are open, and who labels in them: until the lock only totals of them may be shown."""

from __future__ import annotations

from collections.abc import Mapping

from crane_core.pipeline.campaigns.campaigns import campaign_names, kept_campaign
from crane_core.pipeline.places import DataFolder


def open_blind_campaigns(folder: DataFolder) -> Mapping[str, tuple[str, ...]]:
    """Name of each blind campaign that is not locked to its annotators. Raises CampaignError on a damaged file."""
    kept = {name: kept_campaign(folder, name) for name in campaign_names(folder)}
    return {
        name: one.plan.annotators
        for name, one in kept.items()
        if one.plan.blind and one.lock is None
    }

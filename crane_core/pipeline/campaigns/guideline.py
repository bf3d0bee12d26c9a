"""The guideline of a campaign: every version of its text, and a new one while the campaign is open.

ledger/campaigns/<campaign>.jsonl holds the first with the plan, and a line for each change. Lines after the lock were
written at the same moment by another process, and do not count.
"""

from datetime import UTC, datetime

from crane_core import ledger
from crane_core.annotation import guideline
from crane_core.annotation.plan import Plan, guideline_of
from crane_core.domain import CampaignGuideline, CampaignLock, CampaignRound
from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns.campaigns import campaign_file, kept_campaign
from crane_core.pipeline.places import DataFolder

MOST_OF_A_NAME = 80
"""Characters of the name of the person who changes a guideline."""


def guideline_versions(
    folder: DataFolder, plan: Plan
) -> tuple[guideline.GuidelineVersion, ...]:
    """Every version that was in force, oldest first; the last is in force now, the first is the plan's."""
    first = guideline_of(plan)
    found = [
        guideline.GuidelineVersion(
            guideline.version_of(first), first, plan.created_at, plan.created_by
        )
    ]
    is_locked = False
    for record in ledger.tail(campaign_file(folder, plan.campaign)).records:
        if isinstance(record, CampaignLock | CampaignRound):
            is_locked = isinstance(record, CampaignLock)
        if isinstance(record, CampaignGuideline) and not is_locked:
            found.append(
                guideline.GuidelineVersion(
                    guideline.version_of(record.text),
                    record.text,
                    record.changed_at,
                    record.changed_by,
                )
            )
    return tuple(found)


def current_guideline(
    folder: DataFolder, plan: Plan
) -> guideline.GuidelineVersion:
    """The version in force."""
    return guideline_versions(folder, plan)[-1]


def change_guideline(
    folder: DataFolder,
    campaign: str,
    text: str,
    *,
    by: str,
    instead_of: str | None = None,
) -> guideline.GuidelineVersion:
    """Store a new version of an open campaign's guideline. Raises CampaignError; then nothing is in force that was not.

    Labels given before keep the version that they were given under. instead_of: the version that was changed; where
    another is in force by now, nothing is stored.
    """
    plan, lock = kept_campaign(folder, campaign)
    if lock is not None:
        raise _locked(lock)
    try:
        whole, who = guideline.as_guideline(text), _person(by)
    except ValueError as error:
        raise CampaignError(
            f"{error}.", remedy="Correct it; nothing was stored."
        ) from error
    now = current_guideline(folder, plan)
    if instead_of not in (None, now.version):
        raise CampaignError(
            f"{now.by} changed the guideline meanwhile; nothing was stored.",
            remedy="See what changed, and store it again.",
        )
    if whole.strip() == now.text.strip():
        raise CampaignError(
            f"This is the guideline of {campaign!r} already; nothing was stored.",
            remedy="Change the text first.",
        )
    changed = CampaignGuideline(
        campaign,
        datetime.now(UTC).isoformat(timespec="milliseconds"),
        who,
        whole,
    )
    ledger.append(campaign_file(folder, campaign), changed)
    version = guideline.GuidelineVersion(
        guideline.version_of(whole), whole, changed.changed_at, who
    )
    if version not in guideline_versions(folder, plan) and (
        lock := kept_campaign(folder, campaign).lock
    ):
        raise _locked(
            lock
        )  # another process locked it at the same moment, and the lock comes first
    return version


def _person(by: str) -> str:
    name = by.strip()
    if not name or len(name) > MOST_OF_A_NAME:
        raise ValueError(
            f"a change needs the name of its author, of up to {MOST_OF_A_NAME} characters"
        )
    return name


def _locked(lock: CampaignLock) -> CampaignError:
    return CampaignError(
        f"{lock.campaign} was locked by {lock.locked_by} at {lock.locked_at}; its guideline can no longer change.",
        remedy="Create a new campaign: `campaign create --from` with the plan.json of its export.",
    )

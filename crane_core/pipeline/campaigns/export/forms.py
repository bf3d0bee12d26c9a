"""A campaign in one of the forms that other tools read, with the texts that were labelled on request."""

from __future__ import annotations

from collections.abc import Callable

from crane_core.pipeline.campaigns.export.dataset import dataset_files
from crane_core.pipeline.campaigns.export.files import table_files
from crane_core.pipeline.campaigns.export.label_studio import label_studio_files
from crane_core.pipeline.campaigns.export.table import (
    Files,
    LedgerSnapshot,
    refuse_revealing,
    snapshot,
)
from crane_core.pipeline.campaigns.item_texts import ItemTexts, item_texts
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder

TABLES = "tables"
FORMS: dict[str, Callable[[LedgerSnapshot], Files]] = {
    TABLES: table_files,
    "label-studio": label_studio_files,
    "dataset": dataset_files,
}


def exported(
    folder: DataFolder,
    campaign: str,
    form: str,
    *,
    with_texts: bool,
    progress: Callable[[str], None] = lambda _: None,
) -> Files:
    """The files of the export. Raises CampaignError; only texts need the store."""
    taken = snapshot(folder, campaign)
    return FORMS[form](
        taken._replace(texts=_texts(folder, taken, progress)) if with_texts else taken
    )


def _texts(
    folder: DataFolder, taken: LedgerSnapshot, progress: Callable[[str], None]
) -> dict[str, ItemTexts]:
    refuse_revealing(taken)
    store = prepare_or_read(folder, progress)
    try:
        return item_texts(store, taken.plan)
    finally:
        store.close()

"""A campaign in one of the forms that other tools read, with the texts that were labelled on request."""

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

from crane_core.pipeline.campaigns import export
from crane_core.pipeline.campaigns.export import table
from crane_core.pipeline.campaigns.item_texts import ItemTexts, item_texts
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder

TABLES = "tables"


@cache
def label_forms() -> dict[str, table.LabelForm]:
    """Every form by name: a file of this folder that has FORM is one. The default comes first."""
    names = sorted(
        module.name for module in pkgutil.iter_modules(export.__path__)
    )
    modules = [
        importlib.import_module(f"{export.__name__}.{name}") for name in names
    ]
    found = [
        vars(module)["FORM"] for module in modules if "FORM" in vars(module)
    ]
    found.sort(key=lambda form: (form.name != TABLES, form.name))
    return {form.name: form for form in found}


def exported(
    folder: DataFolder,
    campaign: str,
    form: str,
    *,
    with_texts: bool,
    progress: Callable[[str], None] = lambda _: None,
) -> table.Files:
    """The files of the export. Raises CampaignError; only texts need the store."""
    taken = table.snapshot(folder, campaign)
    if with_texts:
        taken = taken._replace(texts=_texts(folder, taken, progress))
    return label_forms()[form].files(taken)


def _texts(
    folder: DataFolder,
    taken: table.LedgerSnapshot,
    progress: Callable[[str], None],
) -> dict[str, ItemTexts]:
    table.refuse_revealing(taken)
    store = prepare_or_read(folder, progress)
    try:
        return item_texts(store, taken.plan)
    finally:
        store.close()

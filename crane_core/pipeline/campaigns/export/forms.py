"""A campaign in one of the forms that other tools read, with the texts that were labelled on request."""

import importlib
import pkgutil
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns import export, item_texts
from crane_core.pipeline.campaigns.export import table
from crane_core.pipeline.campaigns.export.table import Files
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
) -> dict[str, item_texts.ItemTexts]:
    table.refuse_revealing(taken)
    store = prepare_or_read(folder, progress)
    try:
        return item_texts.item_texts(store, taken.plan)
    finally:
        store.close()


def write_export(files: Files, out: Path, *, force: bool) -> None:
    """Write the files into the folder `out`, which is made; with `force` an older export there is replaced.

    They are written beside it first and come into place with one rename. Raises CampaignError if `out` is taken.
    """
    _refuse_taken(out, set(files), force=force)
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        for name, content in files.items():
            with (fresh / name).open("wb") as file:
                file.writelines(content())
        fresh.chmod(0o755)
        _put_in_place(fresh, out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _refuse_taken(out: Path, names: set[str], *, force: bool) -> None:
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not out.is_dir() or {file.name for file in out.iterdir()} - names:
        raise CampaignError(
            f"{out} contains something other than an export.",
            remedy="Use a folder that does not exist yet.",
        )
    if not force:
        raise CampaignError(
            f"{out} already contains an export.",
            remedy="Use another folder, or replace it: --force.",
        )


def _put_in_place(fresh: Path, out: Path) -> None:
    if not out.exists() or not any(out.iterdir()):
        fresh.replace(out)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{out.name}.old.", dir=out.parent))
    out.replace(old)
    fresh.replace(out)
    shutil.rmtree(old)

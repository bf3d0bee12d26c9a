"""An export written as a folder: whole or not at all, and never over something that is not an export."""

import shutil
import tempfile
from pathlib import Path

from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns.export.table import Files


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

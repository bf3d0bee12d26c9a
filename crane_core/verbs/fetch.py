"""`fetch`: download what upstream publishes, then import it."""

import argparse

from crane_core import arguments
from crane_core.arguments import add, option
from crane_core.fetch import DownloadStep, fetch
from crane_core.pipeline.loading.load import import_paths
from crane_core.pipeline.places import DataFolder
from crane_core.releases import PUBLISHED, asked_release
from crane_core.terminal import give, tell, tell_over
from crane_core.verbs.import_ import in_words

NAME = "fetch"
HELP = "download the published archives and notebooks, with progress, checksum and resume, and load them"
EXAMPLE = """python -m crane_core fetch crane-llm
         python -m crane_core fetch crane-llm@main"""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare which published archives are downloaded, each optionally with a release."""
    add(
        verb,
        option(
            "names NAME[@RELEASE]",
            f"any of {', '.join(PUBLISHED)} (default: all), each in the release behind the paper's tables; "
            "NAME@REF fetches another commit, tag or branch as a separate experiment",
            arguments.name,
            nargs="*",
            default=list(PUBLISHED),
        ),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Download each archive, check it and import it; returns 0.

    A download that was interrupted resumes. Raises FetchError if the network or a checksum fails, SourceError if
    the archive cannot be imported.
    """
    for name in chosen.names:
        asked_release(name)
    for name in chosen.names:
        path, release = fetch(name, folder.downloads, _show)
        tell(
            f"{release.name}: complete, commit {release.commit or 'unknown'}, in {path}"
        )
        give(in_words(import_paths([path], folder, release=release)))
    return 0


def _show(step: DownloadStep) -> None:
    """One line that counts up on a terminal."""
    of = f" of {step.total:,}" if step.total else ""
    tell_over(
        f"{step.what}: {step.done:,}{of} {step.unit}",
        is_last=step.done == step.total,
    )

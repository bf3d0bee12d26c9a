"""The section of the site on copies of benchmarks: how detectors do where names and numbers are others."""

from collections.abc import Iterator

from markupsafe import Markup

from crane_core.pipeline.results.known_notebooks import KnownNotebooks
from crane_core.pipeline.statistics.varied_copies import compared_copies
from crane_core.site.blocks import finding, heading, paragraph, points
from crane_core.site.material import Collected
from crane_core.site.numbers import readable_table
from crane_core.ui import known_notebooks_words as words
from crane_core.ui.outcome_words import smaller_sentence


def known_blocks(collected: Collected) -> Iterator[Markup]:
    """A part per benchmark with copies and way of counting; empty where no benchmark has any."""
    found = list(compared_copies(collected.material))
    if not found:
        return
    yield heading(words.TITLE, anchor="copies")
    for place, (known, _) in enumerate(found):
        title = words.heading_of(known, collected.titles)
        yield heading(title, 3, f"copies-{place}")
        yield from _compared(known)
    yield paragraph(words.ABOUT, "cw-dim")


def _compared(known: KnownNotebooks) -> Iterator[Markup]:
    said = [words.unlike(known), smaller_sentence(known.table)]
    if known.table.empty:
        said = [words.NONE, said[0]]
    else:
        yield finding(words.lead(known))
        yield points(words.findings(known))
        yield readable_table(words.readable_known(known))
    for sentence in filter(None, said):
        yield paragraph(sentence, "cw-dim")

"""The section of the site on dates of models, and on notebooks from before and after them."""

from collections.abc import Iterator

from markupsafe import Markup

from crane_core.pipeline.statistics.by_date import compared_dates
from crane_core.site.blocks import finding, heading, paragraph
from crane_core.site.material import Collected, name_of
from crane_core.site.numbers import readable_table
from crane_core.ui import by_date_words as words
from crane_core.ui.outcome_words import smaller_sentence
from crane_core.ui.words import experiment_words


def date_blocks(collected: Collected) -> Iterator[Markup]:
    """A part per experiment with language models; empty where there is none."""
    found = list(compared_dates(collected.material))
    if not found:
        return
    yield heading(words.TITLE, anchor="dates")
    for judging, known in found:
        title = collected.titles.get(judging.benchmark, judging.benchmark)
        head = f"{title}, {experiment_words(judging.experiment)}"
        yield heading(head, 3, f"dates-{name_of(judging)}")
        yield readable_table(words.readable_models(known))
        for sentence in words.missing(known, title):
            yield paragraph(sentence)
        if len(known.table):
            yield finding(words.lead(known))
            yield readable_table(words.readable_by_date(known))
            if small := smaller_sentence(known.table):
                yield paragraph(small, "cw-dim")
    yield paragraph(words.ABOUT, "cw-dim")

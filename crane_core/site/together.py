"""Are combined detectors better? The rules before each model, and the usual members combined, per experiment."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from markupsafe import Markup

from crane_core.charts.together import together
from crane_core.pipeline.results.beside import SHIPPED, beside
from crane_core.pipeline.results.combinations import (
    Member,
    combine,
    rules_in,
    usual_members,
    with_rules,
)
from crane_core.pipeline.results.measures import VoteRule
from crane_core.site.blocks import figure, finding, folded, heading
from crane_core.site.material import Collected, plain_name
from crane_core.site.numbers import readable_table
from crane_core.ui import together_words as words
from crane_core.ui.words import count, experiment_words


def together_blocks(collected: Collected) -> Iterator[Markup]:
    """The section, for every experiment with two detectors or more; empty if there is none."""
    found = [
        block for judged in _frames(collected) for block in _of_experiment(*judged)
    ]
    if found:
        yield heading("Are combined detectors better?", anchor="together")
        yield from found


def _frames(collected: Collected) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Benchmark, experiment and its answers of every kind of detector, with the shipped answers."""
    verdicts = collected.material.verdicts
    shipped = {name for names in SHIPPED.values() for name in names}
    for benchmark, experiment in dict.fromkeys(
        (one.benchmark, one.experiment) for one in collected.material.judgings
    ):
        frame = beside(verdicts[verdicts["benchmark"] == benchmark], experiment, ())
        if experiment not in shipped and frame["detector"].nunique() > 1:
            yield benchmark, experiment, frame


def _of_experiment(
    benchmark: str, experiment: str, frame: pd.DataFrame
) -> Iterator[Markup]:
    names = words.member_names(frame)
    name = plain_name(f"{benchmark}-{experiment}")
    rules = rules_in(frame)
    first = (
        pd.DataFrame()
        if rules is None
        else with_rules(frame, rules, rule=VoteRule.MAJORITY)
    )
    members = usual_members(frame)
    ways = combine(frame, members, rule=VoteRule.MAJORITY)
    if len(first) or len(ways):
        yield heading(
            f"{benchmark}: {experiment_words(experiment)}", 3, f"together-{name}"
        )
    if len(first):
        yield from _rules_first(first, names, name)
    if len(ways):
        yield from _combined(ways, names, name)


def _rules_first(
    table: pd.DataFrame, names: dict[Member, str], name: str
) -> Iterator[Markup]:
    yield finding(words.finding(table, names))
    drawn = words.named_rules_first(table, names)
    about = words.ABOUT_RULES.format(
        rules=names[table["members"].iloc[0][0]], n=len(drawn)
    )
    yield figure(
        f"rules-first-{name}",
        together(words.drawn_together(drawn, names), axis=words.AXIS),
        about,
    )
    yield folded(
        f"{count(len(drawn))} rows",
        [readable_table(words.readable_together(drawn, names))],
    )


def _combined(
    table: pd.DataFrame, names: dict[Member, str], name: str
) -> Iterator[Markup]:
    ways = table[table["way"].notna()]
    yield finding(words.finding_of_chosen(ways, names))
    named = words.named_ways(table, names)
    drawn = words.drawn_together(named[named["way"].notna()], names)
    yield figure(
        f"together-{name}", together(drawn, axis=words.AXIS), words.about_chosen(ways)
    )
    yield readable_table(words.readable_together(named, names)[words.SHOWN])

"""Do detectors do better together? Our rules before each model, and any combination that the visitor chooses."""

import pandas as pd
import streamlit as st

from crane_core.charts.together import together
from crane_core.domain import DetectorKind
from crane_core.pipeline.results import combinations
from crane_core.pipeline.results.beside import beside
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.rows import as_rows
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from crane_core.ui import data, keys, together_words
from crane_core.ui.chart_box import draw_figure, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.rows_html import rows_html
from crane_core.ui.url_state import many_of
from crane_core.ui.words import NOTHING

MEMBERS_HELP = """Each predicts once, by the majority of its answers, or by all of them where that is chosen above. The
first one leads the cascade: where it predicts a crash, that stands; elsewhere, the majority of the others decides."""


@data.kept(data.answers, 16, copied=True)
def _with_rules(where: ResultChoice) -> pd.DataFrame:
    frame = _frame(where)
    rules = combinations.rules_in(frame)
    return (
        pd.DataFrame()
        if rules is None
        else combinations.with_rules(
            frame, rules, rule=where.rule, bound=where.bound
        )
    )


@data.kept(data.answers, 32, copied=True)
def _combined(
    where: ResultChoice, members: tuple[combinations.Member, ...]
) -> pd.DataFrame:
    return combinations.combine(
        _frame(where), members, rule=where.rule, bound=where.bound
    )


def _frame(chosen: ResultChoice) -> pd.DataFrame:
    """All detectors of the experiment, of whatever kind, and those beside it."""
    return _beside(chosen.benchmark, chosen.experiment, chosen.beside)


@data.kept(data.answers, 4)
def _beside(
    benchmark: str, experiment: str, others: tuple[str, ...]
) -> pd.DataFrame:
    verdicts = data.verdicts()
    return beside(
        verdicts[verdicts["benchmark"] == benchmark], experiment, others
    )


@data.kept(data.answers, 16, copied=True)
def _known(
    where: ResultChoice,
) -> tuple[dict[combinations.Member, str], list[combinations.Member]]:
    """The members by name, and the default selection."""
    frame = _frame(where)
    return together_words.member_names(frame), combinations.usual_members(frame)


def _where(chosen: ResultChoice) -> ResultChoice:
    """The switches that matter for combinations; the others must not invalidate the cache."""
    rule = chosen.rule if chosen.rule is VoteRule.ALL else VoteRule.MAJORITY
    alike = chosen._replace(
        kind=DetectorKind.LLM,
        credit=Credit.DETECTION,
        annotator=PUBLISHED_HUMAN,
    )
    return alike._replace(rule=rule)


def rules_first(chosen: ResultChoice) -> pd.DataFrame:
    """The rules before each model; see `combinations.with_rules`. Empty without rules or models."""
    return _with_rules(_where(chosen))


def together_title(chosen: ResultChoice) -> str | None:
    """What the rules change before a model; None without rules or models."""
    table = rules_first(chosen)
    return None if table.empty else together_words.title(table)


def names_of(chosen: ResultChoice) -> dict[combinations.Member, str]:
    """The members of these switches by name: "GPT-5 +RT"."""
    return _known(_where(chosen))[0]


def draw_together(chosen: ResultChoice) -> None:
    """The section; a sentence where fewer than two members answered."""
    names = names_of(chosen)
    if len(names) < 2:
        st.info(
            "Only one detector answered in this experiment, so there is nothing to combine."
        )
        return
    st.header("Do detectors do better together?", anchor="together")
    if figure := rules_first_figure(chosen):
        st.markdown(together_words.finding(rules_first(chosen), names))
        draw_figure(figure)
    _draw_chosen(chosen, names)


def rules_first_figure(chosen: ResultChoice) -> ChartFigure | None:
    """The rules before each model; None without rules or models."""
    table, names = rules_first(chosen), names_of(chosen)
    if table.empty:
        return None
    return _figure(
        chosen,
        "rules_first",
        together_words.named_rules_first(table, names),
        said=together_words.finding(table, names),
        about=together_words.about_rules(table, names),
    )


def _draw_chosen(
    chosen: ResultChoice, names: dict[combinations.Member, str]
) -> None:
    ids = {f"{member.detector}@{member.setting}": member for member in names}
    picked = many_of(
        "Combine",
        list(ids),
        key=keys.MEMBERS,
        default=[
            f"{member.detector}@{member.setting}"
            for member in _known(_where(chosen))[1]
        ],
        format_func=lambda name: names[ids[name]],
        placeholder="two or more, the first leads the cascade",
        help=MEMBERS_HELP,
    )
    members = tuple(ids[name] for name in picked)
    figure = together_figure(chosen, members)
    if figure is None or figure.shown is None:
        st.caption(
            "Choose two or more members with answers on the same instances."
        )
        return
    table = _combined(_where(chosen), members)
    st.markdown(
        together_words.finding_of_chosen(table[table["way"].notna()], names)
    )
    draw_figure(figure)
    st.html(rows_html(figure.shown[together_words.SHOWN]))


def together_figure(
    chosen: ResultChoice, members: tuple[combinations.Member, ...] = ()
) -> ChartFigure | None:
    """Every way of combining these members, or the usual ones; None where no instance was answered by all of them."""
    usual = tuple(_known(_where(chosen))[1])
    table = _combined(_where(chosen), members or usual)
    if table.empty:
        return None
    names = names_of(chosen)
    ways = table[table["way"].notna()]
    return _figure(
        chosen,
        "together",
        together_words.named_ways(table, names),
        said=together_words.finding_of_chosen(ways, names),
        about=together_words.about_chosen(ways),
    )


def _figure(
    chosen: ResultChoice,
    name: str,
    named: pd.DataFrame,
    *,
    said: str,
    about: str,
) -> ChartFigure:
    """The ways of combining among the rows as a chart, and all rows, which have a name, as its table."""
    names = names_of(chosen)
    ways = named[named["way"].notna()]
    return ChartFigure(
        name,
        [
            finished(
                together,
                together_words.drawn_together(ways, names),
                axis=together_words.AXIS,
            )
        ],
        shown=together_words.readable_together(named, names),
        numbers=_numbers(named, names),
        caption=_where(chosen).captioned(
            said, about, together_words.adjusted_tests(ways)
        ),
        note=about,
    )


def _numbers(
    table: pd.DataFrame, names: dict[combinations.Member, str]
) -> pd.DataFrame:
    """The same unrounded, with the members in words."""
    best = [
        NOTHING if row["best"] is None else names[row["best"]]
        for row in as_rows(table)
    ]
    members = [
        "; ".join(names[member] for member in members)
        for members in table["members"]
    ]
    return table.assign(members=members, best=best)

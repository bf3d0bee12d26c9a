"""The page Agreement of the site: annotators among each other, annotators and judges, and the consistency of both."""

from collections.abc import Iterator

from markupsafe import Markup

from crane_core.charts.agreement import MARK, forest
from crane_core.pipeline.agreement.agreement import KAPPA, ComparedVerdicts
from crane_core.pipeline.results.exported_statistic import ExportedStatistic
from crane_core.site import numbers
from crane_core.site.blocks import figure, folded, heading, paragraph
from crane_core.site.material import Collected
from crane_core.ui.agreement.title import agreement_title
from crane_core.ui.words import count, with_n

SECTIONS = {
    "groups": "By group",
    "judges": "Annotators and LLM judges",
    "consistency": "Judge consistency",
    "repeats": "Annotator consistency",
}
COLUMNS = (
    "Scope",
    "Compared",
    "Statistic",
    "Value",
    "95% interval",
    "n",
    "Cases",
    "Note",
)
NONE = "Agreement needs labels of two annotators, and the loaded data has none. The published archive includes them."


def agreement_rows(collected: Collected) -> list[ExportedStatistic]:
    """All parts of the page."""
    return [
        one
        for kind in collected.found.values()
        for one in kind
        if one.page == "Agreement"
    ]


def headline(collected: Collected) -> str | None:
    """What the app's page says first of the pair that it begins with, and over how many diagnoses."""
    rows = [
        one
        for one in agreement_rows(collected)
        if one.section == "coefficients"
    ]
    one = next(
        (
            one
            for one in rows
            if one.statistic == KAPPA and one.runs == ComparedVerdicts.DIAGNOSES
        ),
        None,
    )
    if one is None:
        return None
    row = {
        "coefficient": KAPPA,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "n": one.n or 0,
        "why": one.note,
    }
    title = agreement_title(row, str(one.judged_by), "diagnoses")
    return f"{title}, over {count(one.n or 0)} diagnoses of {count(one.n_cases or 0)} cases"


def agreement_blocks(collected: Collected) -> Iterator[Markup]:
    """The pair that the app begins with, then everything by section."""
    rows = agreement_rows(collected)
    said = headline(collected)
    if not rows or said is None:
        yield paragraph(NONE)
        return
    yield paragraph(f"{said}.")
    coefficients = [one for one in rows if one.section == "coefficients"]
    yield numbers.statistics_table(coefficients, COLUMNS)
    for section, words in SECTIONS.items():
        mine = [one for one in rows if one.section == section]
        if mine:
            yield heading(words, anchor=section)
            yield from _section(section, mine)
    yield paragraph(
        "Intervals: 95%, with the method that the exported table of statistics names for each.",
        "cw-dim",
    )


def _section(section: str, rows: list[ExportedStatistic]) -> Iterator[Markup]:
    if section == "groups":
        for by in dict.fromkeys(one.by for one in rows):
            yield from _groups(str(by), [one for one in rows if one.by == by])
    else:
        yield numbers.statistics_table(rows, ("Group", *COLUMNS))


def _groups(by: str, rows: list[ExportedStatistic]) -> Iterator[Markup]:
    first = rows[0].judged_by
    kappa = [
        one
        for one in rows
        if (one.statistic, one.runs, one.judged_by)
        == (KAPPA, ComparedVerdicts.DIAGNOSES, first)
    ]
    blocks = []
    if kappa:
        drawn = numbers.frame(kappa)
        shown = [
            numbers.input_text(one._replace(input=one.group))
            if by == "setting"
            else str(one.group)
            for one in kappa
        ]
        labels = [
            with_n(name, one.n or 0, one.n or 0)
            for name, one in zip(shown, kappa, strict=True)
        ]
        text = [
            numbers.value_text(one)
            if one.value is not None
            else f"not defined: {one.note}"
            for one in kappa
        ]
        drawn = drawn.assign(label=labels, text=text, colour=MARK)
        chart = forest(drawn, labels=labels, coefficient=KAPPA, whole=None)
        blocks.append(
            figure(
                f"kappa-{by}",
                chart,
                f"{first}, diagnoses of detected crashes. Lines: 95% intervals.",
            )
        )
    name = {
        "detector_title": "detector",
        "setting": "input",
        "library_group": "library",
    }.get(by, by.replace("_", " "))
    blocks.append(numbers.statistics_table(rows, ("Group", *COLUMNS)))
    yield folded(f"By {name}", blocks)

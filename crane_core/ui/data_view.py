"""The content of the store: sources, counts, unreadable records, contradictions, outcomes of executed pairs."""

import re
from collections.abc import Sequence
from html import escape
from itertools import takewhile

import pandas as pd
import streamlit as st

from crane_core.domain import LoadProblem, ProblemKind, VerifiedAs
from crane_core.identity.visitor import Role
from crane_core.pipeline.results.contradictions import contradictions
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.study.table_scores import BENCHMARK as STUDY
from crane_core.pipeline.verification import verified
from crane_core.releases import SHORT
from crane_core.storage import state, verdicts
from crane_core.ui import data, keys, source_cards
from crane_core.ui.grid import grid
from crane_core.ui.headline import draw_headline
from crane_core.ui.navigation import link
from crane_core.ui.rows_html import draw_first_rows, rows_html
from crane_core.ui.visit import may
from crane_core.ui.words import (
    NOTHING,
    count,
    literal,
    moment,
    quantity,
    setting_short,
)

COMMIT = rf"/tree/([0-9a-f]{{{SHORT}}}|.+)"
"""Shown of an address: the first digits of a commit, or the name of a branch without a known commit."""
MOST_PROBLEMS = 200
"""Problems of one source that are shown over the page."""
DIFFERS = r"^(?P<Printed>\S+) is printed, but (?P<Computed>\S+) is computed: (?P<Why>.+)$"
INSTANCE = re.compile(r"\b(?P<case>\w+_\d+)_(?:reproduced|fixed)\b")
PLACES = {
    "^table junobench-llms": "JunoBench README",
    "^table": "Table",
    r"\bPC\b": "Partial diagnoses",
}
"""How a place is called here."""
MEANING = {
    ProblemKind.UNREADABLE: "a record that could not be read",
    ProblemKind.CONTRADICTION: "one fact with two different values",
    ProblemKind.WAITING: "an answer or label whose instance is not loaded yet",
}


def draw_title() -> None:
    """What is loaded and what is missing, in a sentence."""
    n_cases = int(data.benchmarks()["n_cases"].sum())
    sentence = loaded_sentence(
        n_cases,
        data.table_counts()["runs"],
        source_cards.n_missing(source_cards.loaded_sources()),
    )
    draw_headline(sentence, tab="Data")


def loaded_sentence(n_cases: int, n_answers: int, missing: int) -> str:
    """missing: of the archives that others publish, how many are not here."""
    here = f"{quantity(n_cases, 'case')} and {quantity(n_answers, 'answer')} are loaded"
    if not missing:
        return f"{here}, and all published archives"
    more = "archive" if missing == 1 else "archives"
    return f"{here}; {missing} {'more ' * (missing < len(source_cards.OTHERS))}{more} can be fetched"


def draw_loaded() -> None:
    """What is in the store in a few numbers, each with the page that shows it, and what to do next."""
    counts = data.table_counts()
    with st.container(horizontal=True, gap="medium", key="loaded"):
        for row in as_rows(data.benchmarks()):
            words = f"{row['title']}: {quantity(row['n_cases'], 'case')}, {count(row['n_instances'])} notebooks"
            link("cases", literal(words), benchmark=row["benchmark"])
        link(
            "runs",
            f"{count(counts['runs'])} answers of {count(counts['detectors'])} detectors",
        )
        link("agreement", f"{count(counts['judgements'])} labels")
        link("cases", f"{count(counts['kernel_states'])} kernel snapshots")
    if not state.has_prompts(data.store().cursor(), STUDY):
        after = (
            "**Next: press Fetch crane-llm**, which takes a minute."
            if may(Role.ADMIN)
            else "An admin can fetch them."
        )
        st.info(
            "The published study is loaded as facts: labels, votes, outcomes and printed numbers. Its code, kernel "
            f"states and reasoning belong to their authors. {after}"
        )


def draw_sources() -> None:
    """A card per source; and all of them as a table, whose commits lead to where others published them."""
    sources = source_cards.loaded_sources()
    source_cards.draw_source_cards(sources)
    with st.container(key="folds_of_sources"):
        with st.expander("All sources as a table, with checksums"):
            _draw_table(sources)
        with st.expander("Records by source"):
            _draw_records(sources)


def _draw_table(sources: list[source_cards.LoadedSource]) -> None:
    """One row per source, oldest first."""
    released = [
        source.staged if source.staged and source.staged.release else None
        for source in sources
    ]
    shown = pd.DataFrame(
        {
            "Source": [source.source_id for source in sources],
            "Kind": [source.kind for source in sources],
            "Name": [source.name for source in sources],
            "Size": [
                source_cards.size_words(source.n_bytes) for source in sources
            ],
            "Loaded": [source.loaded for source in sources],
            "Problems": [source.n_problems for source in sources],
            "Release": [
                source_cards.release_words(source) if source else ""
                for source in released
            ],
            "Commit": [
                source.release.page if source and source.release else ""
                for source in released
            ],
            "sha256": [source.sha256 for source in sources],
        }
    )
    shown = shown.loc[
        :, (shown != "").any()
    ]  # without Release and Commit where no source has one
    grid(
        shown,
        column_config={
            "Commit": st.column_config.LinkColumn(display_text=COMMIT)
        },
    )


def _draw_records(sources: list[source_cards.LoadedSource]) -> None:
    """How many records of each kind a source has, and how many of them no other source had before."""
    counts = state.source_counts(data.store().cursor())
    names = {source.source_id: source.name for source in sources}
    shown = counts.assign(
        source=counts["source_id"].map(names),
        record=counts["record"].str.replace("_", " "),
    )
    columns = {
        "source": "Source",
        "record": "Record",
        "n_read": "Read",
        "n_new": "New",
    }
    records = st.column_config.NumberColumn(format="localized")
    shown = shown[list(columns)].rename(columns=columns)
    grid(shown, column_config={"Read": records, "New": records})


@data.kept(data.version)
def _without_instance() -> list[LoadProblem]:
    return state.without_instance(data.store().cursor())


@data.kept(data.answers)
def _contradictions() -> pd.DataFrame:
    return contradictions(data.verdicts())


def draw_problems() -> None:
    """Every record that was not loaded as it is, and each published number that is not what its own data give."""
    problems = state.load_problems(data.store().cursor())
    told = problems["reason"].str.extract(DIFFERS)
    differs = told["Why"].notna()
    waits, n = _without_instance(), int(differs.sum())
    title = (
        "1 published number differs from the recomputed one"
        if n == 1
        else f"{count(n)} published numbers differ from recomputed ones"
    )
    is_alone = bool(n) and bool(differs.all()) and not waits
    st.header(title if is_alone else "Problems", anchor="problems")
    for waiting in waits:
        st.warning(
            literal(f"{waiting.path}, {waiting.place}: {waiting.reason}.")
        )
    if problems.empty:
        st.caption("No problems: every record of every source was read.")
    if not differs.all():
        _draw_unread(problems[~differs])
    if n:
        if not is_alone:
            st.markdown(f"**{title}**")
        st.html(differing_html(told[differs].assign(Where=problems["place"])))


def differing_html(told: pd.DataFrame) -> str:
    """One table; above the rows of each reason a row says where they are and why. A case that it names is a link."""
    body = ""
    for why, rows in told.groupby("Why", sort=False):
        places = [
            place.split(", ")
            for place in rows["Where"].replace(PLACES, regex=True)
        ]
        parts = zip(*(place[:-1] for place in places), strict=False)
        above = [
            part[0]
            for part in takewhile(lambda part: len(set(part)) == 1, parts)
        ]
        because = INSTANCE.sub(
            r'<a href="cases?case=\g<case>" target="_self">\g<0></a>',
            escape(str(why)),
        )
        body += (
            f'<tr><th scope="colgroup" colspan="3">{escape(", ".join(above))}'
            f"<small>Why: {because}.</small></th></tr>"
        )
        for place, (printed, computed) in zip(
            places, rows[["Printed", "Computed"]].to_numpy(), strict=True
        ):
            name = escape(", ".join(place[len(above) :]))
            body += (
                f'<tr><th scope="row">{name}</th><td class="cw-number">{escape(printed)}</td>'
                f'<td class="cw-number">{escape(computed)}</td></tr>'
            )
    heads = "".join(
        f'<th scope="col" class="cw-number">{head}</th>'
        for head in ("Printed", "Computed")
    )
    return (
        '<table class="cw-versus cw-plain cw-differing"><thead><tr><th scope="col">Where</th>'
        f"{heads}</tr></thead><tbody>{body}</tbody></table>"
    )


def _draw_unread(problems: pd.DataFrame) -> None:
    """The other kinds."""
    columns = {"reason": "Reason", "place": "Place"}
    kinds = problems["kind"].value_counts()
    told = [
        f"{count(n)} × {kind}: {MEANING[ProblemKind(str(kind))]}"
        for kind, n in kinds.items()
    ]
    # A column whose cells are alike is said once.
    for name, head in {"path": "File", "source_id": "Source"}.items():
        if problems[name].nunique() > 1:
            columns[name] = head
        else:
            told.append(f"{head.lower()} {problems[name].iloc[0]}")
    if len(kinds) > 1:
        columns["kind"] = "Kind"
    st.caption(literal("; ".join(told)))
    draw_first_rows(problems[list(columns)].rename(columns=columns), "problems")


def draw_chosen_problems() -> None:
    """The problems of the source whose button was pressed, over the page; once per press."""
    source_id = st.session_state.pop(keys.PROBLEMS_OF, None)
    if source_id is not None:
        _draw_problems_over_the_page(source_id)


@st.dialog("Problems of one source", width="large")
def _draw_problems_over_the_page(source_id: str) -> None:
    cursor = data.store().cursor()
    problems = as_rows(
        state.load_problems(cursor, source_id, limit=MOST_PROBLEMS)
    )
    entries = [
        problem_html(row["kind"], row["path"], row["place"], row["reason"])
        for row in problems
    ] + [
        problem_html(
            ProblemKind.WAITING, waiting.path, waiting.place, waiting.reason
        )
        for waiting in state.without_instance(cursor, source_id)
    ]
    st.html(f'<div class="cw-problems">{"".join(entries)}</div>')
    st.caption(
        literal(
            f"Source {source_id}. The first {count(MOST_PROBLEMS)} are shown; the table on the page has all."
            if len(problems) == MOST_PROBLEMS
            else f"Source {source_id}"
        )
    )


def problem_html(kind: str, path: str, place: str, reason: str) -> str:
    """One problem: its place, its reason, and what kind it is."""
    return (
        f"<section><b>{escape(place)}</b><p>{escape(reason)}</p>"
        f'<span class="cw-dim">{escape(kind)} in {escape(path)}</span></section>'
    )


def draw_contradictions() -> None:
    """Published human outcomes that the votes of the same files contradict, by instance."""
    found = _contradictions()
    if found.empty:
        st.caption("No vote contradicts a published human outcome.")
        return
    shown = pd.DataFrame(
        {
            "Instance": found["instance_id"],
            "Detector": found["detector"].map(data.detector_titles()),
            "Input": found["setting"].map(setting_short),
            "Runs that predict a crash": [
                f"{a} of {a + b}"
                for a, b in zip(found["n_crash"], found["n_safe"], strict=True)
            ],
            "Human outcome": found["human"].fillna(NOTHING),
            "Explanation": found["why"],
        }
    )
    with st.expander(
        f"Votes that contradict the published human outcomes: {count(len(found))}"
    ):
        st.html(rows_html(shown))


def draw_annotators() -> None:
    """Who gave how many labels: people, and LLM judges with their repetitions and orders."""
    counts = verdicts.label_counts(data.store().cursor())
    columns = {
        "annotator": "Annotator",
        "annotator_kind": "Kind",
        "presentation": "Order of texts",
        "n_repetitions": "Repetitions",
        "n_labels": "Labels",
    }
    shown = counts[list(columns)].rename(columns=columns)
    shown["Labels"] = shown["Labels"].map(count)
    with st.expander(
        f"Labels by annotator: {count(int(counts['n_labels'].sum()))} by {quantity(len(counts), 'annotator')}"
    ):
        st.html(rows_html(shown))


def draw_counts() -> None:
    """Rows of every table, folded away."""
    counts = data.table_counts()
    with st.expander(
        f"Database: {count(sum(counts.values()))} rows in {count(len(counts))} tables"
    ):
        shown = pd.DataFrame(
            {
                "Table": [name.replace("_", " ") for name in counts],
                "Rows": [count(n) for n in counts.values()],
            }
        )
        grid(shown, width=420, height="content")


def draw_verified() -> None:
    """One row per benchmark and environment, the newest first; then the other pairs of each benchmark's newest.

    Folded away while no pair was executed.
    """
    found = verified.summaries(data.store())
    if not found:
        with st.expander("Verified pairs: none yet"):
            st.caption(
                "No pairs were executed here yet. The command `verify minibench`, or the name of any benchmark or "
                "folder, runs every pair and says whether one notebook crashes as recorded and the other does not."
            )
        return
    st.header("Verified pairs", anchor="verified")
    titles = data.benchmark_titles()
    grid(
        pd.DataFrame(
            {
                "Benchmark": [
                    titles.get(one.benchmark, one.benchmark) for one in found
                ],
                "Pairs": [len(one.pairs) for one in found],
                "As recorded": [one.n(VerifiedAs.AS_RECORDED) for one in found],
                "Not as recorded": [one.n(*verified.WRONG) for one in found],
                "Not verified here": [one.n(*verified.APART) for one in found],
                "Python": [one.python for one in found],
                "Executed": [moment(one.last_at) for one in found],
                "Environment": [one.environment for one in found],
            }
        )
    )
    newest = list({one.benchmark: one for one in reversed(found)}.values())
    _draw_pairs(
        "Pairs that are not what they claim to be", newest, verified.WRONG
    )
    _draw_pairs("Pairs that could not be verified here", newest, verified.APART)


def _draw_pairs(
    heading: str,
    found: Sequence[verified.Summary],
    outcomes: Sequence[VerifiedAs],
) -> None:
    listed = [
        pair for one in found for pair in one.pairs if pair.outcome in outcomes
    ]
    if not listed:
        return
    st.markdown(f"**{literal(heading)}** ({count(len(listed))})")
    shown = pd.DataFrame(
        {
            "Case": [pair.case_id for pair in listed],
            "Benchmark": [pair.benchmark for pair in listed],
            "Notebook": [str(pair.of.version) for pair in listed],
            "Outcome": [str(pair.outcome) for pair in listed],
            "Reason": [pair.of.why for pair in listed],
        }
    )
    draw_first_rows(shown, "pairs")

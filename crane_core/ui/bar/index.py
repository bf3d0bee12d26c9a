"""What can be found from the bar: pages, cases, runs, campaigns, and phrases such as "torch missed by GPT-5".

Knows who may find what, and the words of the filters. Refuses to know how words are compared. In a blind campaign
nothing is found that leads to what the model of an item was shown, and no campaign by who may not lead one. One word of
a phrase that is not understood makes the whole unknown: half an answer would look like a whole one.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crane_core.identity.visitor import Role, Visitor
from crane_core.pipeline.campaigns.campaigns import campaign_names
from crane_core.pipeline.cases.pairs import Pattern
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data, keys, words
from crane_core.ui.access import is_leading
from crane_core.ui.bar import places
from crane_core.ui.navigation import page_files, question, title
from crane_core.ui.runs.address import address_of, key_of

CASES = "cases"
STORY = places.Place(
    places.PlaceKind.PAGE,
    "One case in five steps",
    "a guided story: code, state, two answers, label, study",
    "overview",
    {keys.STORY: "1"},
)
LABELS = (keys.LIBRARY, keys.ROOT_CAUSE, keys.CRASH_TYPE, keys.STAGE)
FILLERS = frozenset(
    {
        "a", "all", "and", "by", "case", "cases", "crash", "crashes", "for", "from", "in", "of", "on", "the", "which",
        "with",
    }
)  # fmt: skip
"""Words between the values of filters that change nothing."""
PATTERN_WORDS = {
    "missed": Pattern.MISSED,
    "missed by all": Pattern.MISSED,
    "false alarm": Pattern.ALARM,
    "false alarms": Pattern.ALARM,
    "wrong reason": Pattern.WRONG_REASON,
    "right call, wrong reason": Pattern.WRONG_REASON,
    "models disagree": Pattern.DIFFER,
    "unstable": Pattern.FLIP,
    "rt helped": Pattern.HELPED,
    "helped": Pattern.HELPED,
    "rt hurt": Pattern.HURT,
    "hurt": Pattern.HURT,
}


class FilterValue(NamedTuple):
    """One value of a filter: the filter's name in the address, the value there, how people read and may write it."""

    key: str
    value: str
    words: str
    spellings: tuple[str, ...] = ()


Vocabulary = Mapping[str, FilterValue]
"""What people may write, in lower case, to the filter's value that it means."""


class Phrase(NamedTuple):
    """What was understood: the filters, and the same in words."""

    query: dict[str, str | list[str]]
    words: str


def found(
    text: str, visitor: Visitor, views: list[places.Place], *, is_blind: bool
) -> list[places.Place]:
    """At most MOST places that the words mean, in the order in which they are drawn; at rest the pages and views."""
    pages = [STORY, *_pages()]
    if not text.strip():
        return [*pages, *views][: places.MOST]
    known = places.listed([*pages, *views, *_campaigns(visitor)])
    hits = places.matching(known if is_blind else [*known, *_answers()], text)
    phrases = [] if is_blind else _phrases(text)
    search = places.Place(
        places.PlaceKind.TEXT,
        f"Cases that contain “{text.strip()}”",
        "in code, errors and diagnoses",
        CASES,
        {keys.SEARCH: text.strip()},
    )
    # Words that begin no name are mostly words of an error or of code.
    is_name = any(places.is_named(place, text) for place in hits)
    rest = [*hits[: places.MOST - 2], search] if is_name else [search, *hits]
    return [*phrases, *rest][: places.MOST]


def _pages() -> list[places.Place]:
    return [
        places.Place(
            places.PlaceKind.PAGE, title(name), question(name), name, {}
        )
        for name in page_files()
    ]


def _campaigns(visitor: Visitor) -> list[places.Place]:
    if not visitor.may(Role.LEAD) or not is_leading():
        return []
    return [
        places.Place(
            places.PlaceKind.CAMPAIGN,
            name,
            "",
            "campaigns",
            {keys.CAMPAIGN: name},
        )
        for name in campaign_names(data.folder())
    ]


def prepare_answers() -> None:
    """What the first search would wait for."""
    _answers()


@data.kept(data.answers)
def _answers() -> list[places.SearchEntry]:
    """Every case and run; the largest benchmark first."""
    return places.listed([*_cases(), *_runs()])


def _cases() -> list[places.Place]:
    titles = data.benchmark_titles()
    return [
        places.Place(
            places.PlaceKind.CASE,
            str(row["case_id"]),
            " · ".join(
                str(word)
                for word in (
                    titles[benchmark],
                    words.exception_name(row["exception"]),
                    row["library"],
                )
                if word
            ),
            CASES,
            {keys.BENCHMARK: benchmark, keys.CASE: str(row["case_id"])},
        )
        for benchmark in titles
        for row in as_rows(data.case_list(benchmark))
    ]


def _runs() -> list[places.Place]:
    titles = data.benchmark_titles()
    return [
        places.Place(
            places.PlaceKind.RUN,
            f"{row['detector_title']}, {words.setting_short(row['setting'])}",
            " · ".join(
                (
                    titles.get(row["benchmark"], str(row["benchmark"])),
                    data.run_title(row["experiment"])
                    or words.experiment_words(row["experiment"]),
                )
            ),
            "runs",
            address_of(key_of(row)),
        )
        for row in as_rows(data.run_list())
    ]


def _phrases(text: str) -> list[places.Place]:
    """The list of cases under the filters that the whole text names, on the first benchmark that has all of them."""
    for benchmark, title_of in data.benchmark_titles().items():
        if phrase := understood(text, _vocabulary(benchmark)):
            return [
                places.Place(
                    places.PlaceKind.PHRASE,
                    phrase.words,
                    f"in {title_of}",
                    CASES,
                    {keys.BENCHMARK: benchmark} | phrase.query,
                )
            ]
    return []


@data.kept(data.answers, 8)
def _vocabulary(benchmark: str) -> Vocabulary:
    """The values of the filters of a benchmark's cases, its detectors and inputs."""
    cases = data.case_list(benchmark)
    values = [
        FilterValue(column, value, value)
        for column in LABELS
        for value in cases[column].dropna().unique()
    ]
    conditions = data.conditions()
    asked = conditions[conditions["benchmark"] == benchmark]
    values += [
        FilterValue(
            keys.DETECTOR,
            str(row["detector"]),
            str(row["detector_title"]),
            _first_letters(str(row["detector_title"])),
        )
        for row in as_rows(asked.drop_duplicates("detector"))
    ]
    values += [
        FilterValue(
            keys.SETTING,
            setting,
            words.setting_short(setting),
            (
                words.setting_words(setting),
                words.setting_short(setting).replace("−", "-"),
            ),
        )
        for setting in asked["setting"].unique()
    ]
    return vocabulary(values)


def _first_letters(title_of: str) -> tuple[str, ...]:
    """ "Qwen" of "Qwen2.5-32B-Instruct", as people write it."""
    return tuple(re.findall(r"^[A-Za-z]+", title_of))


def vocabulary(values: Sequence[FilterValue]) -> dict[str, FilterValue]:
    """The words for these values and for the patterns; of two values with the same words the first counts."""
    known = {
        spelled: FilterValue(keys.AGREEMENT, str(pattern), str(pattern))
        for spelled, pattern in PATTERN_WORDS.items()
    }
    for one in values:
        for spelled in (one.words, one.value, *one.spellings):
            if spelled:
                known.setdefault(spelled.lower(), one)
    return known


def understood(text: str, known: Vocabulary) -> Phrase | None:
    """The filters that the whole text names; None if a word of it is not known, or none is."""
    left = re.findall(r"[^\s,;]+", text.lower())
    longest = max((len(key.split()) for key in known), default=0)
    found: list[FilterValue] = []
    while left:
        # The longest first: "data confusion" before a value "data".
        sizes = range(min(longest, len(left)), 0, -1)
        size = next((n for n in sizes if " ".join(left[:n]) in known), 0)
        if size:
            found.append(known[" ".join(left[:size])])
        elif left[0] not in FILLERS:
            return None
        left = left[max(size, 1) :]
    return _phrase(found) if found else None


def _phrase(found: Sequence[FilterValue]) -> Phrase:
    query: dict[str, str | list[str]] = {}
    for one in found:
        if one.key == keys.AGREEMENT:
            query[one.key] = one.value
            continue
        values = query.setdefault(one.key, [])
        if isinstance(values, list) and one.value not in values:
            values.append(one.value)
    return Phrase(query, _in_words(found))


def _in_words(found: Sequence[FilterValue]) -> str:
    """As the list of cases counts them: the patterns are those of the chosen answers alone."""
    of_answers = (keys.DETECTOR, keys.SETTING)
    patterns = [one.words for one in found if one.key == keys.AGREEMENT]
    answers = dict.fromkeys(one.words for one in found if one.key in of_answers)
    labels = dict.fromkeys(
        one.words
        for one in found
        if one.key not in (keys.AGREEMENT, *of_answers)
    )
    counted = [f"answers of {', '.join(answers)}"] if answers else []
    return " · ".join([*labels, *patterns[-1:], *counted])

"""How numbers and names look everywhere: one formatter, one set of words, one colour class per label.

Published labels have exceptions in small letters; here they are written as their owners write them.
"""

import builtins
import math
import re
from collections.abc import Iterable, Sequence

from crane_core import rounding
from crane_core.annotation.label_set import study_labels
from crane_core.domain import DetectorKind, Label, Setting, Version
from crane_core.pipeline.loading.editions import without_edition
from crane_core.pipeline.results.measures import Inputs

VERSION_WORDS: dict[str, str] = {
    Version.REPRODUCED: "crashing",
    Version.FIXED: "fixed",
}
SETTING_WORDS = {
    Setting.CODE: "code only",
    Setting.RUNTIME: "with runtime state",
    Setting.RUNTIME_WITHOUT_S: "runtime state without S",
    Setting.RUNTIME_WITHOUT_R: "runtime state without R",
    Setting.RUNTIME_WITHOUT_V: "runtime state without V",
    Setting.RUNTIME_DOCS: "runtime state and API documentation",
    Setting.RUNTIME_PLUS: "extended runtime state",
}
SETTING_SHORT = {
    Setting.CODE: "−RT",
    Setting.RUNTIME: "+RT",
    Setting.RUNTIME_WITHOUT_S: "+RT−S",
    Setting.RUNTIME_WITHOUT_R: "+RT−R",
    Setting.RUNTIME_WITHOUT_V: "+RT−V",
    Setting.RUNTIME_DOCS: "+RT+D",
    Setting.RUNTIME_PLUS: "+RT+",
}
KIND_WORDS = {
    DetectorKind.LLM: "LLMs",
    DetectorKind.ANALYZER: "static analyzers",
    DetectorKind.RULES: "rules",
    DetectorKind.REHEARSAL: "rehearsal (execution in a copy)",
    DetectorKind.REPAIR: "repair (fixes tried in a copy)",
}
LABEL_WORDS: dict[str, str] = {
    label.code: label.words for label in study_labels().labels
} | {
    Label.MISDETECTED: "– not detected",
    Label.UNVERIFIABLE: "? unverifiable",
}
LABEL_CSS = {
    Label.CORRECT: "cw-right",
    Label.PARTIAL: "cw-part",
    Label.WRONG: "cw-wrong",
    Label.MISDETECTED: "cw-dim",
    Label.UNVERIFIABLE: "cw-dim",
}
EXPERIMENT_WORDS = {
    "crane-llm-2025-10": "CRANE-LLM, release of October 2025",
    "crane-llm-2026": "CRANE-LLM, release of 2026",
    "junobench-construct": "JunoBench, first exploration",
    "rules-on-published-states": "Our rules on the published states",
    "shipped": "Shipped with the app",
}
NOTHING = "–"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~:$^=])")


def labelled_by(annotator: str) -> str:
    """Whose labels, in short: where the passes of a judge are pooled, no single one is shown beside them."""
    return annotator.replace(", all repetitions", "")


def notebook_words(version: Version) -> str:
    """A version as a heading: "Crashing notebook"."""
    return f"{VERSION_WORDS[version].capitalize()} notebook"


def setting_words(setting: str) -> str:
    """A setting in words, with the paper's sign: "code only (−RT)"."""
    known = Setting(setting)
    return f"{SETTING_WORDS[known]} ({SETTING_SHORT[known]})"


def inputs_short(inputs: Inputs) -> str:
    """Two inputs as the paper writes them: "+RT against −RT"."""
    return f"{SETTING_SHORT[inputs.other]} against {SETTING_SHORT[inputs.base]}"


def sentence_case(words: str) -> str:
    """The words as a title begins: only the first letter becomes large."""
    return words[:1].upper() + words[1:]


def setting_short(setting: str) -> str:
    """A setting as the paper writes it: −RT, +RT, +RT−S ..."""
    return SETTING_SHORT[Setting(setting)]


def experiment_words(experiment: str) -> str:
    """An experiment in words; of another release than the default with its edition."""
    name, edition = without_edition(experiment)
    return (
        f"{EXPERIMENT_WORDS[name]}{edition_words(edition)}"
        if is_imported(experiment)
        else experiment
    )


def is_imported(experiment: str) -> bool:
    """Whether the experiment is a published one, not a local one."""
    return without_edition(experiment)[0] in EXPERIMENT_WORDS


def edition_words(edition: str) -> str:
    """What follows a name to say which release is meant; nothing for the default."""
    return f", at {edition}" if edition else ""


def percent(share: float | None, digits: int = 1) -> str:
    """A share in 0..1 as percent: 0.633 is "63.3%"; nothing at all is a dash."""
    return (
        NOTHING
        if share is None or math.isnan(share)
        else f"{rounding.digits(share * 100, digits)}%"
    )


def points(difference: float | None, digits: int = 1) -> str:
    """A difference of shares as percentage points with its sign: 0.0721 is "+7.2 pp"."""
    if difference is None or math.isnan(difference):
        return NOTHING
    known = rounding.digits(difference * 100, digits, sign=True)
    # What rounds to 0 has no sign.
    return f"{known.replace('-', '−') if float(known) else known[1:]} pp"


def interval(low: float | None, high: float | None, digits: int = 1) -> str:
    """An interval of shares: "58.1 to 72.0%"."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return NOTHING
    return f"{rounding.digits(low * 100, digits)} to {rounding.digits(high * 100, digits)}%".replace(
        "-", "−"
    )


def points_interval(low: float | None, high: float | None) -> str:
    """An interval of differences of shares: "1.4 to 13.1 pp"."""
    return interval(low, high).replace("%", " pp")


def coefficient(value: float | None) -> str:
    """A coefficient of agreement with two decimals; what is nearly 1 is not shown as 1."""
    if value is None or math.isnan(value):
        return NOTHING
    if 0.995 <= value < 1 - 1e-9:
        return "> 0.99"
    return rounding.digits(value, 2).replace("-", "−")


def coefficient_interval(low: float | None, high: float | None) -> str:
    """An interval of coefficients: "0.82 to 0.95"."""
    return (
        NOTHING
        if NOTHING in (coefficient(low), coefficient(high))
        else f"{coefficient(low)} to {coefficient(high)}"
    )


def count(n: int) -> str:
    """A count with thousands separated: 6,660."""
    return f"{n:,}"


def with_n(name: str, least: int, most: int) -> str:
    """A row of a chart with the number of notebooks that it is over; a range where its values differ in that.

    On one line: a line separator in a name (U+2028) would keep Vega from drawing the whole chart.
    """
    name = " ".join(name.split())
    return (
        f"{name} (n {count(least)})"
        if least == most
        else f"{name} (n {count(least)}–{count(most)})"
    )


def quantity(n: int, noun: str) -> str:
    """The number with its noun: "1 item", "1,200 items"."""
    return f"{count(n)} {noun if n == 1 else f'{noun}s'}"


def cells_words(n: int) -> str:
    """A number of cells in words: "the cell", "the 3 cells"."""
    return {0: "no cell", 1: "the cell"}.get(n, f"the {n:,} cells")


def literal(text: str) -> str:
    """`text` escaped for Markdown: every character is shown unchanged."""
    return _MARKDOWN.sub(r"\\\1", text)


def whole(value: float | None) -> str:
    """A count that may be missing."""
    return NOTHING if value is None else f"{value:.0f}"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names in a sentence: "A", "A and B", "A, B and C"."""
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last


def names_typed(text: str) -> tuple[str, ...]:
    """The names in a typed text, with commas between them."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def bullets(sentences: Iterable[str]) -> str:
    """Sentences as a list in Markdown."""
    return "".join(f"- {sentence}\n" for sentence in sentences)


def moment(at: str) -> str:
    """An ISO time in UTC as a reader needs it, to the minute."""
    return f"{at[:16].replace('T', ' ')} UTC"


def shortened(text: str, limit: int) -> str:
    """At most so many characters of a text; a longer one says how long it is."""
    return (
        text
        if len(text) <= limit
        else f"{text[:limit]}… ({len(text):,} characters)"
    )


def p_words(p: float | None) -> str:
    """A p-value as it follows "p": "= 0.012" or "< 0.001"."""
    words = p_value(p)
    return words if words.startswith("<") else f"= {words}"


def p_value(p: float | None) -> str:
    """A p-value to three digits; below 0.001 it says so."""
    if p is None or math.isnan(p):
        return NOTHING
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


_OF_LIBRARIES = (
    "AxisError", "InvalidArgumentError", "LightGBMError", "LinAlgError", "NotFittedError", "OutOfBoundsDatetime",
    "ResourceExhaustedError", "UnimplementedError",
)  # fmt: skip
_BUILT_IN = [
    name
    for name, held in vars(builtins).items()
    if isinstance(held, type) and issubclass(held, BaseException)
]
_KNOWN = {name.lower(): name for name in (*_BUILT_IN, *_OF_LIBRARIES)}

_NAMED = re.compile(r"(?<![\w.])(?:[a-z_]\w*\.)*([A-Z]\w*)(?!\w)")
_ENDINGS = ("Error", "Exception", "Warning")
MOST_NAMED = 4
"""Exceptions of one text that are listed."""
MAX_NAME = 60


def exception_name(name: str | None) -> str | None:
    """`valueerror` is ValueError; an unknown name is returned unchanged."""
    return name if name is None else _KNOWN.get(name.lower(), name)


def named_exceptions(text: str) -> tuple[str, ...]:
    """The exception classes that a text names, each once, in its order."""
    known = set(_KNOWN.values())
    found = dict.fromkeys(
        name
        for name in _NAMED.findall(text)
        if len(name) <= MAX_NAME
        and (
            name in known or (name.endswith(_ENDINGS) and name not in _ENDINGS)
        )
    )
    return tuple(found)[:MOST_NAMED]

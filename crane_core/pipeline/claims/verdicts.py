"""Compares a stated claim with the data. Knows numbers, digits and intervals; refuses to know what was measured.

A claim is of one of eight kinds, and its estimates (one, or one for each detector or group it speaks of) decide:

- number: each estimate, rounded half up to the stated digits, is the stated number.
- change: the same of a difference, with its sign.
- about: the estimate is within a tenth of the stated number.
- range: every estimate, rounded to the stated digits, lies between the two stated numbers ("7 to 10").
- more than: the estimate is above the stated number.
- rises, falls: every estimate is above 0 (below 0). That A exceeds B is a rise of A minus B.
- does not rise: no estimate is above 0. It is about what was observed, so no interval is asked.

Verdicts, the first that applies:

- contradicted: a sign is not the stated one, or a number is off by more than one unit in its last stated place; a
  count must be equal.
- within noise: signs are as stated, but the 95% interval of an estimate includes 0 (change, range, rises, falls).
- rounds differently: off by no more than one unit in the last stated place, yet not the rounding of our exact value.
- holds.
- not testable here: no estimate, or signs alone are known (`rises`, `falls`) and no interval says how sure they are.

Each interval stands for itself: none is adjusted for the number of claims.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from crane_core.pipeline.study.table_cells import agrees, printed_decimals, printed_value
from crane_core.rounding import rounded

TENTH = Fraction(1, 10)
COUNT = "count"


class Kind(StrEnum):
    NUMBER = "number"
    CHANGE = "change"
    ABOUT = "about"
    RANGE = "range"
    MORE_THAN = "more than"
    RISES = "rises"
    FALLS = "falls"
    DOES_NOT_RISE = "does not rise"


class Verdict(StrEnum):
    HOLDS = "holds"
    ROUNDS_DIFFERENTLY = "rounds differently"
    WITHIN_NOISE = "within noise"
    CONTRADICTED = "contradicted"
    NOT_TESTABLE = "not testable here"


@dataclass(frozen=True, slots=True)
class Estimate:
    """An exact value in the unit of the claim, of what `name` tells, with its 95% interval where it has one."""

    name: str
    value: Fraction
    low: float | None = None
    high: float | None = None

    @property
    def has_interval(self) -> bool:
        return self.low is not None and self.high is not None

    @property
    def includes_zero(self) -> bool:
        return self.low is not None and self.high is not None and self.low <= 0 <= self.high


class Judged(NamedTuple):
    """The verdict, why it is none better (empty if it holds plainly), and the estimate that decided."""

    verdict: Verdict
    why: str
    decisive: Estimate


def judge(kind: Kind, stated: str, unit: str, estimates: Sequence[Estimate]) -> Judged:
    """The verdict of a claim by at least one estimate. Raises ValueError if the stated text is no such number."""
    if not estimates:
        raise ValueError("a claim is judged by at least one estimate")
    return _JUDGES[kind](stated, unit, estimates)


def range_ends(stated: str) -> tuple[str, str]:
    """The two numbers of "7 to 10". Raises ValueError."""
    least, mark, most = stated.partition(" to ")
    if not mark:
        raise ValueError(f"{stated!r} is not a range such as 7 to 10")
    return least, most


def _number(stated: str, unit: str, estimates: Sequence[Estimate]) -> Judged:
    found = max(estimates, key=lambda one: abs(one.value - printed_value(stated)))
    verdict = _digits(found.value, stated, unit)
    return Judged(verdict, _digit_words(found.value, stated, verdict), found)


def _digits(value: Fraction, stated: str, unit: str) -> Verdict:
    if agrees(value, stated):
        return Verdict.HOLDS
    last_place = Fraction(1, 10 ** printed_decimals(stated))
    is_near = unit != COUNT and abs(value - printed_value(stated)) <= last_place
    return Verdict.ROUNDS_DIFFERENTLY if is_near else Verdict.CONTRADICTED


def _digit_words(value: Fraction, stated: str, verdict: Verdict) -> str:
    if verdict is Verdict.HOLDS:
        return ""
    decimals = printed_decimals(stated)
    text = f"{float(rounded(value, decimals)):.{decimals}f}"
    return f"it is {text}" if value.denominator == 1 and not decimals else f"it rounds to {text}"


def _change(stated: str, unit: str, estimates: Sequence[Estimate]) -> Judged:
    found = estimates[0]
    digits = _digits(found.value, stated, unit)
    words = _digit_words(found.value, stated, digits)
    if found.value * printed_value(stated) <= 0 or digits is Verdict.CONTRADICTED:
        return Judged(Verdict.CONTRADICTED, words or "the sign differs", found)
    if found.includes_zero:
        return Judged(Verdict.WITHIN_NOISE, "; ".join(filter(None, ["its interval includes 0", words])), found)
    return Judged(digits, "; ".join(filter(None, [words, _no_interval(found)])), found)


def _no_interval(found: Estimate) -> str:
    return "" if found.has_interval else "the number alone: there is no interval without the answers"


def _about(stated: str, unit: str, estimates: Sequence[Estimate]) -> Judged:
    said = printed_value(stated)
    far = max(estimates, key=lambda found: abs(found.value - said))
    if abs(far.value - said) > TENTH * abs(said):
        return Judged(Verdict.CONTRADICTED, "off by more than a tenth", far)
    return _unless_noise(estimates, far)


def _range(stated: str, unit: str, estimates: Sequence[Estimate]) -> Judged:
    texts = range_ends(stated)
    decimals = max(printed_decimals(text) for text in texts)
    least, most = (printed_value(text) for text in texts)
    far = max(estimates, key=lambda found: max(least - found.value, found.value - most))
    beyond = max(least - far.value, far.value - most)
    if beyond > Fraction(1, 10**decimals):
        return Judged(Verdict.CONTRADICTED, f"{far.name} is outside", far)
    judged = _unless_noise(estimates, far)
    if judged.verdict is Verdict.HOLDS and not least <= rounded(far.value, decimals) <= most:
        return Judged(Verdict.ROUNDS_DIFFERENTLY, f"{far.name} is outside by rounding", far)
    return judged


def _more_than(stated: str, unit: str, estimates: Sequence[Estimate]) -> Judged:
    least = min(estimates, key=lambda found: found.value)
    is_above = least.value > printed_value(stated)
    return Judged(Verdict.HOLDS if is_above else Verdict.CONTRADICTED, "" if is_above else "it is not above", least)


def _rises(stated: str, unit: str, estimates: Sequence[Estimate]) -> Judged:
    return _signed(estimates, 1)


def _falls(stated: str, unit: str, estimates: Sequence[Estimate]) -> Judged:
    return _signed(estimates, -1)


def _signed(estimates: Sequence[Estimate], sign: int) -> Judged:
    wrong = [found for found in estimates if found.value * sign <= 0]
    if wrong:
        far = min(wrong, key=lambda found: found.value * sign)
        return Judged(Verdict.CONTRADICTED, _which("does not hold:", wrong, len(estimates)), far)
    unsure = next((found for found in estimates if not found.has_interval), None)
    if unsure is not None:
        return Judged(Verdict.NOT_TESTABLE, "the signs are as stated; there is no interval without the answers", unsure)
    return _unless_noise(estimates, min(estimates, key=lambda found: found.value * sign))


def _unless_noise(estimates: Sequence[Estimate], otherwise: Estimate) -> Judged:
    noisy = [found for found in estimates if found.includes_zero]
    if not noisy:
        return Judged(Verdict.HOLDS, _no_interval(otherwise), otherwise)
    far = min(noisy, key=lambda found: abs(found.value))
    return Judged(Verdict.WITHIN_NOISE, _which("intervals that include 0:", noisy, len(estimates)), far)


def _which(words: str, found: Sequence[Estimate], n: int) -> str:
    if n == 1:
        return "the sign differs" if words.startswith("not") else "its interval includes 0"
    return f"{words} {', '.join(one.name for one in found)} ({len(found)} of {n})"


def _does_not_rise(stated: str, unit: str, estimates: Sequence[Estimate]) -> Judged:
    most = max(estimates, key=lambda found: found.value)
    risen = [found for found in estimates if found.value > 0]
    if risen:
        return Judged(Verdict.CONTRADICTED, f"it rises: {', '.join(found.name for found in risen)}", most)
    return Judged(Verdict.HOLDS, "", most)


_JUDGES: dict[Kind, Callable[[str, str, Sequence[Estimate]], Judged]] = {
    Kind.NUMBER: _number,
    Kind.CHANGE: _change,
    Kind.ABOUT: _about,
    Kind.RANGE: _range,
    Kind.MORE_THAN: _more_than,
    Kind.RISES: _rises,
    Kind.FALLS: _falls,
    Kind.DOES_NOT_RISE: _does_not_rise,
}

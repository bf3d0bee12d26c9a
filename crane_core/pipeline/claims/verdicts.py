"""Compares a stated claim with the data. Knows numbers, digits and intervals; refuses to know what was measured.

A claim is of one of ten kinds, and its estimates (one, or one for each detector or group it speaks of) decide:

- number: each estimate, rounded half up to the stated digits, is the stated number.
- change: the same of a difference, with its sign.
- about: the estimate is within a tenth of the stated number.
- range: every estimate, rounded to the stated digits, lies between the two stated numbers ("7 to 10").
- more than, at most: the estimate is above the stated number, or not above it.
- rises, falls: every estimate is above 0 (below 0). That A exceeds B is a rise of A minus B.
- does not rise: every estimate is below a margin, because none can be shown to be exactly 0.
- similar: every estimate is within the margin, above 0 or below.

Verdicts, the first that applies:

- contradicted: a stated number is off by more than one unit in its last place (a count must be equal), or the whole
  interval of an estimate lies where the claim says that it does not. A sign or a tie alone contradicts nothing: a
  direction is refuted by what would be asked to show it.
- not testable here: no estimate, or a direction (rises, falls, does not rise, similar) without an interval.
- within noise: an interval leaves open whether the claim is true.
- rounds differently: off by no more than one unit in the last stated place, yet not the rounding of our exact value.
- holds.

Each interval counts alone: none is adjusted for the number of claims.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from crane_core.pipeline.study import table_cells
from crane_core.rounding import rounded

TENTH = Fraction(1, 10)
COUNT = "count"
MARGIN_PP = 5
"""Differences within this many percentage points count as none. Ours: the paper names no margin. The smallest gain in
accuracy that it calls one is 4 points."""


class ClaimKind(StrEnum):
    """How a claim is stated; the module's docstring has the rule of each kind."""

    NUMBER = "number"
    CHANGE = "change"
    ABOUT = "about"
    RANGE = "range"
    MORE_THAN = "more than"
    AT_MOST = "at most"
    RISES = "rises"
    FALLS = "falls"
    DOES_NOT_RISE = "does not rise"
    SIMILAR = "similar"


class ClaimVerdict(StrEnum):
    """What the data say of a claim, from agreement to contradiction, or that they cannot say."""

    HOLDS = "holds"
    ROUNDS_DIFFERENTLY = "rounds differently"
    WITHIN_NOISE = "within noise"
    CONTRADICTED = "contradicted"
    NOT_TESTABLE = "not testable here"


@dataclass(frozen=True, slots=True)
class ClaimEstimate:
    """An exact value in the unit of the claim, of what `name` tells, with its 95% interval where it has one.

    remark: what a reader must know besides, such as why there is no interval.
    """

    name: str
    value: Fraction
    low: float | None = None
    high: float | None = None
    remark: str = ""

    @property
    def has_interval(self) -> bool:
        """Whether both ends of the 95% interval are known."""
        return self.low is not None and self.high is not None

    @property
    def includes_zero(self) -> bool:
        """Whether the interval leaves open that there is no difference; False without an interval."""
        return self.includes(0)

    def includes(self, value: float) -> bool:
        """Whether the interval does; never without one."""
        if self.low is None or self.high is None:
            return False
        return self.low <= value <= self.high

    def lies_above(self, value: float) -> bool:
        """Whether the whole interval does; never without one."""
        return self.low is not None and self.low > value

    def lies_below(self, value: float) -> bool:
        """Whether the whole interval does; False without one."""
        return self.high is not None and self.high < value


class Judged(NamedTuple):
    """The verdict, why it is none better (empty if it holds plainly), and the estimate that decided."""

    verdict: ClaimVerdict
    why: str
    decisive: ClaimEstimate


def judge(
    kind: ClaimKind,
    stated: str,
    unit: str,
    estimates: Sequence[ClaimEstimate],
) -> Judged:
    """The verdict of a claim by at least one estimate. Raises ValueError if the stated text is no such number."""
    if not estimates:
        raise ValueError("a claim is judged by at least one estimate")
    judged = _JUDGES[kind](stated, unit, estimates)
    return judged._replace(why=_joined(judged.why, judged.decisive.remark))


def range_ends(stated: str) -> tuple[str, str]:
    """The two numbers of "7 to 10". Raises ValueError."""
    least, mark, most = stated.partition(" to ")
    if not mark:
        raise ValueError(f"{stated!r} is not a range such as 7 to 10")
    return least, most


def _number(
    stated: str,
    unit: str,
    estimates: Sequence[ClaimEstimate],
) -> Judged:
    # The estimate that is farthest off decides: a claim about several must hold for each.
    found = max(
        estimates,
        key=lambda one: abs(one.value - table_cells.printed_value(stated)),
    )
    verdict = _digits(found.value, stated, unit)
    return Judged(verdict, _digit_words(found.value, stated, verdict), found)


def _digits(
    value: Fraction,
    stated: str,
    unit: str,
) -> ClaimVerdict:
    if table_cells.agrees(value, stated):
        return ClaimVerdict.HOLDS
    last_place = Fraction(1, 10 ** table_cells.printed_decimals(stated))
    # A count has no rounding: one more or less is another number.
    is_near = (
        unit != COUNT
        and abs(value - table_cells.printed_value(stated)) <= last_place
    )
    return (
        ClaimVerdict.ROUNDS_DIFFERENTLY
        if is_near
        else ClaimVerdict.CONTRADICTED
    )


def _digit_words(
    value: Fraction,
    stated: str,
    verdict: ClaimVerdict,
) -> str:
    if verdict is ClaimVerdict.HOLDS:
        return ""
    decimals = table_cells.printed_decimals(stated)
    text = f"{float(rounded(value, decimals)):.{decimals}f}"
    is_exact = value.denominator == 1 and not decimals
    return f"it is {text}" if is_exact else f"it rounds to {text}"


def _change(
    stated: str,
    unit: str,
    estimates: Sequence[ClaimEstimate],
) -> Judged:
    found = estimates[0]
    digits = _digits(found.value, stated, unit)
    words = _digit_words(found.value, stated, digits)
    if digits is ClaimVerdict.CONTRADICTED:
        return Judged(digits, words, found)
    if found.includes_zero:
        why = "its interval includes 0"
        return Judged(ClaimVerdict.WITHIN_NOISE, _joined(why, words), found)
    return Judged(digits, _joined(words, _no_interval(found)), found)


def _joined(*reasons: str) -> str:
    return "; ".join(reason for reason in reasons if reason)


def _no_interval(found: ClaimEstimate) -> str:
    if found.has_interval or found.remark:
        return ""
    return "the number alone: there is no interval without the answers"


def _about(
    stated: str,
    unit: str,
    estimates: Sequence[ClaimEstimate],
) -> Judged:
    said = table_cells.printed_value(stated)
    far = max(estimates, key=lambda found: abs(found.value - said))
    if abs(far.value - said) > TENTH * abs(said):
        return Judged(
            ClaimVerdict.CONTRADICTED, "off by more than a tenth", far
        )
    return _unless_noise(estimates, far)


def _range(
    stated: str,
    unit: str,
    estimates: Sequence[ClaimEstimate],
) -> Judged:
    texts = range_ends(stated)
    # "7 to 10" is judged with the digits that the paper prints.
    decimals = max(table_cells.printed_decimals(text) for text in texts)
    least, most = (table_cells.printed_value(text) for text in texts)
    far = max(
        estimates,
        key=lambda found: max(least - found.value, found.value - most),
    )
    beyond = max(least - far.value, far.value - most)
    if beyond > Fraction(1, 10**decimals):
        return Judged(ClaimVerdict.CONTRADICTED, f"{far.name} is outside", far)
    judged = _unless_noise(estimates, far)
    if (
        judged.verdict is ClaimVerdict.HOLDS
        and not least <= rounded(far.value, decimals) <= most
    ):
        return Judged(
            ClaimVerdict.ROUNDS_DIFFERENTLY,
            f"{far.name} is outside by rounding",
            far,
        )
    return judged


def _more_than(
    stated: str,
    unit: str,
    estimates: Sequence[ClaimEstimate],
) -> Judged:
    least = min(estimates, key=lambda found: found.value)
    return _beyond(
        least,
        stated,
        is_right=least.value > table_cells.printed_value(stated),
        otherwise="it is not above",
    )


def _at_most(
    stated: str,
    unit: str,
    estimates: Sequence[ClaimEstimate],
) -> Judged:
    most = max(estimates, key=lambda found: found.value)
    return _beyond(
        most,
        stated,
        is_right=most.value <= table_cells.printed_value(stated),
        otherwise="it is above",
    )


def _beyond(
    found: ClaimEstimate,
    stated: str,
    *,
    is_right: bool,
    otherwise: str,
) -> Judged:
    # The interval may leave open on which side the true value lies.
    if found.includes(float(table_cells.printed_value(stated))):
        return Judged(
            ClaimVerdict.WITHIN_NOISE, f"its interval includes {stated}", found
        )
    if is_right:
        return Judged(ClaimVerdict.HOLDS, "", found)
    return Judged(ClaimVerdict.CONTRADICTED, otherwise, found)


def _rises(
    stated: str,
    unit: str,
    estimates: Sequence[ClaimEstimate],
    sign: int = 1,
) -> Judged:
    """sign: -1 for a fall."""
    lies_opposite = (
        ClaimEstimate.lies_below if sign > 0 else ClaimEstimate.lies_above
    )
    opposite = [found for found in estimates if lies_opposite(found, 0)]
    if opposite:
        far = min(opposite, key=lambda found: found.value * sign)
        return Judged(
            ClaimVerdict.CONTRADICTED,
            _which("does not hold:", opposite, len(estimates)),
            far,
        )
    otherwise = [found for found in estimates if found.value * sign <= 0]
    pointing = (
        _which("not observed:", otherwise, len(estimates)) if otherwise else ""
    )
    # Signs alone decide no direction, however clear they look.
    if untested := _without_interval(estimates):
        return untested._replace(
            why="; ".join([pointing or "the signs are as stated", untested.why])
        )
    judged = _unless_noise(
        estimates, min(estimates, key=lambda found: found.value * sign)
    )
    if not otherwise:
        return judged
    # Of an estimate that points the other way the interval includes 0, or the claim would be contradicted above.
    far = min(otherwise, key=lambda found: found.value * sign)
    return Judged(judged.verdict, f"{judged.why}; {pointing}", far)


def _without_interval(estimates: Sequence[ClaimEstimate]) -> Judged | None:
    """Not testable, where an estimate has no interval."""
    unsure = next(
        (found for found in estimates if not found.has_interval), None
    )
    why = "there is no interval without the answers"
    return (
        None
        if unsure is None
        else Judged(ClaimVerdict.NOT_TESTABLE, why, unsure)
    )


def _unless_noise(
    estimates: Sequence[ClaimEstimate], otherwise: ClaimEstimate
) -> Judged:
    noisy = [found for found in estimates if found.includes_zero]
    if not noisy:
        return Judged(ClaimVerdict.HOLDS, _no_interval(otherwise), otherwise)
    far = min(noisy, key=lambda found: abs(found.value))
    return Judged(
        ClaimVerdict.WITHIN_NOISE,
        _which("intervals that include 0:", noisy, len(estimates)),
        far,
    )


def _which(
    words: str,
    found: Sequence[ClaimEstimate],
    n: int,
) -> str:
    if n == 1:
        return (
            "its interval includes 0"
            if "interval" in words
            else "the sign differs"
        )
    return (
        f"{words} {', '.join(one.name for one in found)} ({len(found)} of {n})"
    )


def _does_not_rise(
    stated: str,
    unit: str,
    estimates: Sequence[ClaimEstimate],
) -> Judged:
    most = max(estimates, key=lambda found: found.value)
    risen = [found for found in estimates if found.lies_above(0)]
    if risen:
        return Judged(
            ClaimVerdict.CONTRADICTED, f"it rises: {_names(risen)}", most
        )
    if untested := _without_interval(estimates):
        return untested
    reaching = [found for found in estimates if not found.lies_below(MARGIN_PP)]
    if reaching:
        far = max(reaching, key=lambda found: found.high or 0)
        return Judged(
            ClaimVerdict.WITHIN_NOISE,
            f"a rise of {MARGIN_PP} pp is not excluded{_of(reaching)}",
            far,
        )
    return Judged(
        ClaimVerdict.HOLDS, f"every interval stays below {MARGIN_PP} pp", most
    )


def _similar(
    stated: str,
    unit: str,
    estimates: Sequence[ClaimEstimate],
) -> Judged:
    unlike = [
        found
        for found in estimates
        if found.lies_above(MARGIN_PP) or found.lies_below(-MARGIN_PP)
    ]
    far = max(unlike or estimates, key=lambda found: abs(found.value))
    if unlike:
        return Judged(
            ClaimVerdict.CONTRADICTED,
            f"different by more than {MARGIN_PP} pp{_of(unlike)}",
            far,
        )
    if untested := _without_interval(estimates):
        return untested
    beyond = [
        found
        for found in estimates
        if not (found.lies_above(-MARGIN_PP) and found.lies_below(MARGIN_PP))
    ]
    if beyond:
        why = f"a difference of {MARGIN_PP} pp is not excluded{_of(beyond)} ({len(beyond)} of {len(estimates)})"
        return Judged(ClaimVerdict.WITHIN_NOISE, why, far)
    return Judged(
        ClaimVerdict.HOLDS, f"every interval stays within {MARGIN_PP} pp", far
    )


def _of(found: Sequence[ClaimEstimate]) -> str:
    named = _names(found)
    return f": {named}" if named else ""


def _names(found: Sequence[ClaimEstimate]) -> str:
    return ", ".join(one.name for one in found if one.name)


_JUDGES: dict[
    ClaimKind, Callable[[str, str, Sequence[ClaimEstimate]], Judged]
] = {
    ClaimKind.NUMBER: _number,
    ClaimKind.CHANGE: _change,
    ClaimKind.ABOUT: _about,
    ClaimKind.RANGE: _range,
    ClaimKind.MORE_THAN: _more_than,
    ClaimKind.AT_MOST: _at_most,
    ClaimKind.RISES: _rises,
    ClaimKind.FALLS: partial(_rises, sign=-1),
    ClaimKind.DOES_NOT_RISE: _does_not_rise,
    ClaimKind.SIMILAR: _similar,
}

"""A job in words and in JSON: progress, outcome and cost."""

from collections import Counter
from math import isclose

from crane_core.domain import JsonObject
from crane_core.pipeline.jobs.ask_models import CostEstimate
from crane_core.pipeline.jobs.files import Spent
from crane_core.pipeline.jobs.work import JobOutcome, JobProgress

SHOWN_REASONS = 8
MINUTE, HOUR = 60, 3600
_STATE_PRICE = "or state --price-in and --price-out (0 and 0 if it is free)"


def progress_words(now: JobProgress) -> str:
    """One line while the work goes on."""
    parts = [f"{now.n_done:,} of {now.n_all:,} answered"]
    if now.n_troubles:
        parts.append(f"{now.n_troubles:,} without an answer")
    parts.append(f"{now.per_s:.1f} per s")
    if now.spent.usd is not None:
        parts.append(f"{usd_words(now.spent.usd)} so far")
    if now.left_s is not None:
        parts.append(f"{duration(now.left_s)} left")
    return ", ".join(parts)


def outcome_words(outcome: JobOutcome, skipped: Counter[str]) -> list[str]:
    """The outcome of a job, a line per fact."""
    lines = [
        f"job {outcome.job}: {outcome.n_answered:,} of {outcome.n_all:,} questions answered",
        f"  took {duration(outcome.elapsed_s)} now; {spent_words(outcome.spent)}",
    ]
    lines += _reasons("no readable answer", outcome.unreadable)
    lines += _reasons("no reply", outcome.troubles)
    lines += _reasons("instances skipped", skipped)
    if outcome.ended is not None:
        lines.append(f"  stopped early: {outcome.ended}")
    if outcome.n_open:
        lines.append(
            f"  {outcome.n_open:,} questions are open; the same command resumes there"
        )
    return lines


def _reasons(what: str, reasons: Counter[str]) -> list[str]:
    if not reasons:
        return []
    shown = [
        f"    {n:,} x {reason[:200]}"
        for reason, n in reasons.most_common(SHOWN_REASONS)
    ]
    more = len(reasons) - SHOWN_REASONS
    return [
        f"  {what}: {reasons.total():,}",
        *shown,
        *([f"    and {more:,} more reasons"] if more > 0 else []),
    ]


def estimate_words(sent: CostEstimate) -> str:
    """The questions to be sent, and their possible cost."""
    lines = f"{sent.n_requests:,} requests with {sent.input_tokens:,} tokens of input"
    if sent.input_usd is None or sent.most_usd is None:
        if sent.most_tokens is None:
            return f"{lines}, price unknown: cap it with --budget-tokens N, {_STATE_PRICE}"
        return f"{lines}, price unknown; at most {sent.most_tokens:,} tokens for the whole job, {_STATE_PRICE}"
    return f"{lines}: {usd_words(sent.input_usd)} for the input, at most {usd_words(sent.most_usd)} including replies"


def spent_words(spent: Spent) -> str:
    """All requests of a job so far."""
    if not spent.n_requests:
        return "nothing was sent over the network"
    is_counted = bool(spent.input_tokens or spent.output_tokens)
    counts = (
        (spent.input_tokens, spent.output_tokens)
        if is_counted or not spent.n_uncounted
        else (None, None)
    )
    tokens = token_words(*counts)
    if is_counted and spent.n_uncounted:
        tokens += f" (the endpoint did not count {spent.n_uncounted:,} of the replies)"
    return f"whole job: {spent.n_requests:,} requests, {tokens}, {cost_words(spent.usd, spent.reported_usd)}"


def token_words(n_in: int | None, n_out: int | None) -> str:
    """Tokens of question and reply; a count that the endpoint did not give is unknown, not 0."""
    if n_in is None and n_out is None:
        return "tokens unknown"
    return f"{count_or_unknown(n_in)} tokens in, {count_or_unknown(n_out)} out"


def count_or_unknown(n: int | None) -> str:
    """The number with separators, or "unknown" where no count was given."""
    return "unknown" if n is None else f"{int(n):,}"


def cost_words(usd: float | None, reported_usd: float | None = None) -> str:
    """An amount, and how much of it the endpoint reported; an unknown cost is not 0."""
    if usd is None:
        return "cost unknown"
    if not reported_usd:
        return usd_words(usd)
    part = (
        ""
        if isclose(reported_usd, usd)
        else f"{usd_words(reported_usd)} of it "
    )
    return f"{usd_words(usd)}, {part}as the gateway reports"


def usd_words(usd: float) -> str:
    """An amount that may be tiny: a cost above 0 is never shown as 0."""
    if usd == 0 or usd >= 1:
        return f"{usd:,.2f} USD"
    return f"{usd:.4f} USD" if usd >= 0.0001 else "less than 0.0001 USD"


def duration(seconds: float) -> str:
    """In the two largest units."""
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)} min {int(seconds % MINUTE)} s"
    return f"{int(seconds // HOUR)} h {int(seconds % HOUR // MINUTE)} min"


def outcome_json(outcome: JobOutcome, skipped: Counter[str]) -> JsonObject:
    """The outcome of a job for the JSON output; the sums are of the whole job, seconds of this start."""
    return {
        "job": outcome.job,
        "questions": outcome.n_all,
        "answered": outcome.n_answered,
        "unreadable": dict(outcome.unreadable),
        "troubles": dict(outcome.troubles),
        "skipped": dict(skipped),
        "open": outcome.n_open,
        "ended_early": outcome.ended,
        "elapsed_s": outcome.elapsed_s,
        "spent": outcome.spent._asdict(),
    }

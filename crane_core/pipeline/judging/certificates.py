"""Certificates of judges: kept in the ledger, read by the name of a judge, and put into words.

ledger/judge_certificates.jsonl    one line per `judge tune`; the last one of a judge is in force
"""

from collections.abc import Mapping
from pathlib import Path

from crane_core import ledger
from crane_core.domain import JudgeCertificate
from crane_core.pipeline.audit import CERTIFICATES
from crane_core.pipeline.places import DataFolder
from crane_core.rounding import digits

BOTH_ORDERS = "both"
NOT_CERTIFIED = (
    "not certified yet, so its labels do not replace a person's; run judge tune"
)


def keep_certificate(folder: DataFolder, found: JudgeCertificate) -> None:
    """Append it to the ledger. Raises LedgerError."""
    ledger.append(_file(folder), found)


def all_certificates(folder: DataFolder) -> list[JudgeCertificate]:
    """Every certificate, the oldest first."""
    file = _file(folder)
    records = ledger.tail(file).records if file.is_file() else []
    return [
        record for record in records if isinstance(record, JudgeCertificate)
    ]


def certificates(folder: DataFolder) -> Mapping[str, JudgeCertificate]:
    """The certificate in force of each judge, by the name of its labels without repetition and order."""
    return {found.judge: found for found in all_certificates(folder)}


def certificate_words(found: JudgeCertificate | None, gate: float = 0.0) -> str:
    """What is certified of a judge, as the rest of a sentence that begins with its name.

    gate: what the plan of the campaign wants of both bounds; 0 where no campaign is meant.
    """
    if found is None:
        return NOT_CERTIFIED
    begins = "certified" if found.is_passed else "tested and not certified"
    if found.is_passed and found.weakest_bound < gate:
        begins = f"not certified here, where the plan wants {_percent(gate)}; certified elsewhere"
    words = [
        f"{begins} on {found.certified_at[:10]} against {found.person}, gate {_percent(found.gate)}: "
        f"sensitivity {_percent(found.sensitivity)}, at least {_percent(found.sensitivity_bound)} "
        f"({found.n_correct:,} correct), specificity {_percent(found.specificity)}, "
        f"at least {_percent(found.specificity_bound)} ({found.n_other:,} others)",
        f"{found.n_cases:,} cases, without the {found.tuned_cases:,} that chose among {found.n_rules:,} rules",
        rule_words(found),
    ]
    if found.n_left_out:
        words.append(f"{found.n_left_out:,} items without all labels left out")
    if found.attempt > 1:
        words.append(f"attempt {found.attempt:,} against the same person")
    return "; ".join(words)


def rule_words(found: JudgeCertificate) -> str:
    """When a diagnosis counts as correct."""
    orders = (
        "both orders of the texts"
        if found.orders == BOTH_ORDERS
        else f"{found.orders} order of the texts"
    )
    if found.n_labels == 1:
        return f"rule: its label, {orders}"
    return f"rule: correct where at least {found.needed:,} of {found.n_labels:,} labels say so, {orders}"


def bias_words(found: JudgeCertificate) -> list[str]:
    """A sentence on order bias and one on self-preference, also where there is nothing to estimate them from."""
    order = "Order bias: not estimated; the judge saw the texts in one order."
    if found.order_bias is not None:
        reach = _points(found.order_bias_low, found.order_bias_high)
        order = f"Order bias: {_signed(found.order_bias)} ({reach}) correct with the diagnosis first."
    preference = (
        "Self-preference: not estimated; no case has answers of the judge's model and of others, "
        "or its model is unknown (`--own`)."
    )
    if found.self_preference is not None:
        reach = _points(found.self_preference_low, found.self_preference_high)
        preference = (
            f"Self-preference: {_signed(found.self_preference)} ({reach}) more for answers of its own model than for "
            "others, beyond what the person says."
        )
    return [order, preference]


def _percent(share: float) -> str:
    return f"{digits(share * 100, 1)}%"


def _signed(share: float) -> str:
    return f"{digits(share * 100, 1, sign=True)} pp"


def _points(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "no interval"
    return f"95% {_signed(low)} to {_signed(high)}"


def _file(folder: DataFolder) -> Path:
    return folder.ledger / CERTIFICATES

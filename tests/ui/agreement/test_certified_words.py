"""What Agreement says of a judge's certificate: none, one below the gate of the campaign, and hidden until the lock."""

from __future__ import annotations

from crane_core.domain import JudgeCertificate
from crane_core.ui.agreement.judges import AFTER_LOCK, certified_words


def certificate(**more: float) -> JudgeCertificate:
    counts = dict.fromkeys(
        (
            *("seed", "attempt", "needed", "n_labels", "n_rules"),
            *("tuned_cases", "n_cases", "n_left_out", "n_correct", "n_other"),
        ),
        1,
    )
    texts = {"judge": "<b>x</b>", "person": "pilot: ana", "certified_by": "lea"}
    rates = {"sensitivity": 0.95, "sensitivity_bound": 0.9, "specificity": 0.9}
    rates |= {"specificity_bound": 0.82, "gate": 0.8}
    return JudgeCertificate(
        certified_at="2026-11-27T10:00:00.000+00:00",
        orders="both",
        **texts,
        **counts,
        **(rates | more),
    )


def words(found: JudgeCertificate | None, **more: object) -> str:
    known = {} if found is None else {"<b>x</b>": found}
    [said] = certified_words(["<b>x</b>"], known, **more)
    return said


def test_a_judge_without_a_certificate_says_so() -> None:
    said = words(None)
    assert "not certified" in said
    assert "<b>" not in said


def test_the_gate_of_the_campaign_decides() -> None:
    assert ": certified on" in words(certificate())
    assert ": certified on" in words(certificate(), gate=0.82)
    said = words(certificate(), gate=0.9)
    assert "not certified here, where the plan wants 90" in said
    assert "tested and not certified" in words(certificate(sensitivity_bound=0.7))  # fmt: skip


def test_biases_stand_where_there_is_room() -> None:
    assert "Order bias" in words(certificate())
    assert "Order bias" not in words(certificate(), has_biases=False)


def test_a_certificate_against_hidden_labels_is_not_told() -> None:
    said = words(certificate(), withheld={"<b>x</b>"})
    assert AFTER_LOCK in said
    assert "95" not in said

"""Parses raw replies when they are loaded: each Reply becomes a Run, each JudgeReply a Judgement or nothing.

Reading is a pure function of the ledger, so `rebuild` parses every reply again by the current rules.
"""

from collections.abc import Iterable, Iterator

from crane_core import domain
from crane_core.prompts.judge_reply import read_judge_reply
from crane_core.prompts.reply import read_reply

NOTHING_CAME = "no reply, and no reason is known"


def with_what_they_say(
    records: Iterable[domain.Record],
) -> Iterator[domain.Record]:
    """The records, each reply followed by what is read from it."""
    for record in records:
        yield record
        if isinstance(record, domain.Reply):
            yield run_of(record)
        elif (
            isinstance(record, domain.JudgeReply)
            and (judgement := judgement_of(record)) is not None
        ):
            yield judgement


def run_of(reply: domain.Reply) -> domain.Run:
    """The answer in a reply. Where none can be read, `crashes` is None and `unanswered` says why."""
    where = (
        reply.benchmark,
        reply.instance_id,
        reply.detector,
        reply.setting,
        reply.job,
        reply.run_index,
    )
    if reply.text is None:
        return domain.Run(
            *where,
            None,
            unanswered=reply.trouble or NOTHING_CAME,
            prompt_sha256=reply.prompt_sha256,
        )
    read = read_reply(reply.text, reply.finish_reason)
    return domain.Run(
        *where,
        read.crashes,
        reasoning=read.reasoning,
        unanswered=read.trouble,
        prompt_sha256=reply.prompt_sha256,
    )


def judgement_of(reply: domain.JudgeReply) -> domain.Judgement | None:
    """The label in a judge's reply, None if none can be read: a judge that said nothing has not judged."""
    read = (
        read_judge_reply(reply.text, reply.finish_reason, reply.labels)
        if reply.text is not None
        else None
    )
    if read is None or read.label is None:
        return None
    return domain.Judgement(
        benchmark=reply.benchmark,
        instance_id=reply.instance_id,
        detector=reply.detector,
        setting=reply.setting,
        experiment=reply.experiment,
        annotator=reply.annotator,
        annotator_kind=domain.AnnotatorKind.JUDGE,
        label=read.label,
        run_index=reply.run_index,
        repetition=reply.repetition,
        presentation=reply.presentation,
        note=read.explanation,
        guideline=reply.guideline,
        campaign=reply.campaign if reply.labels else None,
    )

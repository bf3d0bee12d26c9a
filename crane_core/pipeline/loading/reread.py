"""The stored replies of a job, read by the current rules: which verdicts are others than when they were loaded?

Knows that a reply stays as it came. What it was read as before goes to the ledger, beside it, before it is replaced.
"""

from crane_core import ledger
from crane_core.domain import Reply, Reread
from crane_core.errors import DetectorError
from crane_core.pipeline.jobs import files, reply_reading
from crane_core.pipeline.loading.load import read_again
from crane_core.pipeline.places import DataFolder
from crane_core.storage.jobs import verdicts_of_job
from crane_core.storage.store import Store


def changes(
    store: Store, folder: DataFolder, job: str
) -> tuple[int, list[Reread]]:
    """How many replies the job has, and those that now say something else. Raises DetectorError if there is none."""
    known = sorted(
        path.stem for path in (folder.ledger / files.FOLDER).glob("*.jsonl")
    )
    if job not in known:
        raise DetectorError(
            f"No run has the name {job[:120]!r}.",
            remedy=f"Choose one: {', '.join(known[-5:]) or 'there is none yet'}.",
        )
    replies = [
        reply
        for reply in files.standing(folder, job).replies.values()
        if isinstance(reply, Reply)
    ]
    if not replies:
        raise DetectorError(
            f"The run {job} holds no reply of a model.",
            remedy="Choose a run of a model.",
        )
    loaded, at = verdicts_of_job(store.cursor(), job), files.now()
    found = [
        _reread(reply, loaded.get((reply.instance_id, reply.run_index)), at)
        for reply in replies
    ]
    return len(replies), [reread for reread in found if reread is not None]


def take(
    store: Store, folder: DataFolder, job: str, changed: list[Reread]
) -> None:
    """Write what was read before to the ledger, and have the new verdicts count."""
    if not changed:
        return
    with files.alone(folder, job):
        ledger.append(files.job_file(folder, job), *changed)
        read_again(store, folder, files.job_file(folder, job))


def _reread(
    reply: Reply, before: tuple[bool | None, str | None] | None, at: str
) -> Reread | None:
    run = reply_reading.run_of(reply)
    after = (run.crashes, run.unanswered)
    if before is None or before == after:
        return None
    where = (
        reply.job,
        reply.benchmark,
        reply.instance_id,
        reply.detector,
        reply.setting,
        reply.run_index,
    )
    return Reread(*where, at, *before, *after)

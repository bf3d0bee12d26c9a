"""A model as a detector: it is shown the plan's prompts, and its replies are those of the job."""

from crane_core.domain import Prompt, Reply
from crane_core.pipeline.detection.detect import JobPlan
from crane_core.pipeline.jobs.ask_models import AskingOptions, Came, of_model
from crane_core.pipeline.jobs.work import Key, Worker
from crane_core.prompts.reply import DETECTION, SCHEMA_NAME, reply_schema


def predicting(plan: JobPlan, asked: AskingOptions) -> Worker:
    """A worker that asks the model about the plan's open instances."""
    return of_model(
        asked,
        plan.work.before,
        text_of=lambda key: prompt_for(plan, key).text,
        prompt_of=lambda key: prompt_for(plan, key),
        repeat_of=lambda key: int(key[1]),
        reply_of=lambda key, came: reply_for(plan, key, came),
        schema=reply_schema(plan.request.template),
        schema_name=SCHEMA_NAME,
        chance_of=DETECTION,
    )


def prompt_for(plan: JobPlan, key: Key) -> Prompt:
    """The prompt of a question of the plan. Raises ValueError if the plan's detector is shown no text."""
    prompt = plan.inputs[key[0]].prompt
    if prompt is None:
        raise ValueError(
            f"{plan.job.job} was planned for a detector that is shown no text"
        )
    return prompt


def reply_for(plan: JobPlan, key: Key, came: Came) -> Reply:
    """The ledger's record of a model's reply to a question, tied to its prompt by sha256."""
    instance_id, run_index = key
    job = plan.job
    where = (
        job.job,
        job.benchmark,
        instance_id,
        job.detector,
        job.setting,
        run_index,
    )
    return Reply(*where, prompt_for(plan, key).sha256, **came)

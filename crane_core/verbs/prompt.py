"""`prompt`: the exact text that a detector is shown, and its tokens."""

import argparse
import json
import os
from pathlib import Path

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.domain import Setting
from crane_core.pipeline.detection.prompt import prompt_of_instance
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.own_notebooks import check, prompt_of_notebook
from crane_core.pipeline.places import DataFolder
from crane_core.prompts.template import (
    PLACEHOLDER,
    Template,
    Wording,
    template_named,
)
from crane_core.runtime.limits import KernelLimits
from crane_core.terminal import give, give_exactly, tell

NAME = "prompt"
HELP = "print the exact prompt for an instance, or for a notebook run up to its target, and its token count"
ONLY_READS = True
EXAMPLE = """python -m crane_core prompt trip_reproduced.ipynb --setting runtime+
         python -m crane_core prompt pandas_1_reproduced --setting runtime --template mine.txt --json"""
NOTEBOOK_SUFFIX = ".ipynb"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare whose prompt is printed (a notebook or a stored instance), in which setting, by which template."""
    add(
        verb,
        option(
            "subject NOTEBOOK-or-INSTANCE",
            "an .ipynb file, or the id of a published or imported instance, such as pandas_1_reproduced",
            arguments.path_or_name,
        ),
        option(
            "--setting S",
            f"what is shown: {', '.join(Setting)}",
            required=True,
            choices=[str(setting) for setting in Setting],
        ),
        option(
            "--template T",
            f"a wording of ours ({', '.join(Wording)}), or the file of an exact prompt text in which {PLACEHOLDER}, "
            "once, marks where the input goes",
            arguments.path,
        ),
        option(
            "--benchmark B",
            "benchmark of the instance (default: junobench, if its texts are loaded)",
            arguments.name,
        ),
    )
    add(
        verb.add_argument_group(
            "for a notebook",
            "whose cells before the target run in a fresh kernel",
        ),
        option(
            "--target N",
            "for a notebook: target code cell, counted from 0 (default as in `capture`)",
            arguments.code_cell,
        ),
        option(
            "--python PATH",
            "for a notebook: Python interpreter to run; it must have ipykernel",
            arguments.name,
        ),
        option(
            "--timeout-s S",
            "for a notebook: time limit of each cell before the target",
            arguments.seconds,
            default=KernelLimits().cell_s,
        ),
        flag(
            "--keep-going",
            "for a notebook: continue past cells that raise before the target",
        ),
    )
    add(
        verb,
        flag(
            "--json", "print prompt, input, tokens and origin as JSON to stdout"
        ),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Print the exact text that a detector would get; what it is and its tokens go to stderr. Returns 0.

    Raises PromptError if the instance has nothing to show in this setting, NotebookError if the notebook cannot
    be run.
    """
    setting = Setting(chosen.setting)
    template = template_named(chosen.template, setting)
    path = Path(chosen.subject)
    if path.suffix == NOTEBOOK_SUFFIX or path.is_file():
        written = _of_notebook(path, setting, template, chosen)
    else:
        written = _of_instance(folder, setting, template, chosen)
    tell(in_words(written))
    if chosen.json:
        give(json.dumps(as_json(written)))
    else:
        # Byte for byte, without a last line end of ours: the sha256 of stdout is the one that names the
        # prompt.
        give_exactly(written.prompt.text)
    return 0


def _of_notebook(
    path: Path,
    setting: Setting,
    template: Template | None,
    chosen: argparse.Namespace,
) -> prompt_of_notebook.WrittenPrompt:
    # The code alone is read from the file; every other setting shows a kernel state, so cells have to run.
    if setting is not Setting.CODE:
        check.refuse_if_forbidden(
            os.environ, remedy="Unset it, or use --setting code."
        )
        tell(f"Running the cells before the target of {path.name}")
    return prompt_of_notebook.prompt_of_notebook(
        path,
        setting,
        template,
        target=chosen.target,
        python=chosen.python,
        keep_going=chosen.keep_going,
        limits=KernelLimits(cell_s=chosen.timeout_s),
    )


def _of_instance(
    folder: DataFolder,
    setting: Setting,
    template: Template | None,
    chosen: argparse.Namespace,
) -> prompt_of_notebook.WrittenPrompt:
    store = prepare_or_read(folder, tell)
    try:
        return prompt_of_instance(
            store, chosen.subject, setting, template, chosen.benchmark
        )
    finally:
        store.close()


def in_words(written: prompt_of_notebook.WrittenPrompt) -> str:
    """What the prompt is and how long, for people to read."""
    prompt, tokens = written.prompt, written.tokens
    of = (
        f"{prompt.instance_id} of {prompt.benchmark}"
        if prompt.benchmark
        else prompt.instance_id
    )
    lines = [
        f"{of}: {prompt.setting}, {prompt.origin}",
        f"{tokens.n:,} tokens ({tokens.kind}, by {tokens.how}), {len(prompt.text):,} characters",
    ]
    if not tokens.is_exact:
        lines.append(
            "for an exact count: pip install bpe-openai, or let tiktoken download its o200k_base table once"
        )
    return "\n".join(lines)


def as_json(written: prompt_of_notebook.WrittenPrompt) -> dict[str, object]:
    """The prompt, its input part, origin, sha256 and number of tokens, as members of one JSON object."""
    prompt, tokens = written.prompt, written.tokens
    return {
        "instance": prompt.instance_id,
        "benchmark": prompt.benchmark or None,
        "setting": str(prompt.setting),
        "origin": prompt.origin,
        "template": written.template,
        "sha256": prompt.sha256,
        "tokens": tokens.n,
        "tokens_are": tokens.kind,
        "counted_by": tokens.how,
        "characters": len(prompt.text),
        "body": written.body,
        "prompt": prompt.text,
    }

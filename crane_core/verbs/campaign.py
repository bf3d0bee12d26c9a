"""`campaign`: create, watch, lock and export a labelling campaign without the app."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from crane_core import arguments
from crane_core.annotation.draw import STRATA, CampaignRequest, fresh_seed
from crane_core.annotation.guideline import MOST_CHARACTERS, difference
from crane_core.annotation.label_check import MOST_BYTES, labels_from_toml
from crane_core.annotation.label_set import LabelSet, study_labels
from crane_core.annotation.plan import (
    GUESSING,
    Design,
    DrawKind,
    Gold,
    Overlap,
    Plan,
    Population,
    PopulationOutcome,
    Texts,
)
from crane_core.annotation.redeal import PeopleChange, unassigned
from crane_core.annotation.rounds import Round
from crane_core.arguments import Option, add, flag, option
from crane_core.domain import LABEL_CODE, AuditAction
from crane_core.errors import CampaignError
from crane_core.given_path import read_given_text
from crane_core.pipeline.agreement import label_model
from crane_core.pipeline.audit import at_the_terminal, note, note_written
from crane_core.pipeline.campaigns import (
    campaigns,
    gold,
    label_import,
    plan_outline,
    population_choices,
    rounds,
)
from crane_core.pipeline.campaigns.clustering import clustering
from crane_core.pipeline.campaigns.export import forms, repeat
from crane_core.pipeline.campaigns.export.forms import write_export
from crane_core.pipeline.campaigns.gold import COLUMNS as GOLD_COLUMNS
from crane_core.pipeline.campaigns.guessing import guess_words, guessed
from crane_core.pipeline.campaigns.guideline import (
    change_guideline,
    guideline_versions,
)
from crane_core.pipeline.campaigns.label_frame import labels_of_judge
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.campaigns.status import (
    campaign_status,
    open_words,
    status_json,
    status_words,
)
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import Store
from crane_core.terminal import as_typed, give, give_either, tell

NAME = "campaign"
HELP = "label diagnoses: create, staff, watch, lock and export a campaign (create, main, second, people, again, ...)"
EXAMPLE = """python -m crane_core campaign create pilot --annotators ana,ben --dry-run
         python -m crane_core campaign people pilot --replace ben=eva --by lead
         python -m crane_core campaign status pilot
         python -m crane_core campaign guideline pilot --set guideline.md --by ana
         python -m crane_core campaign labels pilot --file eva.csv --annotator eva --map good=correct bad=wrong
         python -m crane_core campaign lock pilot --by ana
         python -m crane_core campaign model pilot
         python -m crane_core campaign export pilot --out pilot_export"""
FILTERS = ("detectors", "settings", "libraries", "root_causes")
"""Options that are fields of a Population."""
DESIGN = (
    "margin", "confidence", "p", "strata", "per_item", "second_share", "calibration", "repeats", "texts",
    "by_case", "plain", "judge_gate",
)  # fmt: skip
"""Options that are fields of a Design."""
COMES_FROM_EXPORT = (
    "annotators", "benchmark", "experiment", *FILTERS, "outcome", "design", *DESIGN, "overlap", "seed", "blind",
    "labels", "gold", "gold_from", "gold_feedback", "show_after",
)  # fmt: skip
"""Options that --from leaves no room for."""
ALL_MODELS = "all"
MOST_FAULTS = 200
"""Rows that are told one by one."""


NAMED = option("name NAME", None, arguments.name)
Actions: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the actions of `campaign` and what each of them takes."""
    actions = verb.add_subparsers(
        dest="action", required=True, metavar="ACTION"
    )
    _add_create(actions)
    _add_rounds(actions)
    _action(
        actions,
        "status",
        "progress of each annotator, open items, decided items",
        option(
            "name NAME",
            "only this campaign (default: all)",
            arguments.name,
            nargs="?",
        ),
        flag("--json", "the same as JSON on stdout"),
    )
    guideline = _action(
        actions,
        "guideline",
        "print the guideline of a campaign, or store a new version of it",
        NAMED,
    )
    add(
        guideline.add_mutually_exclusive_group(),
        option(
            "--set FILE",
            "store this text (Markdown) as a new version",
            arguments.path,
            dest="file",
        ),
        flag(
            "--diff", "what each version changed, instead of the text in force"
        ),
    )
    by = "name of the person who changes it (with --set)"
    add(guideline, option("--by WHO", by, default=""))
    _add_labels(actions)
    _action(
        actions,
        "lock",
        "lock a campaign: labels and decisions can no longer change",
        NAMED,
        option(
            "--by WHO",
            "name of the person who locks it",
            arguments.name,
            required=True,
        ),
        flag("--anyway", "lock even if labels or decisions are missing"),
    )
    _action(
        actions,
        "model",
        "who is likely right where annotators of a locked campaign differ, beside its final labels; changes no label",
        NAMED,
        option(
            "--model",
            f"default: {label_model.DAWID_SKENE.lower()}; glad and mace need the extra labels; all: compare the three",
            choices=[*map(str.lower, label_model.MODELS), ALL_MODELS],
            default=label_model.DAWID_SKENE.lower(),
        ),
        flag("--json", "every item and annotator, as JSON on stdout"),
    )
    _action(
        actions,
        "export",
        "write labels as tables, for Label Studio, or as a dataset",
        NAMED,
        option("--out DIR", "folder to create", arguments.path, required=True),
        flag("--force", "replace an older export in that folder"),
        option(
            "--form",
            "; ".join(
                f"{name}{' (default)' if name == forms.TABLES else ''}: {form.about}"
                for name, form in forms.label_forms().items()
            ),
            choices=list(forms.label_forms()),
            default=forms.TABLES,
        ),
        flag(
            "--with-texts",
            "include the texts that were labelled (ground truth, target cell, diagnosis), which belong to others",
        ),
    )


def _action(
    actions: Actions, name: str, does: str, *options: Option
) -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(
        name, help=does, description=does
    )
    add(action, arguments.DATA_ANYWHERE, *options)
    return action


def _add_labels(actions: Actions) -> None:
    labels = _action(
        actions,
        "labels",
        "import labels made elsewhere, from CSV or another tool's file, as those of an annotator",
        NAMED,
        option(
            "--file FILE",
            "CSV in UTF-8 with a header; JSON of Label Studio, Argilla, doccano, Potato or Prodigy; a desk's download",
            arguments.path,
            required=True,
        ),
        option(
            "--annotator WHO",
            "whose labels they are",
            arguments.name,
            required=True,
        ),
    )
    add(
        labels.add_argument_group("columns of the file"),
        option(
            "--item-column COLUMN",
            "default: item; in another tool's file a path, such as data.item",
        ),
        option("--label-column COLUMN", "default: label"),
        option("--reason-column COLUMN", "codes of reasons (default: none)"),
        option("--note-column COLUMN", "notes (default: none)"),
        option(
            "--showing-column COLUMN",
            "1, or 2 for a hidden repeat (default: all are first showings)",
        ),
    )
    add(
        labels,
        option(
            "--whose NAME",
            "in another tool's file, the person whose labels they are (default: WHO, or the only one)",
        ),
        option(
            "--map VALUE=LABEL",
            "what a value of the label column means, such as good=correct",
            _meaning,
            nargs="+",
            action="extend",
            default=[],
        ),
        flag(
            "--skip-invalid",
            "store the other rows when some cannot be stored (default: none)",
        ),
        option(
            "--reopen WHO",
            "name of the lead who opens a locked campaign for these labels; lock it again afterwards",
            arguments.name,
        ),
    )


def _meaning(text: str) -> tuple[str, str]:
    """A value of the file and the label that it stands for."""
    value, sign, label = text.rpartition("=")
    if not (sign and value.strip() and LABEL_CODE.fullmatch(label.strip())):
        raise argparse.ArgumentTypeError(
            f"expected VALUE=LABEL, such as good=correct, not {text!r}"
        )
    return value.strip(), label.strip()


def _add_create(actions: Actions) -> None:
    create = _action(
        actions,
        "create",
        "draw a plan, show it, and store it",
        option(
            "name NAME",
            "a-z, 0-9, dot, dash, underscore",
            arguments.name,
            nargs="?",
        ),
        option(
            "--from PLAN.json",
            "repeat a campaign from its export",
            arguments.path,
            dest="source",
        ),
        flag(
            "--with-labels",
            "with --from, under the same name: also the labels, decisions and rounds of the export",
        ),
        option(
            "--annotators A,B",
            "annotators; with --overlap sample, the first one labels all items",
            arguments.names,
        ),
    )
    add(
        create.add_argument_group("population"),
        option("--benchmark NAME", "default: junobench", arguments.name),
        option(
            "--experiment NAME",
            "default: crane-llm-2025-10; of another benchmark the only one",
            arguments.name,
        ),
        *(
            option(
                f"--{name.replace('_', '-')} A,B",
                "default: all",
                arguments.names,
            )
            for name in FILTERS
        ),
        option(
            "--outcome",
            "detected (default): predicted crashes that do crash",
            choices=_words(PopulationOutcome),
        ),
    )
    _add_design(create.add_argument_group("design"))
    add(
        create,
        option("--title", "title shown on the pages", default=""),
        option("--by WHO", "name of the person who creates it", default=""),
        flag("--dry-run", "show the plan and store nothing"),
        flag("--json", "print the plan's outline as JSON to stdout"),
    )


def _add_design(design: argparse._ArgumentGroup) -> None:
    add(
        design,
        option(
            "--design",
            "default: sample, by Equation 1",
            choices=_words(DrawKind),
        ),
        option("--margin", "default: 0.05", arguments.share),
        option("--confidence", "default: 0.95", arguments.share),
        option("--p", "expected share (default: 0.5)", arguments.share),
        option(
            "--strata A,B",
            f"any of {','.join(STRATA)} (default: detector,setting)",
            arguments.names,
        ),
        option(
            "--overlap",
            "who labels what: all label all (default); sample: the first all, the others a sample; some: each item by "
            "--per-item of them; none: by one; adaptive: by one, and uncertain ones more often by a second",
            choices=_words(Overlap),
        ),
        option(
            "--per-item K",
            "with --overlap some (default: 2)",
            arguments.integer(1, 100),
        ),
        option(
            "--second-share",
            "with --overlap adaptive: share of the items with a second label (default: 0.25)",
            arguments.number(0, 1, above=True),
        ),
        option(
            "--calibration N",
            "items that all label first (default: 0)",
            arguments.integer(0, 10_000),
        ),
        flag(
            "--by-case",
            "items of one case follow each other, and have the same annotators",
            default=None,
        ),
        flag(
            "--plain",
            "texts with quotes, dashes, emphasis, lists and line breaks made alike, so that fewer reveal their model",
            default=None,
        ),
        option(
            "--repeats",
            "share of hidden repeats (default: 0.05)",
            arguments.number(0, 0.5),
        ),
        option(
            "--judge-gate",
            "what both bounds of a judge have to reach to be certified here (default: 0.8)",
            arguments.number(GUESSING, 1, above=True),
        ),
        option(
            "--seed", "default: a random one, shown in the plan", arguments.seed
        ),
        option(
            "--gold FILE.csv",
            f"items with a known label ({', '.join(GOLD_COLUMNS)}, optionally why and run), mixed into every order",
            arguments.path,
        ),
        option(
            "--gold-from CAMPAIGN:N",
            "N items that a locked campaign decided, as gold",
            arguments.name,
        ),
        option(
            "--show-after WHOSE",
            "after their own label, show annotators that of a file (.csv, columns as for --gold) or an LLM judge; for "
            "training: later labels may follow it",
        ),
        # None says that an option was not given, which --from has to know.
        flag(
            "--gold-feedback",
            "tell annotators after each gold item what its label is (default: only the lead sees how they do)",
            default=None,
        ),
        flag(
            "--no-blind",
            "do not hide which detector gave which answer",
            dest="blind",
            action="store_false",
            default=None,
        ),
        flag(
            "--all-texts",
            "show all texts of an item with their counts, instead of one drawn at random",
            dest="texts",
            action="store_const",
            const=Texts.ALL,
        ),
        option(
            "--labels FILE",
            "labels in place of the study's (TOML, see docs/lead/campaign.md)",
            arguments.path,
        ),
    )


def _add_rounds(actions: Actions) -> None:
    lead = (
        NAMED,
        option("--by WHO", "name of the lead", arguments.name, required=True),
        option("--why TEXT", "reason, stored with the change", default=""),
    )
    _action(actions, "main", "open the main round after calibration", *lead)
    second = _action(
        actions,
        "second",
        "with --overlap adaptive: draw second labels for the items labelled since the last draw",
        *lead,
    )
    add(
        second,
        option(
            "--judge NAME",
            "items that this LLM judge labelled otherwise are drawn more often",
            default="",
        ),
    )
    _action(
        actions,
        "people",
        "add, remove or replace annotators, or hand open items to others",
        *lead,
        _listed("--add A,B", "new annotators"),
        _listed("--remove A,B", "who leaves; labels stay"),
        _listed("--replace A=B", "A leaves and B takes over the open items"),
        _listed("--hand-back A,B", "who stays, but returns the open items"),
        option(
            "--idle-days N",
            "hand back the open items of everybody who labelled nothing for N days",
            arguments.number(0, 3650),
        ),
    )
    again = _action(
        actions,
        "again",
        "have items labelled again; opens a locked campaign",
        *lead,
    )
    add(
        again.add_argument_group("which items"),
        _listed("--items A,B", "these items"),
        _listed("--labels A,B", "with one of these labels"),
        _listed("--reasons A,B", "with one of these reasons"),
        option(
            "--not-under VERSION",
            "labelled under another guideline than this",
            default="",
        ),
        flag("--flagged", "that somebody flagged"),
        flag("--everything", "all labelled items"),
    )


def _listed(words: str, help_: str) -> Option:
    return option(words, help_, arguments.names, default=())


def _words(
    vocabulary: type[PopulationOutcome] | type[DrawKind] | type[Overlap],
) -> list[str]:
    return [member.name.lower() for member in vocabulary]


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Carry out the action that was named; returns 0.

    Raises CampaignError if the plan, the people, the labels or the lock do not allow it; nothing is stored then.
    """
    actions = {
        "create": _create,
        "main": _main,
        "second": _second,
        "people": _people,
        "again": _again,
        "status": _status,
        "guideline": _guideline,
        "labels": _labels,
        "lock": _lock,
        "model": _model,
        "export": _export,
    }
    return actions[chosen.action](chosen, folder)


def _create(chosen: argparse.Namespace, folder: DataFolder) -> int:
    store = prepare_or_read(folder, tell)
    try:
        plan, remarks = (
            _repeated(store, chosen)
            if chosen.source
            else repeat.Repeated(_drawn(store, folder, chosen), ())
        )
        weight = clustering(store, plan)
        work = (
            repeat.exported_work(chosen.source, plan)
            if chosen.with_labels
            else None
        )
        # It takes a second or more, and is for who may still decide otherwise.
        style = guessed(store, plan) if chosen.dry_run else None
    # The database is free again before anything is stored: the app, if it runs, reads the new campaign from
    # the ledger.
    finally:
        store.close()
    told = plan_outline.outline(plan, weight)
    document = plan_outline.as_json(plan, told, weight)
    words = plan_outline.in_words(plan, told)
    if style is not None:
        document["guessability"] = {
            **style.share._asdict(),
            "most_frequent": style.most_frequent,
        }
        words += f"\n\n{guess_words(style)}"
    give_either(document, words, as_json=chosen.json)
    for remark in remarks:
        tell(remark)
    if chosen.dry_run:
        how = (
            ""
            if chosen.source
            else f" `--seed {plan.seed}` without --dry-run stores exactly this plan."
        )
        tell(f"Nothing was stored.{how}")
        return 0
    # The plan first: acts and rounds of an export are read against a campaign that is stored.
    campaigns.keep_campaign(folder, plan)
    if work is not None:
        repeat.keep_replayed(folder, plan, work)
        tell(
            f"Stored {len(work.acts):,} acts and {len(work.rounds):,} rounds of the export, too."
        )
    tell(
        f"Stored the campaign {plan.campaign!r}; {', '.join(plan.annotators)} can label now, on the Annotate page."
    )
    return 0


def _drawn(
    store: Store, folder: DataFolder, chosen: argparse.Namespace
) -> Plan:
    if chosen.with_labels:
        raise CampaignError(
            "--with-labels needs an export to take them from.",
            remedy="Pass --from PLAN.json.",
        )
    if not chosen.name or not chosen.annotators:
        raise CampaignError(
            "A new campaign needs a name and annotators.",
            remedy="`campaign create NAME --annotators a,b`.",
        )
    wanted = _population(store, chosen)
    population_choices.check_asked(store, wanted)
    design = Design(
        kind=DrawKind[(chosen.design or "sample").upper()],
        overlap=Overlap[(chosen.overlap or "all").upper()],
        # What was not stated is left to the defaults of Design, so that they are written in one place.
        **_given(chosen, DESIGN),
    )
    # A dry run prints the seed that it drew, so that the plan which was looked at can be stored.
    seed = fresh_seed() if chosen.seed is None else chosen.seed
    labels = _labels_of(chosen.labels) if chosen.labels else study_labels()
    looks = gold.Looks(labels, design.texts, chosen.blind is None)
    plan = campaigns.drawn_plan(
        store,
        CampaignRequest(
            campaign=chosen.name,
            annotators=chosen.annotators,
            population=wanted,
            design=design,
            seed=seed,
            title=chosen.title,
            blind=chosen.blind is None,
            created_by=chosen.by,
            labels=labels,
            gold=_gold(
                store,
                folder,
                chosen=chosen,
                wanted=wanted,
                looks=looks,
                seed=seed,
            ),
            gold_feedback=bool(chosen.gold_feedback),
        ),
    )
    if not chosen.show_after:
        return plan
    return replace(
        plan, shown_after=gold.shown_after(store, plan, chosen.show_after)
    )


def _population(store: Store, chosen: argparse.Namespace) -> Population:
    benchmark = chosen.benchmark or "junobench"
    return Population(
        benchmark=benchmark,
        experiment=chosen.experiment
        or population_choices.usual_experiment(store, benchmark),
        outcome=PopulationOutcome[(chosen.outcome or "detected").upper()],
        **_given(chosen, FILTERS),
    )


def _given(chosen: argparse.Namespace, names: Sequence[str]) -> dict[str, Any]:
    """Those of the options that were given; the record has defaults for the others."""
    values = vars(chosen)
    return {name: values[name] for name in names if values[name] is not None}


def _labels_of(file: Path) -> LabelSet:
    try:
        return labels_from_toml(_text_of(file, MOST_BYTES))
    except ValueError as error:
        raise CampaignError(
            f"{file}: {error}.",
            remedy="Correct the file; docs/lead/campaign.md explains it and shows an example.",
        ) from error


def _gold(
    store: Store,
    folder: DataFolder,
    chosen: argparse.Namespace,
    wanted: Population,
    looks: gold.Looks,
    seed: int,
) -> tuple[Gold, ...]:
    """The gold items asked for, those of the file first."""
    found = (
        gold.gold_of_file(store, chosen.gold, wanted, looks)
        if chosen.gold
        else ()
    )
    if chosen.gold_from:
        campaign, _, number = chosen.gold_from.rpartition(":")
        if (
            not campaign
            or not number.isdecimal()
            or not 0 < int(number) <= gold.MOST_ITEMS
        ):
            raise CampaignError(
                f"--gold-from {chosen.gold_from} does not say how many.",
                remedy="Write --gold-from CAMPAIGN:10.",
            )
        found += gold.gold_of_campaign(
            store,
            folder,
            campaign=campaign,
            n=int(number),
            wanted=wanted,
            looks=looks,
            seed=seed,
            but=found,
        )
    if chosen.gold_feedback and not found:
        raise CampaignError(
            "--gold-feedback needs gold items.",
            remedy="Pass --gold or --gold-from.",
        )
    return found


def _repeated(store: Store, chosen: argparse.Namespace) -> repeat.Repeated:
    if given := [*_given(chosen, COMES_FROM_EXPORT)]:
        raise CampaignError(
            f"--from repeats a campaign exactly; {given[0].replace('_', '-')} comes from the export.",
            remedy="Omit it, or create a campaign without --from.",
        )
    old = repeat.exported_plan(chosen.source)
    # The key of an item is made of the campaign's name, so labels fit only under that name.
    if chosen.with_labels and chosen.name not in (None, old.campaign):
        raise CampaignError(
            "Labels belong to the items of their campaign, which have other names under another one.",
            remedy=f"Omit the name, so that it is {old.campaign!r} again.",
        )
    return repeat.repeated_plan(
        store,
        old,
        campaign=chosen.name,
        title=chosen.title,
        by=chosen.by,
        # With labels the exported versions of the guideline are replayed too; without, labelling begins under
        # the last one.
        guideline_text=old.guideline_text
        if chosen.with_labels
        else repeat.exported_guideline(chosen.source, old),
    )


def _main(chosen: argparse.Namespace, folder: DataFolder) -> int:
    return _told(
        folder,
        chosen,
        rounds.open_main(folder, chosen.name, by=chosen.by, why=chosen.why),
    )


def _second(chosen: argparse.Namespace, folder: DataFolder) -> int:
    judge = None
    if chosen.judge:
        plan = campaigns.kept_campaign(folder, chosen.name).plan
        store = prepare_or_read(folder, tell)
        try:
            judge = labels_of_judge(store, plan, chosen.judge)
        finally:
            store.close()
    return _told(
        folder,
        chosen,
        rounds.draw_second(
            folder, chosen.name, by=chosen.by, why=chosen.why, judge=judge
        ),
    )


def _people(chosen: argparse.Namespace, folder: DataFolder) -> int:
    pairs = [pair.partition("=") for pair in chosen.replace]
    if bad := [
        old + sign for old, sign, new in pairs if not (old and sign and new)
    ]:
        raise CampaignError(
            f"--replace {bad[0]} does not say who takes over.",
            remedy="Write --replace ana=eva.",
        )
    replaced = {old.strip(): new.strip() for old, _, new in pairs}
    leaving = {*chosen.remove, *(old for old, _, _ in pairs), *chosen.hand_back}
    # Who leaves hands the open items over already; a person cannot do both in one change.
    idle_ones = [name for name in _idle(chosen, folder) if name not in leaving]
    change = PeopleChange(
        add=chosen.add,
        remove=chosen.remove,
        replace=replaced,
        hand_back=(*chosen.hand_back, *idle_ones),
    )
    if chosen.idle_days is not None and change == PeopleChange():
        return (
            0  # an empty round in the ledger would say that something changed
        )
    return _told(
        folder,
        chosen,
        rounds.change_people(
            folder, chosen.name, change, by=chosen.by, why=chosen.why
        ),
    )


def _idle(chosen: argparse.Namespace, folder: DataFolder) -> list[str]:
    """Who labelled nothing for --idle-days, where that was given; says so if there is none."""
    if chosen.idle_days is None:
        return []
    plan = campaigns.kept_campaign(folder, chosen.name).plan
    found = rounds.idle(folder, plan, days=chosen.idle_days)
    if not found:
        tell(
            f"Everybody who has open items labelled within {chosen.idle_days:g} days."
        )
    return found


def _again(chosen: argparse.Namespace, folder: DataFolder) -> int:
    _check_labels(
        chosen.labels, campaigns.kept_campaign(folder, chosen.name).plan.labels
    )
    which = rounds.Which(
        chosen.items,
        chosen.labels,
        chosen.reasons,
        chosen.not_under,
        chosen.flagged,
    )
    if which == rounds.Which() and not chosen.everything:
        raise CampaignError(
            "Nothing says which items are labelled again.",
            remedy="Pass --items, --labels, --reasons, --not-under or --flagged; or --everything.",
        )
    # Opening a locked campaign again is an act that the audit log names; labelling again in an open one is
    # not.
    was_locked = campaigns.kept_campaign(folder, chosen.name).lock is not None
    opened = rounds.label_again(
        folder, chosen.name, which, by=chosen.by, why=chosen.why
    )
    if was_locked:
        note(
            folder,
            at_the_terminal(),
            AuditAction.OPEN_AGAIN,
            f"campaign {chosen.name}",
            f"by {chosen.by}",
        )
    return _told(folder, chosen, opened)


def _check_labels(named: Sequence[str], labels: LabelSet) -> None:
    if unknown := [label for label in named if label not in labels]:
        raise CampaignError(
            f"{unknown[0]!r} is not a label.",
            remedy=f"Labels are {labels.listed()}.",
        )


def _told(folder: DataFolder, chosen: argparse.Namespace, entry: Round) -> int:
    give(f"{chosen.name}: {rounds.round_words(entry)}")
    plan = campaigns.kept_campaign(folder, chosen.name).plan
    for row in plan_outline.workload(plan):
        if row.annotator in plan.present:
            tell(
                f"  {row.annotator}: {plan_outline.size_words(row)}, labelled ones included"
            )
    if missing := unassigned(plan):
        tell(
            f"  {missing:,} labels that the design asks for have nobody to give them: add people."
        )
    return 0


def _status(chosen: argparse.Namespace, folder: DataFolder) -> int:
    names = [chosen.name] if chosen.name else campaigns.campaign_names(folder)
    found = [campaign_status(folder, name) for name in names]
    if found or chosen.json:
        document = {"campaigns": [status_json(status) for status in found]}
        words = "\n".join(status_words(status) for status in found)
        give_either(document, words, as_json=chosen.json)
    else:
        tell(
            as_typed(
                f"There is no campaign in {folder.ledger} yet; create one with `campaign create`."
            )
        )
    return 0


def _guideline(chosen: argparse.Namespace, folder: DataFolder) -> int:
    if chosen.file:
        changed = change_guideline(
            folder,
            chosen.name,
            # A character takes up to four bytes in UTF-8.
            _text_of(chosen.file, 4 * MOST_CHARACTERS),
            by=chosen.by,
        )
        give(
            f"{chosen.name}: guideline {changed.version} is in force since {changed.since}"
        )
        return 0
    versions = guideline_versions(
        folder, campaigns.kept_campaign(folder, chosen.name).plan
    )
    if chosen.diff:
        for older, newer in pairwise(versions):
            give(f"--- {older.version}  {older.since}  {older.by}".rstrip())
            give(f"+++ {newer.version}  {newer.since}  {newer.by}")
            give("\n".join(difference(older.text, newer.text)))
        if len(versions) == 1:
            tell(
                f"The guideline of {chosen.name!r} has not changed since the campaign was created."
            )
        return 0
    give(versions[-1].text.rstrip("\n"))
    tell(
        f"Version {versions[-1].version}, in force since {versions[-1].since}."
    )
    return 0


def _text_of(file: Path, most_bytes: int) -> str:
    return read_given_text(
        file, most_bytes, CampaignError, "Name a text file in UTF-8."
    )


def _labels(chosen: argparse.Namespace, folder: DataFolder) -> int:
    label_store = LabelStore(folder, chosen.name)
    _check_labels([label for _, label in chosen.map], label_store.plan.labels)
    lock = label_store.lock()
    if lock is not None and not chosen.reopen:
        raise CampaignError(
            f"{chosen.name} was locked by {lock.locked_by} at {lock.locked_at}; it takes no more labels.",
            remedy="To take these all the same, pass --reopen with the lead's name, and lock it again afterwards.",
        )
    read = label_import.read_labels(
        label_store,
        chosen.annotator,
        chosen.file,
        label_import.Columns(
            item=chosen.item_column,
            label=chosen.label_column,
            reason=chosen.reason_column,
            note=chosen.note_column,
            showing=chosen.showing_column,
        ),
        dict(chosen.map),
        whose=chosen.whose,
        though_locked=lock is not None,
    )
    if read.told:
        tell(f"read as {read.told}")
    _tell_faults(read)
    # All or nothing: half a file of labels looks like a whole one once it is stored.
    if read.faults and not chosen.skip_invalid:
        n = len(read.faults)
        raise CampaignError(
            f"{n:,} row{'s' * (n > 1)} cannot be stored ({_counted(read)}), so nothing was.",
            remedy="Correct the file, or pass --skip-invalid to store the others.",
        )
    # --reopen of a campaign that is open changes nothing and needs no entry; a file without one new label must
    # not open one that was locked.
    if lock is not None and read.acts:
        why = f"labels of {chosen.annotator}, from {read.source}"
        entry = rounds.reopen(folder, chosen.name, by=chosen.reopen, why=why)
        give(f"{chosen.name}: {rounds.round_words(entry)}")
    if read.acts:
        label_store.take_all(chosen.annotator, read.acts, source=read.source)
    give("\n".join(_taken(read, chosen)))
    return 0


def _tell_faults(read: label_import.Read) -> None:
    for row in read.faults[:MOST_FAULTS]:
        tell(f"line {row.line}: {row.words}")
    if len(read.faults) > MOST_FAULTS:
        tell(f"and {len(read.faults) - MOST_FAULTS:,} more")


def _counted(read: label_import.Read) -> str:
    return ", ".join(f"{n:,} {fault}" for fault, n in read.counts().items())


def _taken(read: label_import.Read, chosen: argparse.Namespace) -> list[str]:
    """What was stored of a file, and what was not."""
    lines = [
        f"{chosen.name}: {read.n_labels:,} labels of {chosen.annotator} stored, from {read.source}"
    ]
    if read.n_stored:
        lines.append(f"  {read.n_stored:,} acts were stored already")
    if read.faults:
        lines.append(f"  skipped: {_counted(read)}")
    if read.n_empty:
        rows = "row has" if read.n_empty == 1 else "rows have"
        lines.append(f"  {read.n_empty:,} {rows} no label")
    return lines


def _lock(chosen: argparse.Namespace, folder: DataFolder) -> int:
    status = campaign_status(folder, chosen.name)
    # Of a campaign that is locked already, `lock_campaign` says so itself.
    found = open_words(status) if status.lock is None else []
    for words in found:
        tell(words)
    if found and not chosen.anyway:
        raise CampaignError(
            f"{chosen.name!r} is not finished, so it was not locked.",
            remedy="Finish it, or pass --anyway.",
        )
    lock = campaigns.lock_campaign(folder, chosen.name, by=chosen.by)
    note(
        folder,
        at_the_terminal(),
        AuditAction.LOCK,
        f"campaign {chosen.name}",
        f"locked by {chosen.by}",
    )
    give(f"{chosen.name} is locked by {lock.locked_by} at {lock.locked_at}")
    return 0


def _model(chosen: argparse.Namespace, folder: DataFolder) -> int:
    found = [
        label_model.campaign_label_model(folder, chosen.name, model)
        for model in label_model.MODELS
        if chosen.model in (model.lower(), ALL_MODELS)
    ]
    words, document = (
        label_model.models_words(found),
        label_model.models_json(found),
    )
    give_either(document, words, as_json=chosen.json)
    return 0


def _export(chosen: argparse.Namespace, folder: DataFolder) -> int:
    files = forms.exported(
        folder,
        chosen.name,
        chosen.form,
        with_texts=chosen.with_texts,
        progress=tell,
    )
    write_export(files, chosen.out, force=chosen.force)
    note_written(folder, f"campaign {chosen.name}", chosen.out)
    give(f"{chosen.name}: {', '.join(files)} in {chosen.out}")
    return 0

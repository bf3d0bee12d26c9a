"""`campaign`: create, watch, lock and export a labelling campaign without the app."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from crane_core import arguments
from crane_core.annotation.draw import STRATA, CampaignRequest
from crane_core.annotation.guideline import MOST_CHARACTERS, difference
from crane_core.annotation.label_check import MOST_BYTES, labels_from_toml
from crane_core.annotation.label_set import LabelSet, study_labels
from crane_core.annotation.plan import (
    BY_DEFAULT,
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
from crane_core.annotation.seed import fresh_seed
from crane_core.domain import LABEL_CODE, AuditAction
from crane_core.errors import CampaignError
from crane_core.given_path import read_given
from crane_core.pipeline.audit import at_the_terminal, note
from crane_core.pipeline.campaigns.campaigns import (
    campaign_names,
    drawn_plan,
    keep_campaign,
    kept_campaign,
    lock_campaign,
)
from crane_core.pipeline.campaigns.clustering import clustering
from crane_core.pipeline.campaigns.export.folder import write_export
from crane_core.pipeline.campaigns.export.forms import FORMS, TABLES, exported
from crane_core.pipeline.campaigns.export.repeat import (
    Repeated,
    exported_guideline,
    exported_plan,
    exported_work,
    keep_replayed,
    repeated_plan,
)
from crane_core.pipeline.campaigns.gold import COLUMNS as GOLD_COLUMNS
from crane_core.pipeline.campaigns.gold import (
    MOST_ITEMS,
    Looks,
    gold_of_campaign,
    gold_of_file,
)
from crane_core.pipeline.campaigns.guideline import change_guideline, guideline_versions
from crane_core.pipeline.campaigns.label_import import Columns, Read, read_labels
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.campaigns.plan_outline import (
    as_json,
    in_words,
    outline,
    size_words,
    workload,
)
from crane_core.pipeline.campaigns.population_choices import (
    check_asked,
    usual_experiment,
)
from crane_core.pipeline.campaigns.rounds import (
    Which,
    change_people,
    idle,
    label_again,
    open_main,
    reopen,
    round_words,
)
from crane_core.pipeline.campaigns.status import (
    campaign_status,
    open_words,
    status_json,
    status_words,
)
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import Store
from crane_core.terminal import as_typed, give, tell

NAME = "campaign"
HELP = "label diagnoses: create, staff, watch, lock and export a campaign (create, main, people, again, guideline, ...)"
EXAMPLE = """python -m crane_core campaign create pilot --annotators ana,ben --dry-run
         python -m crane_core campaign people pilot --replace ben=eva --by lead
         python -m crane_core campaign status pilot
         python -m crane_core campaign guideline pilot --set guideline.md --by ana
         python -m crane_core campaign labels pilot --file eva.csv --annotator eva --map good=correct bad=wrong
         python -m crane_core campaign lock pilot --by ana
         python -m crane_core campaign export pilot --out pilot_export"""
COMES_FROM_EXPORT = (
    "annotators", "benchmark", "experiment", "detectors", "settings", "libraries", "root_causes", "outcome", "design",
    "margin", "confidence", "p", "strata", "overlap", "per_item", "calibration", "repeats", "seed", "blind", "texts",
    "labels",
    "gold", "gold_from", "gold_feedback",
)  # fmt: skip
"""Options that --from leaves no room for."""
MOST_FAULTS = 200
"""Rows that are told one by one."""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the actions of `campaign` and what each of them takes."""
    actions = verb.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_create(_action(actions, "create", "draw a plan, show it, and store it"))
    _add_rounds(actions)
    status = _action(
        actions, "status", "progress of each annotator, open items, decided items"
    )
    status.add_argument(
        "name",
        nargs="?",
        type=arguments.name,
        metavar="NAME",
        help="only this campaign (default: all)",
    )
    status.add_argument(
        "--json", action="store_true", help="the same as JSON on stdout"
    )
    _add_guideline(
        _action(
            actions,
            "guideline",
            "print the guideline of a campaign, or store a new version of it",
        )
    )
    _add_labels(
        _action(
            actions,
            "labels",
            "import labels made elsewhere, from a CSV file, as those of an annotator",
        )
    )
    lock = _action(
        actions, "lock", "lock a campaign: labels and decisions can no longer change"
    )
    lock.add_argument("name", type=arguments.name, metavar="NAME")
    lock.add_argument(
        "--by",
        required=True,
        type=arguments.name,
        metavar="WHO",
        help="name of the person who locks it",
    )
    lock.add_argument(
        "--anyway",
        action="store_true",
        help="lock even if labels or decisions are missing",
    )
    export = _action(
        actions, "export", "write labels as tables, for Label Studio, or as a dataset"
    )
    export.add_argument("name", type=arguments.name, metavar="NAME")
    export.add_argument(
        "--out",
        required=True,
        type=arguments.path,
        metavar="DIR",
        help="folder to create",
    )
    export.add_argument(
        "--force", action="store_true", help="replace an older export in that folder"
    )
    export.add_argument(
        "--form",
        choices=list(FORMS),
        default=TABLES,
        help="tables (default): tidy CSV, every action as JSON lines, the plan, JSON Schemas; label-studio: tasks with "
        "annotations and the labeling configuration; dataset: Parquet for `datasets` and Argilla",
    )
    export.add_argument(
        "--with-texts",
        action="store_true",
        help="include the texts that were labelled (ground truth, target cell, diagnosis), which belong to others",
    )


def _add_guideline(guideline: argparse.ArgumentParser) -> None:
    guideline.add_argument("name", type=arguments.name, metavar="NAME")
    what = guideline.add_mutually_exclusive_group()
    what.add_argument(
        "--set",
        dest="file",
        type=arguments.path,
        metavar="FILE",
        help="store this text (Markdown) as a new version",
    )
    what.add_argument(
        "--diff",
        action="store_true",
        help="what each version changed, instead of the text in force",
    )
    guideline.add_argument(
        "--by",
        default="",
        metavar="WHO",
        help="name of the person who changes it (with --set)",
    )


def _add_labels(labels: argparse.ArgumentParser) -> None:
    labels.add_argument("name", type=arguments.name, metavar="NAME")
    labels.add_argument(
        "--file",
        required=True,
        type=arguments.path,
        metavar="FILE",
        help="CSV in UTF-8 with a header, or a desk's download",
    )
    labels.add_argument(
        "--annotator",
        required=True,
        type=arguments.name,
        metavar="WHO",
        help="whose labels they are",
    )
    columns = labels.add_argument_group("columns of the file")
    columns.add_argument(
        "--item-column", default="item", metavar="COLUMN", help="default: item"
    )
    columns.add_argument(
        "--label-column", default="label", metavar="COLUMN", help="default: label"
    )
    columns.add_argument(
        "--reason-column", metavar="COLUMN", help="codes of reasons (default: none)"
    )
    columns.add_argument(
        "--note-column", metavar="COLUMN", help="notes (default: none)"
    )
    columns.add_argument(
        "--showing-column",
        metavar="COLUMN",
        help="1, or 2 for a hidden repeat (default: all are first showings)",
    )
    labels.add_argument(
        "--map",
        nargs="+",
        action="extend",
        type=_meaning,
        default=[],
        metavar="VALUE=LABEL",
        help="what a value of the label column means, such as good=correct",
    )
    labels.add_argument(
        "--skip-invalid",
        action="store_true",
        help="store the other rows when some cannot be stored (default: none)",
    )
    labels.add_argument(
        "--reopen",
        metavar="WHO",
        type=arguments.name,
        help="name of the lead who opens a locked campaign for these labels; lock it again afterwards",
    )


def _meaning(text: str) -> tuple[str, str]:
    """A value of the file and the label that it stands for."""
    value, sign, label = text.rpartition("=")
    if not (sign and value.strip() and LABEL_CODE.fullmatch(label.strip())):
        raise argparse.ArgumentTypeError(
            f"expected VALUE=LABEL, such as good=correct, not {text!r}"
        )
    return value.strip(), label.strip()


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, does: str
) -> argparse.ArgumentParser:
    action = actions.add_parser(name, help=does, description=does)
    action.add_argument(
        "--data",
        type=arguments.path,
        metavar="DIR",
        default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )
    return action


def _add_create(create: argparse.ArgumentParser) -> None:
    create.add_argument(
        "name",
        nargs="?",
        type=arguments.name,
        metavar="NAME",
        help="a-z, 0-9, dot, dash, underscore",
    )
    create.add_argument(
        "--from",
        dest="source",
        type=arguments.path,
        metavar="PLAN.json",
        help="repeat a campaign from its export",
    )
    create.add_argument(
        "--with-labels",
        action="store_true",
        help="with --from, under the same name: also the labels, decisions and rounds of the export",
    )
    create.add_argument(
        "--annotators",
        type=arguments.names,
        metavar="A,B",
        help="annotators; with --overlap sample, the first one labels all items",
    )
    asked = create.add_argument_group("population")
    asked.add_argument(
        "--benchmark", type=arguments.name, metavar="NAME", help="default: junobench"
    )
    asked.add_argument(
        "--experiment",
        type=arguments.name,
        metavar="NAME",
        help="default: crane-llm-2025-10; of another benchmark the only one",
    )
    for filter_name in ("detectors", "settings", "libraries", "root-causes"):
        asked.add_argument(
            f"--{filter_name}", type=arguments.names, metavar="A,B", help="default: all"
        )
    asked.add_argument(
        "--outcome",
        choices=_words(PopulationOutcome),
        help="detected (default): predicted crashes that do crash",
    )
    design = create.add_argument_group("design")
    design.add_argument(
        "--design", choices=_words(DrawKind), help="default: sample, by Equation 1"
    )
    design.add_argument("--margin", type=arguments.share, help="default: 0.05")
    design.add_argument("--confidence", type=arguments.share, help="default: 0.95")
    design.add_argument(
        "--p", type=arguments.share, help="expected share (default: 0.5)"
    )
    design.add_argument(
        "--strata",
        type=arguments.names,
        metavar="A,B",
        help=f"any of {','.join(STRATA)} (default: detector,setting)",
    )
    design.add_argument(
        "--overlap",
        choices=_words(Overlap),
        help="who labels what: all label all (default); sample: the first all, the others a sample; some: each item by "
        "--per-item of them; none: by one",
    )
    design.add_argument(
        "--per-item",
        type=arguments.integer(1, 100),
        metavar="K",
        help="with --overlap some (default: 2)",
    )
    design.add_argument(
        "--calibration",
        type=arguments.integer(0, 10_000),
        metavar="N",
        help="items that all label first (default: 0)",
    )
    design.add_argument(
        "--repeats",
        type=arguments.number(0, 0.5),
        help="share of hidden repeats (default: 0.05)",
    )
    design.add_argument(
        "--seed", type=arguments.seed, help="default: a random one, shown in the plan"
    )
    design.add_argument(
        "--gold",
        type=arguments.path,
        metavar="FILE.csv",
        help=f"items with a known label ({', '.join(GOLD_COLUMNS)}, optionally why and run), mixed into every order",
    )
    design.add_argument(
        "--gold-from",
        type=arguments.name,
        metavar="CAMPAIGN:N",
        help="N items that a locked campaign decided, as gold",
    )
    design.add_argument(
        "--gold-feedback",
        action="store_const",
        const=True,
        help="tell annotators after each gold item what its label is (default: only the lead sees how they do)",
    )
    design.add_argument(
        "--no-blind",
        dest="blind",
        action="store_false",
        default=None,
        help="do not hide which detector gave which answer",
    )
    design.add_argument(
        "--all-texts",
        dest="texts",
        action="store_const",
        const=Texts.ALL,
        help="show all texts of an item with their counts, instead of one drawn at random",
    )
    design.add_argument(
        "--labels",
        type=arguments.path,
        metavar="FILE",
        help="labels in place of the study's (TOML, see docs/lead/campaign.md)",
    )
    create.add_argument("--title", default="", help="title shown on the pages")
    create.add_argument(
        "--by", default="", metavar="WHO", help="name of the person who creates it"
    )
    create.add_argument(
        "--dry-run", action="store_true", help="show the plan and store nothing"
    )
    create.add_argument(
        "--json", action="store_true", help="print the plan's outline as JSON to stdout"
    )


def _add_rounds(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    main = _action(actions, "main", "open the main round after calibration")
    people = _action(
        actions,
        "people",
        "add, remove or replace annotators, or hand open items to others",
    )
    again = _action(
        actions, "again", "have items labelled again; opens a locked campaign"
    )
    for action in (main, people, again):
        action.add_argument("name", type=arguments.name, metavar="NAME")
        action.add_argument(
            "--by",
            required=True,
            type=arguments.name,
            metavar="WHO",
            help="name of the lead",
        )
        action.add_argument(
            "--why", default="", metavar="TEXT", help="reason, stored with the change"
        )
    people.add_argument(
        "--add", type=arguments.names, default=(), metavar="A,B", help="new annotators"
    )
    people.add_argument(
        "--remove",
        type=arguments.names,
        default=(),
        metavar="A,B",
        help="who leaves; labels stay",
    )
    people.add_argument(
        "--replace",
        type=arguments.names,
        default=(),
        metavar="A=B",
        help="A leaves and B takes over the open items",
    )
    people.add_argument(
        "--hand-back",
        type=arguments.names,
        default=(),
        metavar="A,B",
        help="who stays, but returns the open items",
    )
    people.add_argument(
        "--idle-days",
        type=arguments.number(0, 3650),
        metavar="N",
        help="hand back the open items of everybody who labelled nothing for N days",
    )
    which = again.add_argument_group("which items")
    which.add_argument(
        "--items", type=arguments.names, default=(), metavar="A,B", help="these items"
    )
    which.add_argument(
        "--labels",
        type=arguments.names,
        default=(),
        metavar="A,B",
        help="with one of these labels",
    )
    which.add_argument(
        "--reasons",
        type=arguments.names,
        default=(),
        metavar="A,B",
        help="with one of these reasons",
    )
    which.add_argument(
        "--not-under",
        default="",
        metavar="VERSION",
        help="labelled under another guideline than this",
    )
    which.add_argument("--flagged", action="store_true", help="that somebody flagged")
    which.add_argument("--everything", action="store_true", help="all labelled items")


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
        "people": _people,
        "again": _again,
        "status": _status,
        "guideline": _guideline,
        "labels": _labels,
        "lock": _lock,
        "export": _export,
    }
    return actions[chosen.action](chosen, folder)


def _create(chosen: argparse.Namespace, folder: DataFolder) -> int:
    store = prepare_or_read(folder, tell)
    try:
        plan, remarks = (
            _repeated(store, chosen)
            if chosen.source
            else Repeated(_drawn(store, folder, chosen), ())
        )
        weight = clustering(store, plan)
        work = exported_work(chosen.source, plan) if chosen.with_labels else None
    # The database is free again before anything is stored: the app, if it runs, reads the new campaign from
    # the ledger.
    finally:
        store.close()
    told = outline(plan, weight)
    give(
        json.dumps(as_json(plan, told, weight), indent=1)
        if chosen.json
        else in_words(plan, told)
    )
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
    keep_campaign(folder, plan)
    if work is not None:
        keep_replayed(folder, plan, work)
        tell(
            f"Stored {len(work.acts):,} acts and {len(work.rounds):,} rounds of the export, too."
        )
    tell(
        f"Stored the campaign {plan.campaign!r}; {', '.join(plan.annotators)} can label now, on the Annotate page."
    )
    return 0


def _drawn(store: Store, folder: DataFolder, chosen: argparse.Namespace) -> Plan:
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
    benchmark = chosen.benchmark or "junobench"
    wanted = Population(
        benchmark=benchmark,
        experiment=chosen.experiment or usual_experiment(store, benchmark),
        detectors=chosen.detectors or (),
        settings=chosen.settings or (),
        libraries=chosen.libraries or (),
        root_causes=chosen.root_causes or (),
        outcome=PopulationOutcome[(chosen.outcome or "detected").upper()],
    )
    check_asked(store, wanted)
    stated = {
        name: getattr(chosen, name)
        for name in ("margin", "confidence", "p", "repeats", "per_item", "calibration")
    }
    design = Design(
        kind=DrawKind[(chosen.design or "sample").upper()],
        overlap=Overlap[(chosen.overlap or "all").upper()],
        strata=chosen.strata or BY_DEFAULT,
        # One text per item, because the number of distinct texts betrays which model wrote most items.
        texts=chosen.texts or Texts.ONE,
        # What was not stated is left to the defaults of Design, so that they are written in one place.
        **{name: value for name, value in stated.items() if value is not None},
    )
    # A dry run prints the seed that it drew, so that the plan which was looked at can be stored.
    seed = fresh_seed() if chosen.seed is None else chosen.seed
    labels = _labels_of(chosen.labels) if chosen.labels else study_labels()
    looks = Looks(labels, design.texts, chosen.blind is None)
    return drawn_plan(
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
            gold=_gold(store, folder, chosen, wanted, looks, seed),
            gold_feedback=bool(chosen.gold_feedback),
        ),
    )


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
    looks: Looks,
    seed: int,
) -> tuple[Gold, ...]:
    """The gold items asked for, those of the file first."""
    found = gold_of_file(store, chosen.gold, wanted, looks) if chosen.gold else ()
    if chosen.gold_from:
        campaign, _, number = chosen.gold_from.rpartition(":")
        if not campaign or not number.isdecimal() or not 0 < int(number) <= MOST_ITEMS:
            raise CampaignError(
                f"--gold-from {chosen.gold_from} does not say how many.",
                remedy="Write --gold-from CAMPAIGN:10.",
            )
        found += gold_of_campaign(
            store, folder, campaign, int(number), wanted, looks, seed=seed, but=found
        )
    if chosen.gold_feedback and not found:
        raise CampaignError(
            "--gold-feedback needs gold items.", remedy="Pass --gold or --gold-from."
        )
    return found


def _repeated(store: Store, chosen: argparse.Namespace) -> Repeated:
    if given := [
        name for name in COMES_FROM_EXPORT if getattr(chosen, name) is not None
    ]:
        raise CampaignError(
            f"--from repeats a campaign exactly; {given[0].replace('_', '-')} comes from the export.",
            remedy="Omit it, or create a campaign without --from.",
        )
    old = exported_plan(chosen.source)
    # The key of an item is made of the campaign's name, so labels fit only under that name.
    if chosen.with_labels and chosen.name not in (None, old.campaign):
        raise CampaignError(
            "Labels belong to the items of their campaign, which have other names under another one.",
            remedy=f"Omit the name, so that it is {old.campaign!r} again.",
        )
    return repeated_plan(
        store,
        old,
        campaign=chosen.name,
        title=chosen.title,
        by=chosen.by,
        # With labels the exported versions of the guideline are replayed too; without, labelling begins under
        # the last one.
        guideline_text=old.guideline_text
        if chosen.with_labels
        else exported_guideline(chosen.source, old),
    )


def _main(chosen: argparse.Namespace, folder: DataFolder) -> int:
    return _told(
        folder, chosen, open_main(folder, chosen.name, by=chosen.by, why=chosen.why)
    )


def _people(chosen: argparse.Namespace, folder: DataFolder) -> int:
    pairs = [pair.partition("=") for pair in chosen.replace]
    if bad := [old + sign for old, sign, new in pairs if not (old and sign and new)]:
        raise CampaignError(
            f"--replace {bad[0]} does not say who takes over.",
            remedy="Write --replace ana=eva.",
        )
    plan = kept_campaign(folder, chosen.name).plan
    idle_ones = (
        idle(folder, plan, days=chosen.idle_days)
        if chosen.idle_days is not None
        else []
    )
    leaving = {*chosen.remove, *(old for old, _, _ in pairs), *chosen.hand_back}
    change = PeopleChange(
        add=chosen.add,
        remove=chosen.remove,
        replace={old.strip(): new.strip() for old, _, new in pairs},
        hand_back=(
            *chosen.hand_back,
            # Who leaves hands the open items over already; a person cannot do both in one change.
            *(name for name in idle_ones if name not in leaving),
        ),
    )
    if chosen.idle_days is not None and not idle_ones:
        tell(f"Everybody who has open items labelled within {chosen.idle_days:g} days.")
        # An empty round in the ledger would say that something changed.
        if change == PeopleChange():
            return 0
    return _told(
        folder,
        chosen,
        change_people(folder, chosen.name, change, by=chosen.by, why=chosen.why),
    )


def _again(chosen: argparse.Namespace, folder: DataFolder) -> int:
    _check_labels(chosen.labels, kept_campaign(folder, chosen.name).plan.labels)
    which = Which(
        chosen.items, chosen.labels, chosen.reasons, chosen.not_under, chosen.flagged
    )
    if which == Which() and not chosen.everything:
        raise CampaignError(
            "Nothing says which items are labelled again.",
            remedy="Pass --items, --labels, --reasons, --not-under or --flagged; or --everything.",
        )
    # Opening a locked campaign again is an act that the audit log names; labelling again in an open one is
    # not.
    was_locked = kept_campaign(folder, chosen.name).lock is not None
    opened = label_again(folder, chosen.name, which, by=chosen.by, why=chosen.why)
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
            f"{unknown[0]!r} is not a label.", remedy=f"Labels are {labels.listed()}."
        )


def _told(folder: DataFolder, chosen: argparse.Namespace, entry: Round) -> int:
    give(f"{chosen.name}: {round_words(entry)}")
    plan = kept_campaign(folder, chosen.name).plan
    for row in workload(plan):
        if row.annotator in plan.present:
            tell(f"  {row.annotator}: {size_words(row)}, labelled ones included")
    if missing := unassigned(plan):
        tell(
            f"  {missing:,} labels that the design asks for have nobody to give them: add people."
        )
    return 0


def _status(chosen: argparse.Namespace, folder: DataFolder) -> int:
    names = [chosen.name] if chosen.name else campaign_names(folder)
    found = [campaign_status(folder, name) for name in names]
    if chosen.json:
        give(
            json.dumps(
                {"campaigns": [status_json(status) for status in found]}, indent=1
            )
        )
    elif found:
        give("\n".join(status_words(status) for status in found))
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
            folder, chosen.name, _text_of(chosen.file), by=chosen.by
        )
        give(
            f"{chosen.name}: guideline {changed.version} is in force since {changed.since}"
        )
        return 0
    versions = guideline_versions(folder, kept_campaign(folder, chosen.name).plan)
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
    tell(f"Version {versions[-1].version}, in force since {versions[-1].since}.")
    return 0


# A character takes up to four bytes in UTF-8.
def _text_of(file: Path, most_bytes: int = 4 * MOST_CHARACTERS) -> str:
    try:
        return read_given(file, most_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise CampaignError(
            f"{file} is not a text file: {error.reason}.", remedy="Save it as UTF-8."
        ) from error
    except ValueError as error:
        raise CampaignError(f"{file}: {error}.", remedy="Name a text file.") from error


def _labels(chosen: argparse.Namespace, folder: DataFolder) -> int:
    columns = Columns(
        chosen.item_column,
        chosen.label_column,
        chosen.reason_column,
        chosen.note_column,
        chosen.showing_column,
    )
    label_store = LabelStore(folder, chosen.name)
    meant = [label for _, label in chosen.map]
    _check_labels(meant, label_store.plan.labels)
    # --reopen of a campaign that is open changes nothing and needs no entry.
    opens = bool(chosen.reopen) and label_store.lock() is not None
    read = _labels_read(label_store, chosen, columns, though_locked=opens)
    for row in read.faults[:MOST_FAULTS]:
        tell(f"line {row.line}: {row.words}")
    if len(read.faults) > MOST_FAULTS:
        tell(f"and {len(read.faults) - MOST_FAULTS:,} more")
    counted = ", ".join(f"{n:,} {fault}" for fault, n in read.counts().items())
    # All or nothing: half a file of labels looks like a whole one once it is stored.
    if read.faults and not chosen.skip_invalid:
        n = len(read.faults)
        raise CampaignError(
            f"{n:,} row{'s' * (n > 1)} cannot be stored ({counted}), so nothing was.",
            remedy="Correct the file, or pass --skip-invalid to store the others.",
        )
    # A file without one new label must not open a campaign that was locked.
    if opens and read.acts:
        entry = reopen(
            folder,
            chosen.name,
            by=chosen.reopen,
            why=f"labels of {chosen.annotator}, from {read.source}",
        )
        give(f"{chosen.name}: {round_words(entry)}")
    if read.acts:
        label_store.take_all(chosen.annotator, read.acts, source=read.source)
    give(
        f"{chosen.name}: {read.n_labels:,} labels of {chosen.annotator} stored, from {read.source}"
    )
    if read.n_stored:
        give(f"  {read.n_stored:,} acts were stored already")
    if read.faults:
        give(f"  skipped: {counted}")
    if read.n_empty:
        give(
            f"  {read.n_empty:,} row{' has' if read.n_empty == 1 else 's have'} no label"
        )
    return 0


def _labels_read(
    label_store: LabelStore,
    chosen: argparse.Namespace,
    columns: Columns,
    *,
    though_locked: bool,
) -> Read:
    """What the file holds. Raises CampaignError; of a locked campaign it says how the lead can take labels."""
    lock = label_store.lock()
    if lock is not None and not though_locked:
        raise CampaignError(
            f"{chosen.name} was locked by {lock.locked_by} at {lock.locked_at}; it takes no more labels.",
            remedy="To take these all the same, pass --reopen with the lead's name, and lock it again afterwards.",
        )
    meaning = dict(chosen.map)
    return read_labels(
        label_store,
        chosen.annotator,
        chosen.file,
        columns,
        meaning,
        though_locked=though_locked,
    )


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
    lock = lock_campaign(folder, chosen.name, by=chosen.by)
    note(
        folder,
        at_the_terminal(),
        AuditAction.LOCK,
        f"campaign {chosen.name}",
        f"locked by {chosen.by}",
    )
    give(f"{chosen.name} is locked by {lock.locked_by} at {lock.locked_at}")
    return 0


def _export(chosen: argparse.Namespace, folder: DataFolder) -> int:
    files = exported(
        folder, chosen.name, chosen.form, with_texts=chosen.with_texts, progress=tell
    )
    write_export(files, chosen.out, force=chosen.force)
    note(
        folder,
        at_the_terminal(),
        AuditAction.EXPORT,
        f"campaign {chosen.name}",
        f"to {chosen.out.name}",
    )
    give(f"{chosen.name}: {', '.join(files)} in {chosen.out}")
    return 0

"""`campaign`: create, watch, lock and export a labelling campaign without the app."""

from __future__ import annotations

import argparse
import json

from crane_core import arguments
from crane_core.annotation.draw import STRATA, Wish
from crane_core.annotation.plan import BY_DEFAULT, Design, Kind, Outcome, Overlap, Plan, Population, Texts
from crane_core.annotation.seed import fresh_seed
from crane_core.errors import CampaignError
from crane_core.pipeline.campaign_export import export_files
from crane_core.pipeline.campaign_repeat import Repeated, exported_plan, repeated_plan
from crane_core.pipeline.campaign_status import campaign_status, open_words, status_json, status_words
from crane_core.pipeline.campaigns import campaign_names, drawn_plan, keep_campaign, lock_campaign
from crane_core.pipeline.clustering import clustering
from crane_core.pipeline.export_folder import write_export
from crane_core.pipeline.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.plan_outline import as_json, in_words, outline
from crane_core.pipeline.population_choices import check_asked
from crane_core.storage.store import Store
from crane_core.terminal import give, tell

NAME = "campaign"
HELP = "label diagnoses: create a campaign, see its status, lock it, export it (create, status, lock, export)"
EXAMPLE = """python -m crane_core campaign create pilot --annotators ana,ben --dry-run
         python -m crane_core campaign status pilot
         python -m crane_core campaign lock pilot --by ana
         python -m crane_core campaign export pilot --out pilot_export"""
COMES_FROM_EXPORT = (
    "annotators", "benchmark", "experiment", "detectors", "settings", "libraries", "root_causes", "outcome", "design",
    "margin", "confidence", "p", "strata", "overlap", "repeats", "seed", "blind", "texts",
)  # fmt: skip
"""Options that --from leaves no room for."""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    actions = verb.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_create(_action(actions, "create", "draw a plan, show it, and store it"))
    status = _action(actions, "status", "progress of each annotator, open items, decided items")
    status.add_argument(
        "name", nargs="?", type=arguments.name, metavar="NAME", help="only this campaign (default: all)"
    )
    status.add_argument("--json", action="store_true", help="the same as JSON on stdout")
    lock = _action(actions, "lock", "lock a campaign: labels and decisions can no longer change")
    lock.add_argument("name", type=arguments.name, metavar="NAME")
    lock.add_argument("--by", required=True, type=arguments.name, metavar="WHO", help="name of the person who locks it")
    lock.add_argument("--anyway", action="store_true", help="lock even if labels or decisions are missing")
    export = _action(actions, "export", "write labels as tidy CSV, every action as JSON lines, and the plan")
    export.add_argument("name", type=arguments.name, metavar="NAME")
    export.add_argument("--out", required=True, type=arguments.path, metavar="DIR", help="folder to create")
    export.add_argument("--force", action="store_true", help="replace an older export in that folder")


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, does: str
) -> argparse.ArgumentParser:
    action = actions.add_parser(name, help=does, description=does)
    action.add_argument("--data", type=arguments.path, metavar="DIR", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    return action


def _add_create(create: argparse.ArgumentParser) -> None:
    create.add_argument("name", nargs="?", type=arguments.name, metavar="NAME", help="a-z, 0-9, dot, dash, underscore")
    create.add_argument(
        "--from", dest="source", type=arguments.path, metavar="PLAN.json", help="repeat a campaign from its export"
    )
    create.add_argument(
        "--annotators",
        type=arguments.names,
        metavar="A,B",
        help="annotators; with --overlap sample, the first one labels all items",
    )
    asked = create.add_argument_group("population")
    asked.add_argument("--benchmark", type=arguments.name, metavar="NAME", help="default: junobench")
    asked.add_argument("--experiment", type=arguments.name, metavar="NAME", help="default: crane-llm-2025-10")
    for filter_name in ("detectors", "settings", "libraries", "root-causes"):
        asked.add_argument(f"--{filter_name}", type=arguments.names, metavar="A,B", help="default: all")
    asked.add_argument("--outcome", choices=_words(Outcome), help="detected (default): predicted crashes that do crash")
    design = create.add_argument_group("design")
    design.add_argument("--design", choices=_words(Kind), help="default: sample, by Equation 1")
    design.add_argument("--margin", type=arguments.share, help="default: 0.05")
    design.add_argument("--confidence", type=arguments.share, help="default: 0.95")
    design.add_argument("--p", type=arguments.share, help="expected share (default: 0.5)")
    design.add_argument(
        "--strata", type=arguments.names, metavar="A,B", help=f"any of {','.join(STRATA)} (default: detector,setting)"
    )
    design.add_argument("--overlap", choices=_words(Overlap), help="who labels what (default: all)")
    design.add_argument("--repeats", type=arguments.number(0, 0.5), help="share of hidden repeats (default: 0.05)")
    design.add_argument("--seed", type=arguments.seed, help="default: a random one, shown in the plan")
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
    create.add_argument("--title", default="", help="title shown on the pages")
    create.add_argument("--by", default="", metavar="WHO", help="name of the person who creates it")
    create.add_argument("--dry-run", action="store_true", help="show the plan and store nothing")
    create.add_argument("--json", action="store_true", help="print the plan's outline as JSON to stdout")


def _words(vocabulary: type[Outcome] | type[Kind] | type[Overlap]) -> list[str]:
    return [member.name.lower() for member in vocabulary]


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    actions = {"create": _create, "status": _status, "lock": _lock, "export": _export}
    return actions[chosen.action](chosen, folder)


def _create(chosen: argparse.Namespace, folder: DataFolder) -> int:
    store = prepare_or_read(folder, tell)
    try:
        plan, remarks = _repeated(store, chosen) if chosen.source else Repeated(_drawn(store, chosen), ())
        weight = clustering(store, plan)
    finally:
        store.close()
    told = outline(plan, weight)
    give(json.dumps(as_json(plan, told, weight), indent=1) if chosen.json else in_words(plan, told))
    for remark in remarks:
        tell(remark)
    if chosen.dry_run:
        how = "" if chosen.source else f" `--seed {plan.seed}` without --dry-run stores exactly this plan."
        tell(f"Nothing was stored.{how}")
        return 0
    keep_campaign(folder, plan)
    tell(f"Stored the campaign {plan.campaign!r}; {', '.join(plan.annotators)} can label now, on the Annotate page.")
    return 0


def _drawn(store: Store, chosen: argparse.Namespace) -> Plan:
    if not chosen.name or not chosen.annotators:
        raise CampaignError(
            "A new campaign needs a name and annotators.", remedy="`campaign create NAME --annotators a,b`."
        )
    wanted = Population(
        benchmark=chosen.benchmark or "junobench",
        experiment=chosen.experiment or "crane-llm-2025-10",
        detectors=chosen.detectors or (),
        settings=chosen.settings or (),
        libraries=chosen.libraries or (),
        root_causes=chosen.root_causes or (),
        outcome=Outcome[(chosen.outcome or "detected").upper()],
    )
    check_asked(store, wanted)
    stated = {name: getattr(chosen, name) for name in ("margin", "confidence", "p", "repeats")}
    design = Design(
        kind=Kind[(chosen.design or "sample").upper()],
        overlap=Overlap[(chosen.overlap or "all").upper()],
        strata=chosen.strata or BY_DEFAULT,
        texts=chosen.texts or Texts.ONE,
        **{name: value for name, value in stated.items() if value is not None},
    )
    return drawn_plan(
        store,
        Wish(
            campaign=chosen.name,
            annotators=chosen.annotators,
            population=wanted,
            design=design,
            seed=fresh_seed() if chosen.seed is None else chosen.seed,
            title=chosen.title,
            blind=chosen.blind is None,
            created_by=chosen.by,
        ),
    )


def _repeated(store: Store, chosen: argparse.Namespace) -> Repeated:
    if given := [name for name in COMES_FROM_EXPORT if getattr(chosen, name) is not None]:
        raise CampaignError(
            f"--from repeats a campaign exactly; {given[0].replace('_', '-')} comes from the export.",
            remedy="Omit it, or create a campaign without --from.",
        )
    return repeated_plan(store, exported_plan(chosen.source), campaign=chosen.name, title=chosen.title, by=chosen.by)


def _status(chosen: argparse.Namespace, folder: DataFolder) -> int:
    names = [chosen.name] if chosen.name else campaign_names(folder)
    found = [campaign_status(folder, name) for name in names]
    if chosen.json:
        give(json.dumps({"campaigns": [status_json(status) for status in found]}, indent=1))
    elif found:
        give("\n".join(status_words(status) for status in found))
    else:
        tell(f"There is no campaign in {folder.ledger} yet; create one with `campaign create`.")
    return 0


def _lock(chosen: argparse.Namespace, folder: DataFolder) -> int:
    status = campaign_status(folder, chosen.name)
    found = open_words(status) if status.lock is None else []
    for words in found:
        tell(words)
    if found and not chosen.anyway:
        raise CampaignError(
            f"{chosen.name!r} is not finished, so it was not locked.", remedy="Finish it, or pass --anyway."
        )
    lock = lock_campaign(folder, chosen.name, by=chosen.by)
    give(f"{chosen.name} is locked by {lock.locked_by} at {lock.locked_at}")
    return 0


def _export(chosen: argparse.Namespace, folder: DataFolder) -> int:
    files = export_files(folder, chosen.name)
    write_export(files, chosen.out, force=chosen.force)
    give(f"{chosen.name}: {', '.join(files)} in {chosen.out}")
    return 0

"""People at one app at once: is a label lost or doubled, how long do a save and a page change take, what is in memory?

    python -m benchmarks.people [--annotators N] [--viewers N] [--replicas N] [--seconds S] [--copies N]

Each has a session over the app's websocket, as a browser has, but draws nothing. An annotator thinks for one to four
seconds, labels what stands first in the queue and waits until that is acknowledged; what is not within two seconds is
sent again, as the desk in a browser does. Afterwards the ledger's files are compared with what was sent: exit 1 when a
label is lost, doubled or on another item. The limit: 50 ms for the 95th percentile of a save, from an act's arrival at
the desk to the return of fsync, as the app reports it.

A viewer comes within 20 seconds and reads for 40 seconds on average before each other page; the time runs until the
page's script is over and everything it sent has arrived. With replicas these serve the viewers, and the writer the
annotators. The limits: 2 s for the 95th percentile of a page change, 3 MB a session, which is what the serving
processes hold beyond what they held once every page had been read.

With copies of the study's cases the campaign has all their 501 diagnoses each, so 40 copies are 20,040 items.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import psutil

from benchmarks._data import CAMPAIGN, archive_or_exit, large, new_campaign
from benchmarks._server import serve_process
from benchmarks._session import Session, connected
from benchmarks._timing import Times, machine, options
from crane_core.annotation.journal import DIAGNOSIS_LABELS
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Design, DrawKind, Plan
from crane_core.domain import AnnotationAction
from crane_core.pipeline.campaigns.campaigns import acts_of
from crane_core.pipeline.campaigns.desk_names import desk_names
from crane_core.pipeline.places import DataFolder

DESK = "crane_desk"
"""The name of the component of the labelling desk."""
THINK_S = (1.0, 4.0)
READ_S = (20.0, 60.0)
ARRIVE_S = 20.0
RESEND_S = 2.0
PUBLISH_S = 10
SAVE_LIMIT_S, CHANGE_LIMIT_S, SESSION_LIMIT_MB = 0.05, 2.0, 3.0
SEED = 20261121
PAGES = (
    ("", ""),
    ("cases", ""),
    ("cases", "case=pandas_8"),
    ("results", ""),
    ("ablations", ""),
    ("campaigns", f"campaign={CAMPAIGN}"),
    ("agreement", ""),
    ("runs", ""),
    ("data", ""),
)
"""Page and query of what viewers read."""


class SessionAnnotator:
    """One person at one desk: what they sent, and how long it took to acknowledge and to save it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sent: dict[str, dict[str, Any]] = {}
        self.opening_s = 0.0
        self.round_trips: list[float] = []
        self.saves: list[float] = []

    async def work(self, address: str, until: float) -> None:
        """Label until the time is over or the queue is empty. Raises what the session raises."""
        chance = Random(f"{SEED}/{self.name}")
        start = time.perf_counter()
        session = await connected(address)
        snapshot = await session.open(
            "annotate", f"campaign={CAMPAIGN}&annotator={self.name}", DESK
        )
        self.opening_s = snapshot.at - start
        have = set(snapshot.data["cards"])
        while time.perf_counter() < until and snapshot.data["queue"]:
            seconds = chance.uniform(*THINK_S)
            await asyncio.sleep(seconds)
            event = f"{self.name}-{len(self.sent):06}"
            act = {
                "event": event,
                "action": "label",
                "id": snapshot.data["queue"][0],
                "submitted_at": datetime.now(UTC).isoformat(
                    timespec="milliseconds"
                ),
                "label": str(chance.choice(DIAGNOSIS_LABELS)),
                "seconds": seconds,
            }
            self.sent[event] = act
            began = time.perf_counter()
            snapshot = await self._acknowledged(session, act, have)
            self.round_trips.append(snapshot.at - began)
            self.saves.append(snapshot.data["save_ms"] / 1e3)
            have |= set(snapshot.data["cards"])
        await session.close()

    async def _acknowledged(
        self, session: Session, act: dict[str, Any], have: set[str]
    ) -> Any:
        """What the desk is told when it has the act, which is sent until then."""
        number = 0
        while True:
            number += 1
            sent = {
                "client": self.name,
                "n": len(self.sent) * 1000 + number,
                "events": [act],
                "have": sorted(have),
                "evidence": None,
            }
            await session.send({"sent": sent})
            try:
                async with asyncio.timeout(RESEND_S):
                    while True:
                        told = await session.told()
                        if refused := told.data["refused"]:
                            raise RuntimeError(f"{self.name}: {refused}")
                        if act["event"] in told.data["saved"]:
                            return told
            except TimeoutError:
                continue


class Reading:
    """What viewers waited for: seconds of first visits, and of all others by page."""

    def __init__(self) -> None:
        self.first: list[float] = []
        self.changes: dict[str, list[float]] = defaultdict(list)

    async def view(self, address: str, number: int, until: float) -> Session:
        """One viewer, whose session is still open."""
        chance = Random(f"{SEED}/{number}")
        await asyncio.sleep(chance.uniform(0, ARRIVE_S))
        viewer = await connected(address)
        self.first.append(await viewer.turn_to(*chance.choice(PAGES)))
        while (
            pause_s := chance.uniform(*READ_S)
        ) < until - time.perf_counter():
            await asyncio.sleep(pause_s)
            page, query = chance.choice(PAGES)
            name = f"{page or 'overview'}{'?' * bool(query)}{query}"
            self.changes[name].append(await viewer.turn_to(page, query))
        return viewer


class Load(NamedTuple):
    """People, bytes by process before and with all sessions, and seconds of a core that the processes took."""

    annotators: list[SessionAnnotator]
    reading: Reading
    before: list[int]
    after: list[int]
    cpu_s: float


async def every_page_once(address: str) -> None:
    """So that nobody waits for what is computed once, and it does not count as memory of sessions."""
    for _ in range(2):
        viewer = await connected(address)
        for page, query in PAGES:
            await viewer.turn_to(page, query)
        await viewer.close()


async def at_work(
    addresses: Sequence[str],
    servers: Sequence[psutil.Process],
    names: Sequence[str],
    n_viewers: int,
    seconds: float,
) -> Load:
    """The writer is the first of the addresses; the others, where there are some, serve the viewers."""
    for address in addresses:
        await every_page_once(address)
    before, cpu_s = held(servers), worked_s(servers)
    until = time.perf_counter() + seconds + ARRIVE_S * bool(n_viewers)
    annotators = [SessionAnnotator(name) for name in names]
    reading = Reading()
    readers = addresses[1:] or addresses
    async with asyncio.TaskGroup() as everybody:
        viewers = [
            everybody.create_task(
                reading.view(readers[number % len(readers)], number, until)
            )
            for number in range(n_viewers)
        ]
        for person in annotators:
            everybody.create_task(person.work(addresses[0], until))
    after = held(servers)
    for viewer in viewers:
        await viewer.result().close()
    return Load(annotators, reading, before, after, worked_s(servers) - cpu_s)


def held(servers: Sequence[psutil.Process]) -> list[int]:
    """Memory that each process alone holds."""
    return [server.memory_full_info().uss for server in servers]


def worked_s(servers: Sequence[psutil.Process]) -> float:
    """Seconds of a core that the processes took so far."""
    return sum(sum(server.cpu_times()[:2]) for server in servers)


def kept(
    folder: DataFolder, plan: Plan, person: SessionAnnotator
) -> Counter[str]:
    """Lost: sent and not on the disk. Double: on the disk more than once. Astray: another item or label."""
    found = [
        act
        for act in acts_of(folder, plan, person.name)
        if act.action is AnnotationAction.LABEL
    ]
    names = desk_names(folder, plan, person.name)
    said = {
        act.event: (names.of(Showing(act.item, act.showing)), str(act.label))
        for act in found
    }
    counts = Counter(
        "lost" if event not in said else "astray"
        for event, act in person.sent.items()
        if said.get(event) != (act["id"], act["label"])
    )
    double = len(found) - len(said)
    counts.update(sent=len(person.sent), on_disk=len(found), double=double)
    return counts


def show_labels(
    people: Sequence[SessionAnnotator], total: Counter[str]
) -> None:
    saves = Times([one for person in people for one in person.saves])
    trips = Times([one for person in people for one in person.round_trips])
    opening = Times([person.opening_s for person in people])
    print(
        f"{len(people)} annotators, labels sent {total['sent']:,}, on "
        f"the disk "
        f"{total['on_disk']:,}: "
        f"{total['lost']} lost, {total['double']} double, {total['astray']} on "
        f"another item\n"
        f"  save, as the app reports it: {saves.in_ms()}\n"
        f"  label sent to acknowledgment: {trips.in_ms()}\n"
        f"  page asked for to desk: {opening.in_ms()}\n"
        f"  ratio {saves.p95 / SAVE_LIMIT_S:.2f} of "
        f"{SAVE_LIMIT_S * 1e3:.0f} "
        f"ms for a save (95th percentile)"
    )


def show_reading(load: Load) -> None:
    reading = load.reading
    every = Times([one for each in reading.changes.values() for one in each])
    n_viewers = len(reading.first)
    print(
        f"{n_viewers} viewers, page change {every.in_ms()}; first visit "
        f"{Times(reading.first).in_ms()}"
    )
    for page, seconds in sorted(reading.changes.items()):
        print(f"  {page:24} {Times(seconds).in_ms()}")
    cpu_ms = load.cpu_s / (len(every.seconds) + n_viewers) * 1e3
    grown = sum(load.after) - sum(load.before)
    each_mb = grown / 1e6 / n_viewers
    print(
        f"  a page change takes {cpu_ms:.0f} ms of a core, the "
        f"annotators' "
        f"work included; {each_mb:.2f} MB a session\n"
        f"  ratio {every.p95 / CHANGE_LIMIT_S:.2f} of "
        f"{CHANGE_LIMIT_S:.0f} s "
        f"for a page change (95th percentile), "
        f"{each_mb / SESSION_LIMIT_MB:.2f} of {SESSION_LIMIT_MB:.0f} MB"
    )


def main() -> None:
    given = options(
        __doc__, annotators=50, viewers=0, replicas=0, seconds=120.0, copies=1
    )
    archive_or_exit()
    names = tuple(
        f"ann{number:02}" for number in range(1, given.annotators + 1)
    )
    design = Design(kind=DrawKind.ALL) if given.copies > 1 else Design()
    with tempfile.TemporaryDirectory() as scratch:
        folder = large(Path(scratch) / "data", given.copies)
        plan = new_campaign(folder, names, design=design)
        with ExitStack() as running:
            publish = ("--publish", str(PUBLISH_S)) if given.replicas else ()
            served = [
                running.enter_context(
                    serve_process(folder.path, arguments=publish)
                )
            ]
            replica_of = ("--replica-of", served[0][0])
            for _ in range(given.replicas):
                replica = serve_process(folder.path, arguments=replica_of)
                served.append(running.enter_context(replica))
            load = asyncio.run(
                at_work(
                    [address for address, _ in served],
                    [psutil.Process(pid) for _, pid in served],
                    names,
                    given.viewers,
                    given.seconds,
                )
            )
        total: Counter[str] = Counter()
        for person in load.annotators:
            total.update(kept(folder, plan, person))
    show_labels(load.annotators, total)
    if given.viewers:
        show_reading(load)
    memory = ", ".join(
        f"{before / 1e6:,.0f} to {after / 1e6:,.0f} MB"
        for before, after in zip(load.before, load.after, strict=True)
    )
    print(f"memory by process: {memory}; {machine()}")
    if total["lost"] or total["double"] or total["astray"]:
        sys.exit(1)


if __name__ == "__main__":
    main()

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
from typing import Any

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
SAVE = "save, as the app reports it"
CHANGE = "page change"
LIMITS_S = {SAVE: 0.05, CHANGE: 2.0}
SESSION_LIMIT_MB = 3.0
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


class People:
    """What all of them waited for, and what each annotator sent: acts by event."""

    def __init__(self) -> None:
        self.waited: dict[str, list[float]] = defaultdict(list)
        self.sent: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)

    async def label(self, address: str, name: str, until: float) -> None:
        """Label until the time is over or the queue is empty. Raises what the session raises."""
        chance = Random(f"{SEED}/{name}")
        start = time.perf_counter()
        session = await connected(address)
        query = f"campaign={CAMPAIGN}&annotator={name}"
        told = await session.open("annotate", query, DESK)
        self._waited("page asked for to desk", start)
        have = set(told["cards"])
        while time.perf_counter() < until and told["queue"]:
            seconds = chance.uniform(*THINK_S)
            await asyncio.sleep(seconds)
            event = f"{name}-{len(self.sent[name]):06}"
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            act = {
                "event": event,
                "action": "label",
                "id": told["queue"][0],
                "submitted_at": now,
                "label": str(chance.choice(DIAGNOSIS_LABELS)),
                "seconds": seconds,
            }
            self.sent[name][event] = act
            start = time.perf_counter()
            told = await self._acknowledged(session, name, act, have)
            self._waited("label sent to acknowledgment", start)
            self.waited[SAVE].append(told["save_ms"] / 1e3)
            have |= set(told["cards"])
        await session.close()

    async def _acknowledged(
        self, session: Session, name: str, act: dict[str, Any], have: set[str]
    ) -> dict[str, Any]:
        """What the desk is told when it has the act, which is sent until then."""
        number = len(self.sent[name]) * 1000
        while True:
            number += 1
            sent = {
                "client": name,
                "n": number,
                "events": [act],
                "have": sorted(have),
                "evidence": None,
            }
            await session.send({"sent": sent})
            try:
                async with asyncio.timeout(RESEND_S):
                    while True:
                        told = await session.told()
                        if refused := told["refused"]:
                            raise RuntimeError(f"{name}: {refused}")
                        if act["event"] in told["saved"]:
                            return told
            except TimeoutError:
                continue

    async def view(self, address: str, number: int, until: float) -> Session:
        """One viewer, whose session is still open."""
        chance = Random(f"{SEED}/{number}")
        await asyncio.sleep(chance.uniform(0, ARRIVE_S))
        viewer = await connected(address)
        took_s = await viewer.turn_to(*chance.choice(PAGES))
        self.waited["first visit"].append(took_s)
        while (
            pause_s := chance.uniform(*READ_S)
        ) < until - time.perf_counter():
            await asyncio.sleep(pause_s)
            took_s = await viewer.turn_to(*chance.choice(PAGES))
            self.waited[CHANGE].append(took_s)
        return viewer

    def _waited(self, name: str, start: float) -> None:
        self.waited[name].append(time.perf_counter() - start)


async def every_page_once(address: str) -> None:
    """So that nobody waits for what is computed once, and it does not count as memory of sessions."""
    for _ in range(2):
        viewer = await connected(address)
        for page, query in PAGES:
            await viewer.turn_to(page, query)
        await viewer.close()


async def at_work(
    people: People,
    addresses: Sequence[str],
    servers: Sequence[psutil.Process],
    names: Sequence[str],
    n_viewers: int,
    seconds: float,
) -> None:
    """The writer is the first of the addresses; the others, where there are some, serve the viewers."""
    for address in addresses:
        await every_page_once(address)
    before, cpu_s = held_mb(servers), worked_s(servers)
    until = time.perf_counter() + seconds + ARRIVE_S * bool(n_viewers)
    readers = addresses[1:] or addresses
    async with asyncio.TaskGroup() as everybody:
        viewers = [
            everybody.create_task(
                people.view(readers[number % len(readers)], number, until)
            )
            for number in range(n_viewers)
        ]
        for name in names:
            everybody.create_task(people.label(addresses[0], name, until))
    after, cpu_s = held_mb(servers), worked_s(servers) - cpu_s
    for viewer in viewers:
        await viewer.result().close()
    print(f"MB by process, before: {before}; with all sessions: {after}")
    if n_viewers:
        each_mb = (sum(after) - sum(before)) / n_viewers
        cpu_ms = cpu_s / (len(people.waited[CHANGE]) + n_viewers) * 1e3
        print(
            f"a page change takes {cpu_ms:.0f} ms of a core, the annotators' "
            f"work included; {each_mb:.2f} MB a session, ratio "
            f"{each_mb / SESSION_LIMIT_MB:.2f} of {SESSION_LIMIT_MB:.0f} MB"
        )


def held_mb(servers: Sequence[psutil.Process]) -> list[float]:
    """Memory that each process alone holds."""
    return [round(one.memory_full_info().uss / 1e6, 1) for one in servers]


def worked_s(servers: Sequence[psutil.Process]) -> float:
    """Seconds of a core that the processes took so far."""
    return sum(sum(server.cpu_times()[:2]) for server in servers)


def kept(folder: DataFolder, plan: Plan, people: People) -> bool:
    """Whether exactly what was sent is on the disk: no label is lost, double or on another item."""
    sent: Counter[tuple[str, str, str]] = Counter()
    on_disk = sent.copy()
    for name, acts in people.sent.items():
        sent.update(
            (event, act["id"], act["label"]) for event, act in acts.items()
        )
        shown = desk_names(folder, plan, name)
        on_disk.update(
            (
                act.event,
                shown.of(Showing(act.item, act.showing)),
                str(act.label),
            )
            for act in acts_of(folder, plan, name)
            if act.action is AnnotationAction.LABEL
        )
    print(
        f"{len(people.sent)} annotators, labels sent {sent.total():,}, on the "
        f"disk {on_disk.total():,}: {(sent - on_disk).total()} not as sent, "
        f"{(on_disk - sent).total()} that were not sent so"
    )
    return sent == on_disk


def main() -> int:
    given = options(
        __doc__, annotators=50, viewers=0, replicas=0, seconds=120.0, copies=1
    )
    archive_or_exit()
    names = tuple(f"ann{number + 1:02}" for number in range(given.annotators))
    design = Design(kind=DrawKind.ALL) if given.copies > 1 else Design()
    people = People()
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as running:
        folder = large(Path(scratch) / "data", given.copies)
        plan = new_campaign(folder, names, design=design)
        publish = ("--publish", str(PUBLISH_S)) if given.replicas else ()
        served: list[tuple[str, int]] = []
        for number in range(1 + given.replicas):
            kind = ("--replica-of", served[0][0]) if number else publish
            one = serve_process(folder.path, arguments=kind)
            served.append(running.enter_context(one))
        servers = [psutil.Process(pid) for _, pid in served]
        addresses = [address for address, _ in served]
        asyncio.run(
            at_work(
                people,
                addresses,
                servers,
                names,
                given.viewers,
                given.seconds,
            )
        )
        is_kept = kept(folder, plan, people)
    for name, seconds in people.waited.items():
        times = Times(seconds)
        print(f"  {name}: {times.in_ms()}")
        if limit_s := LIMITS_S.get(name):
            ratio = times.p95 / limit_s
            print(f"    95th percentile: {ratio:.2f} of {limit_s:g} s")
    print(machine())
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())

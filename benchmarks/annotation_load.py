"""Fifty people label for two minutes at one running app: is a label lost or doubled, and how long does a save take?

    python -m benchmarks.annotation_load [--annotators N] [--seconds S] [--copies N]

Each has their own session over the app's websocket and behaves as the labelling desk in a browser does: thinks for
one to four seconds, labels what stands first in the queue, sends everything that was not acknowledged yet, and sends it
again after two seconds without an answer. Some labels get a reason, some are taken back. Afterwards the ledger's files
are compared with what was sent. The limit: 50 ms for the 95th percentile of a save, from an act's arrival at the desk
to the return of fsync, as the app reports it. Exit 1 when a label is lost, doubled or on another item.

With copies of the study's cases the campaign has all their 501 diagnoses each, so 40 copies are 20,040 items. The page
of its lead is opened before and after.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks._data import CAMPAIGN, archive_or_exit, large, new_campaign
from benchmarks._server import resident_bytes, serve_process
from benchmarks._session import Session, Snapshot, connected
from benchmarks._timing import Times, machine, options
from crane_core.annotation.journal import DIAGNOSIS_LABELS
from crane_core.annotation.order import Showing
from crane_core.annotation.outcome import REASONS
from crane_core.annotation.plan import Design, DrawKind, Plan
from crane_core.domain import AnnotationAction, Label
from crane_core.pipeline.campaigns.campaigns import acts_of, journal_of
from crane_core.pipeline.campaigns.desk_names import desk_names
from crane_core.pipeline.places import DataFolder

DESK = "crane_desk"
"""The name of the component of the labelling desk."""
THINK_S = (1.0, 4.0)
NEXT_KEY_S = (0.3, 0.9)
SHARE_OF_REASONS = 0.5
SHARE_OF_UNDOS = 0.04
LIMIT_S = 0.05
LEAD_VISITS = 3
LOOK_S = 0.5
RESEND_S = 2.0
DRAIN_S = 30.0
SEED = 20261121


class SessionAnnotator:
    """One person at one desk: what they sent, what was acknowledged, and how long that took."""

    def __init__(self, name: str, session: Session, first: Snapshot) -> None:
        self.name = name
        self.sent: dict[str, dict[str, Any]] = {}
        self.round_trips: list[float] = []
        self.saves: list[float] = []
        self._session = session
        self._snapshot = first.data
        self._have = set(first.data["cards"])
        self._outbox: dict[str, float] = {}
        self._sent_at = 0.0
        self._n_messages = 0
        self._chance = Random(f"{SEED}/{name}")

    async def work(self, until: float) -> None:
        """Label until the time is over and everything is acknowledged. Raises what the session raises."""
        async with asyncio.TaskGroup() as both:
            listening = both.create_task(self._listen())
            while time.perf_counter() < until:
                await self._pause(*THINK_S)
                await self._decide()
            await self._drain()
            listening.cancel()

    async def close(self) -> None:
        await self._session.close()

    async def _listen(self) -> None:
        while True:
            told = await self._session.told()
            self._snapshot = told.data
            self._have |= set(told.data["cards"])
            settled = [
                event for event in told.data["saved"] if event in self._outbox
            ]
            if refused := told.data["refused"]:
                raise RuntimeError(f"{self.name} was refused: {refused}")
            if settled:
                self.saves.append(told.data["save_ms"] / 1e3)
            self.round_trips += [
                told.at - self._outbox.pop(event) for event in settled
            ]

    async def _decide(self) -> None:
        """A label, perhaps with its reason; or the last one is taken back."""
        if (
            not self._outbox
            and self._snapshot["undo"]
            and self._chance.random() < SHARE_OF_UNDOS
        ):
            await self._act("undo", self._snapshot["undo"][0])
            return
        pending = {self.sent[event]["id"] for event in self._outbox}
        here = next(
            (item for item in self._snapshot["queue"] if item not in pending),
            None,
        )
        if here is None:
            return
        label = self._chance.choice(DIAGNOSIS_LABELS)
        await self._act(
            "label",
            here,
            label=str(label),
            seconds=self._chance.uniform(*THINK_S),
        )
        if label != Label.CORRECT and self._chance.random() < SHARE_OF_REASONS:
            await self._pause(*NEXT_KEY_S)
            await self._act(
                "reason", here, reason=self._chance.choice(list(REASONS))
            )

    async def _act(self, action: str, item: str, **more: object) -> None:
        event = f"{self.name}-{len(self.sent):06}"
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.sent[event] = {
            "event": event,
            "action": action,
            "id": item,
            "submitted_at": now,
        } | more
        self._outbox[event] = time.perf_counter()
        await self._send()

    async def _send(self) -> None:
        self._sent_at = time.perf_counter()
        self._n_messages += 1
        events = [self.sent[event] for event in self._outbox]
        state = {
            "client": self.name,
            "n": self._n_messages,
            "events": events,
            "have": sorted(self._have),
        }
        await self._session.send({"sent": state | {"evidence": None}})

    async def _pause(self, shortest_s: float, longest_s: float) -> None:
        """A while in which nobody presses a key; what is not acknowledged is sent again, as the browser does."""
        end = time.perf_counter() + self._chance.uniform(shortest_s, longest_s)
        while (left := end - time.perf_counter()) > 0:
            await asyncio.sleep(min(left, LOOK_S))
            if self._outbox and time.perf_counter() - self._sent_at > RESEND_S:
                await self._send()

    async def _drain(self) -> None:
        deadline = time.perf_counter() + DRAIN_S
        while self._outbox and time.perf_counter() < deadline:
            await self._pause(LOOK_S, LOOK_S)


class Load(NamedTuple):
    """What was found: the people, seconds to open each desk and the page of the lead, the app's memory in bytes."""

    people: list[SessionAnnotator]
    seconds: float
    opening: Times
    lead: list[float]
    memory: tuple[int, int, int]


class KeptActs(NamedTuple):
    """Sent labels against the ledger's files."""

    sent: int
    on_disk: int
    lost: int
    double: int
    astray: int


async def labelling(
    address: str, app: int, names: Iterable[str], seconds: float
) -> Load:
    """`app` is the pid of the app."""
    before = resident_bytes(app)
    lead = await lead_page(address)
    people, opening = [], []
    for name in names:
        start = time.perf_counter()
        session = await connected(address)
        first = await session.open(
            "annotate", f"campaign={CAMPAIGN}&annotator={name}", DESK
        )
        opening.append(first.at - start)
        people.append(SessionAnnotator(name, session, first))
    with_all = resident_bytes(app)
    until = time.perf_counter() + seconds
    await asyncio.gather(*(person.work(until) for person in people))
    after = resident_bytes(app)
    await asyncio.gather(*(person.close() for person in people))
    lead += await lead_page(address)
    return Load(
        people, seconds, Times(opening), lead, (before, with_all, after)
    )


async def lead_page(address: str) -> list[float]:
    """Seconds to open the campaign's page, and to come back to it from another."""
    session = await connected(address)
    found = []
    for _ in range(LEAD_VISITS):
        found.append(await session.turn_to("campaigns", f"campaign={CAMPAIGN}"))
        await session.turn_to("runs", "")
    await session.close()
    return found


def kept(folder: DataFolder, plan: Plan, person: SessionAnnotator) -> KeptActs:
    """Lost: sent and not on the disk. Double: on the disk or counted more than once. Astray: another item or label."""
    labels = {
        event: act
        for event, act in person.sent.items()
        if act["action"] == "label"
    }
    found = [
        act
        for act in acts_of(folder, plan, person.name)
        if act.action is AnnotationAction.LABEL
    ]
    copies = Counter(act.event for act in found)
    names = desk_names(folder, plan, person.name)
    said = {
        act.event: (names.of(Showing(act.item, act.showing)), str(act.label))
        for act in found
    }
    astray = sum(
        said[event] != (act["id"], act["label"])
        for event, act in labels.items()
        if event in said
    )
    in_force: dict[str, str] = {}
    for act in person.sent.values():
        in_force |= (
            {act["id"]: act["label"]} if act["action"] == "label" else {}
        )
        if act["action"] == "undo":
            in_force.pop(act["id"], None)
    counted = journal_of(folder, plan, person.name).n_done - len(in_force)
    double = sum(copies.values()) - len(copies) + max(0, counted)
    return KeptActs(
        len(labels),
        len(found),
        sum(event not in copies for event in labels),
        double,
        astray,
    )


def main() -> None:
    given = options(__doc__, annotators=50, seconds=120.0, copies=1)
    archive_or_exit()
    names = tuple(
        f"ann{number:02}" for number in range(1, given.annotators + 1)
    )
    design = Design(kind=DrawKind.ALL) if given.copies > 1 else Design()
    with tempfile.TemporaryDirectory() as scratch:
        folder = large(Path(scratch) / "data", given.copies)
        plan = new_campaign(folder, names, design=design)
        with serve_process(folder.path) as (address, pid):
            load = asyncio.run(labelling(address, pid, names, given.seconds))
        each = [kept(folder, plan, person) for person in load.people]
    total = KeptActs(*map(sum, zip(*each, strict=True)))
    show(load, total)
    if total.lost or total.double or total.astray:
        sys.exit(1)


def show(load: Load, total: KeptActs) -> None:
    saves = Times(
        [seconds for person in load.people for seconds in person.saves]
    )
    trips = Times(
        [seconds for person in load.people for seconds in person.round_trips]
    )
    n_acts = sum(len(person.sent) for person in load.people)
    median_ms, p95_ms, most_ms = (
        each * 1e3 for each in (saves.median, saves.p95, max(saves.seconds))
    )
    before, with_all, after = (n_bytes / 1e6 for n_bytes in load.memory)
    print(
        f"{len(load.people)} annotators, {load.seconds:.0f} s, {n_acts:,} acts "
        f"({n_acts / load.seconds:.0f} per second)\n"
        f"labels sent {total.sent:,}, on the disk {total.on_disk:,}: "
        f"{total.lost} lost, {total.double} double, {total.astray} on another item\n"
        f"save, as the app reports it: median {median_ms:.1f} ms, p95 {p95_ms:.1f} ms, "
        f"longest {most_ms:.1f} ms, n {len(saves.seconds):,}\n"
        f"act sent to acknowledgment:  {trips.in_ms()}\n"
        f"page asked for to desk:      {load.opening.in_ms()}\n"
        f"page of the lead, first visits before and after: {', '.join(f'{s:.2f} s' for s in load.lead)}\n"
        f"memory of the app: {before:,.0f} MB, with all sessions {with_all:,.0f} MB, at the end {after:,.0f} MB\n"
        f"ratio {saves.p95 / LIMIT_S:.2f} of the limit of {LIMIT_S * 1e3:.0f} ms (95th percentile); {machine()}"
    )


if __name__ == "__main__":
    main()

"""Two hundred people read for two minutes: how long does a page change take, and what does a session cost in memory?

    python -m benchmarks.viewers [--viewers N] [--replicas N ...] [--seconds S] [--think S]

Each has a session over the app's websocket, as a browser has, but draws nothing. They read for 40 seconds on average
(from half of it to one and a half times), then ask for another page; the time runs until the page's script is over and
everything it sent has arrived. Meanwhile one annotator labels an item each second. First one process serves all, then a
writer and replicas, on this one machine. A session's memory is what the serving processes hold beyond what they held
once every page had been read, over the number of sessions that are open. Limits: 2 s for the 95th percentile, 3 MB a
session.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import NamedTuple

import psutil

from benchmarks._data import CAMPAIGN, archive_or_exit, imported, new_campaign
from benchmarks._server import serve
from benchmarks._session import connected
from benchmarks._timing import Times, command, machine
from crane_core.annotation.plan import Plan
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.places import DataFolder

ARRIVE_S = 20.0
"""All sessions open within this time."""
LABEL_EVERY_S = 1.0
PUBLISH_S = 10
P95_LIMIT_S, SESSION_LIMIT_MB = 2.0, 3.0
SEED = 20261123
ANNOTATOR = "ana"
PAGES = (
    ("", ""),
    ("cases", ""),
    ("cases", "case=pandas_8"),
    ("cases", "case=numpy_1"),
    ("results", ""),
    ("ablations", ""),
    ("agreement", ""),
    ("runs", ""),
    ("data", ""),
)
"""Page and query of what viewers read."""


class ReadingTimes(NamedTuple):
    """Seconds by page of all changes after the first visits, and bytes by process before and with all sessions.

    `cpu_s`: what the serving processes worked meanwhile, in seconds of a core.
    """

    first: Times
    changes: dict[str, list[float]]
    before: list[int]
    after: list[int]
    cpu_s: float


async def reading(
    addresses: Sequence[str],
    servers: Sequence[psutil.Process],
    n_viewers: int,
    seconds: float,
    think_s: float,
) -> ReadingTimes:
    for address in addresses:
        await every_page_once(address)
    before, cpu_s = held(servers), worked_s(servers)
    until = time.perf_counter() + ARRIVE_S + seconds
    first: list[float] = []
    changes: dict[str, list[float]] = defaultdict(list)
    everybody_is_there = asyncio.Barrier(n_viewers + 1)
    may_leave = asyncio.Event()

    async def one(number: int) -> None:
        chance = Random(f"{SEED}/{number}")
        await asyncio.sleep(chance.uniform(0, ARRIVE_S))
        viewer = await connected(addresses[number % len(addresses)])
        first.append(await viewer.turn_to(*chance.choice(PAGES)))
        while (
            pause_s := chance.uniform(think_s / 2, think_s * 1.5)
        ) < until - time.perf_counter():
            await asyncio.sleep(pause_s)
            page, query = chance.choice(PAGES)
            changes[f"{page or 'overview'}{'?case' * bool(query)}"].append(
                await viewer.turn_to(page, query)
            )
        await everybody_is_there.wait()
        await may_leave.wait()
        await viewer.close()

    async with asyncio.TaskGroup() as all_of_them:
        for number in range(n_viewers):
            all_of_them.create_task(one(number))
        await everybody_is_there.wait()
        after = held(servers)
        may_leave.set()
    return ReadingTimes(
        Times(first), dict(changes), before, after, worked_s(servers) - cpu_s
    )


async def every_page_once(address: str) -> None:
    """So that nobody waits for what is computed once, and it does not count as memory of sessions."""
    for _ in range(2):
        viewer = await connected(address)
        for page, query in PAGES:
            await viewer.turn_to(page, query)
        await viewer.close()


def held(servers: Sequence[psutil.Process]) -> list[int]:
    """Memory that each process alone holds."""
    return [server.memory_full_info().uss for server in servers]


def worked_s(servers: Sequence[psutil.Process]) -> float:
    """Seconds of a core that the processes took so far."""
    return sum(sum(server.cpu_times()[:2]) for server in servers)


@contextmanager
def labelling(folder: DataFolder, plan: Plan) -> Iterator[None]:
    """An annotator who labels one item after the other until the body ends."""
    over = Event()
    desk = LabelStore(folder, CAMPAIGN)

    def work() -> None:
        for number, item in enumerate(plan.items * 10):
            act = {
                "event": f"{ANNOTATOR}-{number}",
                "action": "label",
                "item": item.item,
                "showing": 1,
            }
            desk.take(
                ANNOTATOR,
                [act | {"label": "correct", "seconds": LABEL_EVERY_S}],
            )
            if over.wait(LABEL_EVERY_S):
                return

    thread = Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def measured(
    scratch: Path,
    n_replicas: int,
    n_viewers: int,
    seconds: float,
    think_s: float,
) -> ReadingTimes:
    folder = imported(scratch / f"data{n_replicas}")
    plan = new_campaign(folder, (ANNOTATOR,))
    me = psutil.Process()
    with ExitStack() as running:
        publish = ("--publish", str(PUBLISH_S)) if n_replicas else ()
        addresses = [
            running.enter_context(serve(folder.path, arguments=publish))
        ]
        for _ in range(n_replicas):
            replica_of = ("--replica-of", addresses[0])
            addresses.append(
                running.enter_context(serve(folder.path, arguments=replica_of))
            )
        servers = sorted(me.children(), key=lambda child: child.create_time())
        readers = slice(1 if n_replicas else 0, None)
        running.enter_context(labelling(folder, plan))
        return asyncio.run(
            reading(
                addresses[readers],
                servers[readers],
                n_viewers,
                seconds,
                think_s,
            )
        )


def show(title: str, read: ReadingTimes, n_viewers: int) -> bool:
    """Print the figures; whether they are within the limits."""
    every = Times(
        [seconds for page in read.changes.values() for seconds in page]
    )
    grown = [
        after - before
        for before, after in zip(read.before, read.after, strict=True)
    ]
    each = sum(grown) / 1e6 / n_viewers
    print(
        f"{title}: {n_viewers} sessions, page change {every.in_ms()}; first visit {read.first.in_ms()}"
    )
    for page, seconds in sorted(read.changes.items()):
        print(
            f"  {page:16} {Times(seconds).in_ms()}"
            if len(seconds) > 1
            else f"  {page}: one change"
        )
    n_changes = len(every.seconds) + n_viewers
    cpu_ms = read.cpu_s / n_changes * 1e3
    held_mb = ", ".join(
        f"{b / 1e6:,.0f} to {a / 1e6:,.0f} MB"
        for b, a in zip(read.before, read.after, strict=True)
    )
    of_s, of_mb = every.p95 / P95_LIMIT_S, each / SESSION_LIMIT_MB
    print(
        f"  a page change takes {cpu_ms:.0f} ms of a core; {n_changes:,} with the first visits\n"
        f"  memory by process: {held_mb}; {each:.2f} MB a session\n"
        f"  ratio {of_s:.2f} of {P95_LIMIT_S:.0f} s, {of_mb:.2f} of {SESSION_LIMIT_MB:.0f} MB; {machine()}",
        flush=True,
    )
    return every.p95 <= P95_LIMIT_S and each <= SESSION_LIMIT_MB


def main() -> None:
    options = command(__doc__)
    options.add_argument("--viewers", type=int, default=200)
    options.add_argument("--replicas", type=int, nargs="*", default=[0, 2])
    options.add_argument("--seconds", type=float, default=120.0)
    options.add_argument("--think", type=float, default=40.0)
    chosen = options.parse_args()
    archive_or_exit()
    is_within = True
    with tempfile.TemporaryDirectory() as scratch:
        for n_replicas in chosen.replicas:
            title = f"{n_replicas} replicas" if n_replicas else "one process"
            read = measured(
                Path(scratch),
                n_replicas,
                chosen.viewers,
                chosen.seconds,
                chosen.think,
            )
            is_within &= show(title, read, chosen.viewers)
    sys.exit(0 if is_within else 1)


if __name__ == "__main__":
    main()

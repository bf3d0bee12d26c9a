"""Ten annotators label in Chromium while the app is killed and the network is cut: is a label lost or doubled?

    python -m benchmarks.annotators_drill [--annotators N] [--minutes M] [--kill-every-s S]

Everybody is logged in as themselves and labels a separate order of the study's 222 items with the keys, about one label
every three seconds. Meanwhile the app is killed with SIGKILL every minute and started again, and everybody's network is
cut twice. At the end the server runs, every browser has sent what waited, and the ledger is compared with the keys that
were pressed. Exit 1 when a label is lost, doubled or another one.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import NamedTuple
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Page, TimeoutError, sync_playwright

from benchmarks._data import archive_or_exit, imported
from benchmarks._browser import ARGUMENTS, WIDE, executable
from benchmarks._campaign import CAMPAIGN, new_campaign
from benchmarks._server import free_port, serve
from benchmarks._timing import machine
from crane_core.annotation.plan import Plan
from crane_core.domain import AnnotationAction
from crane_core.identity.key import signing_key
from crane_core.identity.passes import Purpose, new_pass, signed
from crane_core.pipeline.campaigns.campaigns import acts_of, journal_of
from crane_core.pipeline.campaigns.desk_names import desk_names
from crane_core.pipeline.places import DataFolder
from crane_core.ui.visit import COOKIE

PAUSE_S = 2.6
"""Between two labels of one person: 222 items and their repeats take ten minutes."""
CUTS_EACH = 2
CUT_S = 12.0
DRAIN_S = 180.0
KEYS_EACH = 30
SEED = 20261122
LABELS = {"1": "correct", "2": "partial", "3": "wrong"}
SIGHT = """(() => {
    const desk = document.querySelector('.cw-desk[data-item]');
    return desk ? [desk.querySelector('.cw-card') ? desk.dataset.item : '', Number(desk.dataset.done)] : ['', -1];
})()"""
"""The item in sight, and how many labels the desk counts, those that wait among them; in one look."""
SAVED = "document.querySelector('.cw-desk-saved')?.textContent === 'saved'"


class Annotator:
    """One person at a desk in a separate browser profile: what was pressed, and when their network is cut."""

    def __init__(
        self, name: str, context: BrowserContext, address: str, seconds: float
    ) -> None:
        self.name = name
        self.given: dict[str, str] = {}
        self.cuts = 0
        self.again = 0
        self._context = context
        self._page: Page = context.new_page()
        self._page.goto(f"{address}/annotate?campaign={CAMPAIGN}&annotator={name}")
        self._page.wait_for_selector(".cw-desk .cw-card", timeout=120_000)
        self._chance = Random(f"{SEED}/{name}")
        starts = [
            (place + self._chance.uniform(0.1, 0.7)) * seconds / CUTS_EACH
            for place in range(CUTS_EACH)
        ]
        self._cuts = [(start, start + CUT_S) for start in starts]
        self._next_s = self._chance.uniform(0, PAUSE_S)
        self._is_cut = False

    def live(self, now_s: float) -> None:
        """Cut or restore the network and press a key, where it is time."""
        is_cut = any(start <= now_s < end for start, end in self._cuts)
        if is_cut is not self._is_cut:
            self._context.set_offline(is_cut)
            self._is_cut = is_cut
            self.cuts += is_cut
        if now_s >= self._next_s:
            self._next_s = now_s + self._chance.uniform(0.7, 1.3) * PAUSE_S
            self._label()

    def _label(self) -> None:
        """Label the item in sight. A key that comes while the page draws the desk again is pressed once more."""
        here, n_done = self._page.evaluate(SIGHT)
        if not here or here in self.given:
            return
        key, n_pressed = self._chance.choice(list(LABELS)), 0
        for _ in range(KEYS_EACH):
            if self._page.evaluate(SIGHT) == [here, n_done]:
                n_pressed += 1
                self._page.keyboard.press(key)
            with suppress(TimeoutError):
                self._page.wait_for_function(
                    f"before => ({SIGHT})[1] > before", arg=n_done, timeout=2_000
                )
                break
        else:
            raise RuntimeError(
                f"{self.name}: the desk does not take the key for {here}"
            )
        if not n_pressed:
            return  # the page drew the desk again between the look and the key
        self.given[here] = LABELS[key]
        self.again += n_pressed - 1

    def wait(self) -> None:
        """Let all browsers work for a moment."""
        self._page.wait_for_timeout(50)

    def drain(self) -> None:
        """Back on the network, wait until everything is acknowledged."""
        self._context.set_offline(False)
        self._page.wait_for_function(SAVED, timeout=DRAIN_S * 1e3)


class Kept(NamedTuple):
    """Labels that were pressed against the ledger."""

    pressed: int
    lost: int
    double: int
    other: int


class Kills:
    """How often the app was killed so far; it begins when everybody sits at a desk."""

    def __init__(self) -> None:
        self.n = 0
        self.everybody_sits = threading.Event()


@contextmanager
def killed_every(
    folder: DataFolder, port: int, every_s: float, roles: Path
) -> Iterator[Kills]:
    """The app at `port`, killed and started again until the body ends."""
    kills = Kills()
    over, up = threading.Event(), threading.Event()

    def run() -> None:
        while not over.is_set():
            with serve(
                folder.path, port=port, end_with=signal.SIGKILL, CRANE_ROLES=str(roles)
            ):
                up.set()
                kills.everybody_sits.wait()
                over.wait(every_s)
            kills.n += not over.is_set()

    server = threading.Thread(target=run)
    server.start()
    try:
        if not up.wait(300):
            raise RuntimeError("the app did not come up")
        yield kills
    finally:
        over.set()
        kills.everybody_sits.set()
        server.join()


def kept(folder: DataFolder, plan: Plan, person: Annotator) -> Kept:
    """What the ledger has of what this person pressed."""
    names, given = (
        desk_names(folder, plan, person.name),
        journal_of(folder, plan, person.name).given,
    )
    said = {names.of(showing): str(entry.label) for showing, entry in given.items()}
    acts = [
        act
        for act in acts_of(folder, plan, person.name)
        if act.action is AnnotationAction.LABEL
    ]
    copies = Counter((act.item, act.showing) for act in acts)
    return Kept(
        len(person.given),
        len(person.given.keys() - said),
        sum(n - 1 for n in copies.values()),
        sum(said.get(item, label) != label for item, label in person.given.items())
        + len(said.keys() - person.given.keys()),
    )


def labelled(
    address: str, names: Sequence[str], folder: DataFolder, seconds: float, kills: Kills
) -> list[Annotator]:
    """The people after their work, everything acknowledged."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable(), args=ARGUMENTS
        )
        try:
            people = []
            for name in names:
                context = browser.new_context(viewport=WIDE)
                session = signed(
                    new_pass(f"{name}@lab.example", seconds=3600),
                    Purpose.SESSION,
                    signing_key(folder.path),
                )
                context.add_cookies(
                    [
                        {
                            "name": COOKIE,
                            "value": session,
                            "domain": str(urlsplit(address).hostname),
                            "path": "/",
                        }
                    ]
                )
                people.append(Annotator(name, context, address, seconds))
            kills.everybody_sits.set()
            start = time.monotonic()
            while (now_s := time.monotonic() - start) < seconds:
                for person in people:
                    person.live(now_s)
                people[0].wait()
            for person in people:
                person.drain()
            return people
        finally:
            browser.close()


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.annotators_drill")
    parser.add_argument("--annotators", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--kill-every-s", type=float, default=60.0)
    chosen = parser.parse_args(arguments)
    archive_or_exit()
    names = tuple(f"ann{number:02}" for number in range(1, chosen.annotators + 1))
    with tempfile.TemporaryDirectory() as scratch:
        folder = imported(Path(scratch) / "data")
        plan = new_campaign(folder, names)
        roles = Path(scratch) / "roles.toml"
        roles.write_text(
            "".join(f'"{name}@lab.example" = "annotator"\n' for name in names)
        )
        port = free_port()
        with killed_every(folder, port, chosen.kill_every_s, roles) as kills:
            people = labelled(
                f"http://127.0.0.1:{port}", names, folder, chosen.minutes * 60, kills
            )
        total = Kept(
            *map(
                sum,
                zip(*(kept(folder, plan, person) for person in people), strict=True),
            )
        )
    cuts = sum(person.cuts for person in people)
    print(
        f"{len(people)} annotators, {chosen.minutes:g} minutes; the app killed {kills.n} times, {cuts} networks cut"
    )
    print(
        f"labels pressed {total.pressed:,}: {total.lost} lost, {total.double} double, {total.other} other; {machine()}"
    )
    if total.lost or total.double or total.other:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])

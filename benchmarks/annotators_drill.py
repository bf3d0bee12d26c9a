"""Ten annotators label in Chromium while the app is killed and the network is cut: is a label lost or doubled?

    python -m benchmarks.annotators_drill [--annotators N] [--minutes M] [--kill-every-s S]

Everybody is logged in as themselves and labels a separate order of the study's 222 items with the keys, about one label
every three seconds. Meanwhile the app is killed with SIGKILL every minute and started again, and everybody's network is
cut twice. At the end the server runs, every browser has sent what waited, and the ledger is compared with the keys that
were pressed. Exit 1 when a label is lost, doubled or another one.
"""

from __future__ import annotations

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

from playwright.sync_api import Browser, BrowserContext, Page, TimeoutError

from benchmarks._browser import WIDE, chromium
from benchmarks._data import CAMPAIGN, archive_or_exit, imported, new_campaign
from benchmarks._server import free_port, serve
from benchmarks._timing import machine, options
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


class BrowserAnnotator:
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
        self._page.goto(
            f"{address}/annotate?campaign={CAMPAIGN}&annotator={name}"
        )
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
                    f"before => ({SIGHT})[1] > before",
                    arg=n_done,
                    timeout=2_000,
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


class KeptKeys(NamedTuple):
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
                folder.path,
                port=port,
                end_with=signal.SIGKILL,
                CRANE_ROLES=str(roles),
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


def kept(folder: DataFolder, plan: Plan, person: BrowserAnnotator) -> KeptKeys:
    """What the ledger has of what this person pressed."""
    names = desk_names(folder, plan, person.name)
    given = journal_of(folder, plan, person.name).given
    said = {
        names.of(showing): str(entry.label) for showing, entry in given.items()
    }
    copies = Counter(
        (act.item, act.showing)
        for act in acts_of(folder, plan, person.name)
        if act.action is AnnotationAction.LABEL
    )
    pressed = person.given
    n_other = sum(
        said.get(item, label) != label for item, label in pressed.items()
    )
    return KeptKeys(
        pressed=len(pressed),
        lost=len(pressed.keys() - said),
        double=sum(n - 1 for n in copies.values()),
        other=n_other + len(said.keys() - pressed.keys()),
    )


def sat_down(
    browser: Browser,
    name: str,
    address: str,
    folder: DataFolder,
    seconds: float,
) -> BrowserAnnotator:
    """A person who is logged in, at their desk."""
    context = browser.new_context(viewport=WIDE)
    login = new_pass(f"{name}@lab.example", seconds=3600)
    session = signed(login, Purpose.SESSION, signing_key(folder.path))
    context.add_cookies([{"name": COOKIE, "value": session, "url": address}])
    return BrowserAnnotator(name, context, address, seconds)


def labelled(
    address: str,
    names: Sequence[str],
    folder: DataFolder,
    seconds: float,
    kills: Kills,
) -> list[BrowserAnnotator]:
    """The people after their work, everything acknowledged."""
    with chromium() as browser:
        people = [
            sat_down(browser, name, address, folder, seconds) for name in names
        ]
        kills.everybody_sits.set()
        start = time.monotonic()
        while (now_s := time.monotonic() - start) < seconds:
            for person in people:
                person.live(now_s)
            people[0].wait()
        for person in people:
            person.drain()
        return people


def main() -> None:
    chosen = options(__doc__, annotators=10, minutes=10.0, kill_every_s=60.0)
    archive_or_exit()
    names = tuple(
        f"ann{number:02}" for number in range(1, chosen.annotators + 1)
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = imported(Path(scratch) / "data")
        plan = new_campaign(folder, names)
        roles = Path(scratch) / "roles.toml"
        roles.write_text(
            "".join(f'"{name}@lab.example" = "annotator"\n' for name in names)
        )
        port = free_port()
        address, seconds = f"http://127.0.0.1:{port}", chosen.minutes * 60
        with killed_every(folder, port, chosen.kill_every_s, roles) as kills:
            people = labelled(address, names, folder, seconds, kills)
        each = [kept(folder, plan, person) for person in people]
    total = KeptKeys(*map(sum, zip(*each, strict=True)))
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
    main()

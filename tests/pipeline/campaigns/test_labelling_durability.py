"""Killed at any moment, a desk has lost no label that it acknowledged, and what it left behind can be continued.

Its own process labels for two people at once as fast as it can, says what it is about to save and, only after
`take` has returned, what was saved. It is killed twenty times; nobody cleans up in between.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crane_core import ledger
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan
from crane_core.domain import Annotation
from crane_core.pipeline.campaigns.campaigns import label_file
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.loading.load import load_ledger
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import IN_MEMORY, open_store

Keep = Callable[..., tuple[DataFolder, Plan]]
Recorded = Callable[[str, object], None]
ANNOTATORS = ("ana", "ben")
SEED = 20_261_121
N_KILLS = 20

# One process loads the program and forks a labeller for every seed that it is told: twenty starts would take a minute.
NURSERY = """
import json, os, random, sys
from pathlib import Path
from threading import Lock, Thread
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.places import DataFolder

one_line_at_a_time = Lock()

def say(*words):
    with one_line_at_a_time:
        os.write(1, json.dumps(words).encode() + b"\\n")

def act(seed, n, chance, showing):
    raw = {"event": f"{seed:08}-{n:08}", "item": showing.item, "showing": showing.showing}
    action = chance.choice(["label"] * 6 + ["undo", "note", "skip", "flag"])
    more = {"label": chance.choice(["correct", "partial", "wrong"])} if action == "label" else {}
    return raw | {"action": action, "note": "x" * chance.choice([0, 9, 2_000]), "seconds": 1.0} | more

def label(desk, annotator, seed):
    chance, n = random.Random(f"{seed} {annotator}"), 0
    while True:
        showings = chance.choices(desk.plan.orders[annotator], k=chance.randint(1, 6))
        acts = [act(seed, n + i, chance, showing) for i, showing in enumerate(showings)]
        n += len(acts)
        say("try", annotator, [[a["event"], a["action"], a["item"], a["showing"], a.get("label")] for a in acts])
        taken = desk.take(annotator, acts)
        say("saved", annotator, taken.saved)

for line in sys.stdin:
    labeller = os.fork()
    if labeller == 0:
        desk = LabelStore(DataFolder(Path(sys.argv[1])), "pilot")
        say("born", os.getpid())
        for annotator in desk.plan.annotators:
            Thread(target=label, args=(desk, annotator, int(line))).start()
    else:
        os.waitpid(labeller, 0)
        say("gone")
"""


@pytest.fixture
def place(pilot: Keep) -> tuple[DataFolder, Plan]:
    return pilot(200, ANNOTATORS)


@pytest.fixture
def nursery(
    place: tuple[DataFolder, Plan], root: Path
) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", NURSERY, str(place[0].path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
    assert process.returncode == 0


class Told:
    """What labellers said: acts by event, events that were acknowledged, and the batch that was under way."""

    def __init__(self) -> None:
        self.acts: dict[str, dict[str, tuple[str, Showing, str | None]]] = {
            name: {} for name in ANNOTATORS
        }
        self.saved: dict[str, list[str]] = {name: [] for name in ANNOTATORS}
        self.under_way: dict[str, list[str]] = {name: [] for name in ANNOTATORS}

    def hear(self, word: str, annotator: str, said: list[Any]) -> None:
        if word == "try":
            self.acts[annotator] |= {
                e: (action, Showing(item, n), label)
                for e, action, item, n, label in said
            }
            self.under_way[annotator] = [entry[0] for entry in said]
        else:
            self.saved[annotator] += said
            self.under_way[annotator] = []


def killed_labeller(
    nursery: subprocess.Popen[bytes], seed: int, told: Told
) -> None:
    """Let a labeller be born and get to a random number of batches, and kill it there."""
    assert nursery.stdin is not None and nursery.stdout is not None
    chance = random.Random(SEED + seed)
    nursery.stdin.write(b"%d\n" % seed)
    nursery.stdin.flush()
    _, pid = json.loads(nursery.stdout.readline())
    for _ in range(chance.randrange(2, 40)):
        told.hear(*json.loads(nursery.stdout.readline()))
    for _ in range(chance.randrange(60_000)):
        pass
    os.kill(pid, signal.SIGKILL)
    while (said := json.loads(nursery.stdout.readline())) != ["gone"]:
        told.hear(*said)


def labels_of(
    told: Told, annotator: str, events: list[str]
) -> dict[Showing, str | None]:
    """Labels in force after these events: the last word on every showing."""
    labels: dict[Showing, str | None] = {}
    for action, showing, label in (
        told.acts[annotator][event] for event in events
    ):
        if action in ("label", "undo"):
            labels.pop(showing, None)
        if action == "label":
            labels[showing] = label
    return labels


def on_disk(
    folder: DataFolder, annotator: str
) -> tuple[list[Annotation], int, int]:
    """Acts of the file, lines that are none, and bytes of a torn last line."""
    found = ledger.tail(label_file(folder, "pilot", annotator))
    return (
        [r for r in found.records if isinstance(r, Annotation)],
        len(found.problems),
        found.torn_bytes,
    )


def tear(file: Path, chance: random.Random) -> None:
    """What a loss of power may leave of a line: its beginning, or zeros in its place."""
    # A line that lacks its newline alone is whole, so the fragment ends before the closing brace.
    line = file.read_bytes().splitlines()[-1]
    fragment = (
        line[: chance.randrange(1, len(line))]
        if chance.random() < 0.7
        else b"\0" * chance.randrange(1, 600)
    )
    with file.open("ab") as torn:
        torn.write(fragment)


@pytest.mark.slow
def test_killed_twenty_times_a_desk_has_lost_no_acknowledged_label(
    place: tuple[DataFolder, Plan],
    nursery: subprocess.Popen[bytes],
    record_property: Recorded,
) -> None:
    folder, plan = place
    told = Told()
    kept: dict[str, list[str]] = {name: [] for name in ANNOTATORS}
    n_torn = dict.fromkeys(ANNOTATORS, 0)
    for seed in range(1, N_KILLS + 1):
        killed_labeller(nursery, seed, told)
        for annotator in ANNOTATORS:
            acts, n_problems, torn_bytes = on_disk(folder, annotator)
            events = [act.event for act in acts]
            assert len(events) == len(set(events)), "doubled"
            assert events[: len(kept[annotator])] == kept[annotator], (
                "what was there before has changed"
            )
            assert set(told.saved[annotator]) <= set(events), (
                "an acknowledged act is lost"
            )
            n_extra = len(
                set(events) - set(told.saved[annotator]) - set(kept[annotator])
            )
            assert set(events) - set(told.saved[annotator]) - set(
                kept[annotator]
            ) <= set(told.under_way[annotator])
            assert (
                events[len(events) - n_extra :]
                == told.under_way[annotator][:n_extra]
            )
            assert [act.sequence for act in acts] == list(
                range(1, len(acts) + 1)
            )
            desk = LabelStore(folder, "pilot")
            given = {
                showing: str(entry.label)
                for showing, entry in desk.journal(annotator).given.items()
            }
            assert given == labels_of(told, annotator, events)
            n_torn[annotator] += torn_bytes > 0
            assert n_problems == n_torn[annotator] - (torn_bytes > 0), (
                "told once, when it was closed"
            )

            kept[annotator] = gone_on(
                folder, annotator, desk, plan, told, seed, n_torn
            )
    assert min(map(len, kept.values())) > N_KILLS * 10
    record_property("tried", N_KILLS)
    assert_reported(folder, kept, n_torn)


def gone_on(
    folder: DataFolder,
    annotator: str,
    desk: LabelStore,
    plan: Plan,
    told: Told,
    seed: int,
    n_torn: dict[str, int],
) -> list[str]:
    """Tear the file's end every second time, and label on at the desk that is open; the events of the file."""
    file = label_file(folder, "pilot", annotator)
    if seed % 2 and file.read_bytes().endswith(b"\n"):
        tear(file, random.Random(seed))
        n_torn[annotator] += 1
    showing = plan.orders[annotator][seed]
    event = f"after-{seed:08}"
    raw = {
        "event": event,
        "action": "label",
        "item": showing.item,
        "showing": showing.showing,
        "label": "partial",
    }
    told.acts[annotator][event] = ("label", showing, "partial")
    assert desk.take(annotator, [raw, raw]).saved == [event, event]
    acts, n_problems, torn_bytes = on_disk(folder, annotator)
    assert (acts[-1].event, n_problems, torn_bytes) == (
        event,
        n_torn[annotator],
        0,
    )
    told.saved[annotator].append(event)
    return [act.event for act in acts]


def assert_reported(
    folder: DataFolder, kept: dict[str, list[str]], n_torn: dict[str, int]
) -> None:
    """The store has every act once, and a problem for every line that was torn."""
    store = open_store(IN_MEMORY)
    try:
        load_ledger(store, folder)
        acts = (
            store.cursor()
            .execute("SELECT annotator, count(*) FROM annotations GROUP BY ALL")
            .fetchall()
        )
        problems = (
            store.cursor()
            .execute("SELECT path, count(*) FROM load_problems GROUP BY ALL")
            .fetchall()
        )
    finally:
        store.close()
    assert dict(acts) == {
        annotator: len(events) for annotator, events in kept.items()
    }
    assert dict(problems) == {
        f"{annotator}.jsonl": n for annotator, n in n_torn.items() if n
    }

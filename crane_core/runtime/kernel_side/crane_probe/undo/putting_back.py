"""The kernel's side of an undo: its objects get the content that they have in the copy, its names their values."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

from . import attributes
from .differences import is_lost, is_of_notebook
from .of_containers import HASHING
from .parts import BY_NAME, restore
from .transfer import StateUnpickler
from .walk import ObjectWalk


class Restored(NamedTuple):
    """Names by their outcome; `stays` has name and reason of what did not come back."""

    bound: list[str]
    removed: list[str]
    changed: list[str]
    stays: list[tuple[str, str]]


class UnreadableError(Exception):
    """What the copy sent cannot be read in the kernel."""


def put_back(
    walk: ObjectWalk, packed: bytes, hidden: dict[str, Any]
) -> Restored:
    """Restore what a copy sent. `hidden` are IPython's own names with their first values.

    Raises UnreadableError if an object cannot be made again; nothing is changed then.
    """
    content, stays = pickle.loads(packed)  # noqa: S301 - from the kernel's own copy
    kept = {address: record.value for address, record in walk.records.items()}
    try:
        told = StateUnpickler(content, kept, walk.names).load()
    except Exception as error:
        raise UnreadableError(f"{type(error).__name__}: {error}") from error
    failed: list[tuple[str, str]] = list(stays)
    changed = _restore_objects(walk, told["changed"], kept, failed)
    bound = _bind(walk.names, told["names"], failed)
    removed = _remove(walk.names, set(told["all"]), hidden)
    if told["changed"]:
        _drop_caches(walk)
    return Restored(bound, removed, changed, failed)


def _restore_objects(
    walk: ObjectWalk,
    changed: list[Any],
    kept: dict[int, Any],
    failed: list[tuple[str, str]],
) -> list[str]:
    roots: dict[str, None] = {}
    done = []
    named = {id(value): name for name, value in walk.names.items()}
    # Last those that ask their keys for a hash, which may depend on what the others restore.
    ordered = sorted(changed, key=lambda each: each[1] in HASHING)
    for address, kind, root, state, digest in ordered:
        value = kept[address]
        root = named.get(address, root)
        try:
            restore(value, BY_NAME[kind], state)
        except Exception as error:  # noqa: BLE001 - told by name, and the rest is restored
            what = f"{type(value).__name__}: {error}"
            failed.append((root, what[:200]))
            continue
        roots[root] = None
        done.append((value, root, kind, state, digest))
    # Looked at again once all is done, as a view shows what its array was given.
    for value, root, kind, state, digest in done:
        is_back = (
            walk.digest_of(value) == digest
            if digest is not None
            # A set of new objects has another order, so that its parts cannot be compared one by one.
            else kind in HASHING or walk.has_become(value, state)
        )
        if not is_back:
            what = f"{type(value).__name__}: it did not become what it was"
            failed.append((root, what))
    return [root for root in roots if is_of_notebook(root)]


def _bind(
    names: dict[str, Any], wanted: dict[str, Any], failed: list[tuple[str, str]]
) -> list[str]:
    found = []
    for name, value in wanted.items():
        if is_lost(value):
            failed.append((name, value.what))
            continue
        names[name] = value
        found.append(name)
    return found


def _remove(
    names: dict[str, Any], known: Any, hidden: dict[str, Any]
) -> list[str]:
    found = []
    for name in [name for name in names if is_of_notebook(name)]:
        if name in known:
            continue
        if name in hidden:
            names[name] = hidden[name]
        else:
            del names[name]
        found.append(name)
    return found


def _drop_caches(walk: ObjectWalk) -> None:
    """What pandas computed from the content that is gone."""
    for record in walk.records.values():
        names = attributes.cached_in(type(record.value))
        held = attributes.dict_of(record.value) if names else None
        for name in names:
            if held is not None and type(held.get(name)) is dict:
                held[name].clear()

"""Entries of ordered, defaulting and counting dicts, read-only arrays, methods of objects in containers."""

from __future__ import annotations

import pytest

from .conftest import Predict

DICTS = """
import collections
import numpy as np
ordered = collections.OrderedDict(rate=0.1, weights=np.zeros(2))
lists, counts = collections.defaultdict(list, {"a": [1]}), collections.Counter("aab")
"""
DICTS_RAISE = [
    "ordered['rate'] + 'x'",
    "ordered['weights'].reshape(5)",
    "ordered['lost']",
    "lists['a'] + 1",
    "lists['a'][3]",
    "counts['a'] + 'x'",
]
DICTS_RUN = [
    "ordered.update(rate='x')\nordered['rate'] + 'y'",
    "ordered['rate'] = 'x'\nordered['rate'] + 'y'",
    "ordered |= {'rate': 'x'}\nordered['rate'] + 'y'",
    "ordered.setdefault('more', 'x')\nordered['more'] + 'y'",
    "ordered.move_to_end('rate')\nlist(ordered)[1].upper()",
    "lists['b'].append(1)\nlists['b'][0] + len(lists)",
    "lists['b']\nlist(lists)[1].upper()",
    "lists['a'].append('x')\nlists['a'][1] + 'y'",
    "counts['z'] + 1",
    "counts.update('zz')\ncounts['z'] + 1",
    "first, second = ordered\nfirst + 'x'",
]
ARRAYS = """
import numpy as np
fixed = np.arange(3)
fixed.flags.writeable = False
wide = np.broadcast_to(np.zeros(1), 3)
"""
ARRAYS_RAISE = [
    "fixed[0] = 1",
    "fixed += 1",
    "fixed *= 2.5",
    "fixed[[1, 2]] += 1",
    "fixed[9] = 1",
    "wide[:] = 1",
]
ARRAYS_RUN = [
    "fixed = fixed.copy()\nfixed[0] = 1\nfixed += 1",
    "fixed = fixed + 1\nfixed[0] = 1",
    "fixed = np.array(fixed)\nfixed[0] = 1",
    "fixed.flags.writeable = True\nfixed[0] = 1",
    "flags = fixed.flags\nflags.writeable = True\nfixed[0] = 1",
    "fixed.setflags(write=True)\nfixed[0] = 1",
    "fixed.astype(float)[0] = 1",
    "fixed.sum(), fixed[0], fixed + 1",
]
TABLES = """
import numpy as np
import pandas as pd
table = pd.DataFrame(np.zeros((3, 2)), columns=["a", "b"])
grown = pd.DataFrame(np.zeros((3, 2)), columns=["a", "b"])
grown.insert(0, "c", 1.0)
whole = pd.DataFrame({"a": [1, 2, 3]})
"""
TABLES_RUN = [
    "cells = grown.values\ncells[:, 0] = grown['a'] / 2",
    "cells = grown.to_numpy()\ncells *= 2",
    "cells = np.asarray(grown)\ncells[0, 0] = 1",
    "cells = grown[['a', 'c']].values\ncells[0] += 1",
]
TABLES_UNKNOWN = [
    "whole.values[0, 0] = 1",
    "cells = whole.values\ncells *= 2.5",
    "cells = table.to_numpy()\ncells[0] = 1",
]
METHODS = """
class Model:
    def fit(self, table):
        return table["lost"]
models, row, table = {"a": Model()}, [Model()], {"k": 1}
"""


@pytest.mark.parametrize("target", DICTS_RAISE, ids=DICTS_RAISE)
def test_entries_of_derived_dicts_are_known(check: Predict, target: str) -> None:
    assert check(DICTS, target).raised


@pytest.mark.parametrize("target", DICTS_RUN, ids=DICTS_RUN)
def test_entries_that_were_changed_are_not(check: Predict, target: str) -> None:
    assert check(DICTS, target).raised is None


@pytest.mark.parametrize("target", ARRAYS_RAISE, ids=ARRAYS_RAISE)
def test_a_read_only_array_refuses_to_be_written(check: Predict, target: str) -> None:
    seen = check(ARRAYS, target)
    assert seen.raised == "ValueError"
    assert seen.findings[0].why == str(seen.error)


@pytest.mark.parametrize("target", ARRAYS_RUN, ids=ARRAYS_RUN)
def test_a_copy_or_an_array_made_writeable_takes_it(
    check: Predict, target: str
) -> None:
    assert check(ARRAYS, target).raised is None


@pytest.mark.parametrize("target", TABLES_RUN, ids=TABLES_RUN)
def test_columns_that_were_put_together_are_a_copy(check: Predict, target: str) -> None:
    assert check(TABLES, target).raised is None


@pytest.mark.parametrize("target", TABLES_UNKNOWN, ids=TABLES_UNKNOWN)
def test_how_a_table_lies_in_memory_is_not_known(
    predict_here: Predict, target: str
) -> None:
    assert not predict_here(TABLES, target).findings


def test_a_column_is_shown_and_not_copied(check: Predict) -> None:
    assert check(TABLES, "grown['a'].values[0] = 1").raised == "ValueError"


@pytest.mark.parametrize("target", ["models['a'].fit(table)", "row[0].fit(table)"])
def test_methods_of_objects_in_containers_are_followed(
    check: Predict, target: str
) -> None:
    assert check(METHODS, target).raised == "KeyError"

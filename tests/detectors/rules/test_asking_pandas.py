"""What pandas is asked about, beside what really happens."""

from __future__ import annotations

from typing import Any

import pytest

SETUP = """\
import numpy as np
import pandas as pd
df = pd.DataFrame({'a': [1, 2], 'b': ['x', 'y'], 'c': [1.5, 2]})
s = pd.Series([1, 2, 3], name='q')
t = df['b']
when = pd.to_datetime(pd.Series(['2020-01-01']))
things = pd.Series([pd.Timestamp(2020, 1, 1), 'x', [1]], dtype=object)
named = df.set_index('b')
none = df[:0]
pairs = pd.concat([df, df], keys=['u', 'v'])
held = pd.Series([{'k': 1}, {'k': 2}])
lists = pd.Series([[1, 2], [3]])
records = np.array([(1, 2.)], dtype=[('p', 'i4'), ('q', 'f8')])
"""
CRASHES = """\
df.copy().append(df)
df[df.a > 1].append(df)
pd.concat([df, df]).append(df)
pd.DataFrame(columns=['a']).append({'a': 1}, ignore_index=True)
s.rolling('three').mean()
s.rolling(3, 1, 2, 3)
s.ewm(alpha='three')
s.str
t.dt
t.str.joins('-')
t.str.rstrip('x', 1, 2, 3)
when.dt.years
df.groupby('b', 1, 2, 3)
df.groupby()
df.sample(5)
df / 'x'
pd.Series([1, 2, 3, 4], 1, 2, 3)
pd.Timestamp('2020-03-14T15:32:52', 1, 2, 3)
pd.DatetimeIndex()
pd.Interval(0)
pd.cut([1, 2, 3], bins='x')
df.nlargest('x', 'a')
df.drop('b', axis=3)
named.sem(1, 2, 3, 4, 5, 6)
f"{df:.2f}"
df['n'] = [1, 2, 3]
df.drop_duplicates('zz')
df.duplicated(['zz', 'a'])
df.drop(columns='a')['a']
df.rename(columns={'a': 'n'})['a']
df.set_index('a')['a']
df.head().columns[9]
df.query('a > 1')['z']
df.dropna(inplace=True).head()
df[['a', 'b']]['c']
df.groupby('b')[['a', 'c']]['b']
"""
RUNS = """\
pairs.query('a > 1').reset_index()['level_0']
df.query('a > 1')['c']; df.query('a != "x" == b')['c']; df.set_index('b').query('"x"')['a']
df.assign(append=1).copy().append + 1
df.rename(columns={'a': 'ix'})[['ix']].ix
t.value_counts().rename({'x': 'order'}).order
s.rolling(2).mean()
things.dt if False else None
things + things if False else None
t.str.join('-')
when.dt.year
pd.Timestamp('now', tz='Europe/Brussels')
pd.Series([1, 2], index=['a', 'b'])
df.sample(2)
df.groupby('b').sum()
df.set_index('a')
named.loc['x']
df.a = df.a + 1
df['n'] = [1, 2]
named.sem()
pairs.reset_index()['level_1']
pairs[pairs['a'] > 1].reset_index()['level_0']
pairs.groupby(level=1).size()[1]
pairs['a'].sort_values().reset_index(level=1)['a']
pairs.dropna().rename_axis(['p', 'q']).reset_index()['q']
held.map(lambda d: d['k'])
held.str['k']
lists.str[0] + 1
pd.DataFrame([named['a'], named['c']])['x']
pd.DataFrame(records)['p']
for i, row in none.iterrows(): nope
for i, row in df[df['a'] > 5].iterrows(): nope
for row in none.itertuples(): nope
for name, column in df[[]].items(): nope
for key, group in none.groupby('a'): nope
for key, group in df[df['a'] > 5].groupby('a'): nope
none['a'].map(lambda each: nope)
none.drop_duplicates('zz')
df[df['a'] > 5].duplicated(['zz'])
none.apply(lambda row: nope, axis=1)
df[df['a'] > 5]['a'].apply(lambda each: nope)
"""


@pytest.mark.parametrize("target", CRASHES.splitlines())
def test_what_pandas_refuses_is_told_before(check: Any, target: str) -> None:
    assert check(SETUP, target).findings, target


@pytest.mark.parametrize("target", RUNS.splitlines())
def test_what_pandas_takes_is_no_crash(check: Any, target: str) -> None:
    assert check(SETUP, target).raised is None


@pytest.mark.parametrize(
    "target",
    ["twice.pivot(index='k', columns='c', values='v')", "twice.set_index('k')"],
)
def test_what_depends_on_labels_that_stand_twice_in_values_is_not_told(
    check: Any, target: str
) -> None:
    # Every column of the stand-ins may hold one value again and again; these do not.
    setup = """
import pandas as pd
twice = pd.DataFrame({'k': ['a', 'a', 'b', 'b'], 'c': ['x', 'y'] * 2, 'v': [1, 2, 3, 4]})
"""
    assert check(setup, target).raised is None


@pytest.mark.parametrize(
    "target",
    [
        "once.set_index('k', verify_integrity=True)",
        "once.merge(once, on='k', validate='one_to_one')",
        "once.set_index('k')['v'].reindex(['a', 'c'])",
        "np.abs(numbers)",
    ],
)
def test_nor_is_what_unique_values_allow(check: Any, target: str) -> None:
    setup = """
import numpy as np
import pandas as pd
once = pd.DataFrame({'k': ['a', 'b', 'c'], 'v': [1, 2, 3]})
numbers = pd.DataFrame({0: [1, 2], 1: [3, 4]})
"""
    assert check(setup, target).raised is None


def test_of_a_label_that_is_not_there_another_is_advised(check: Any) -> None:
    table = "pd.DataFrame({'k': list('abab'), 'v': [1., 2., 3., 4.]})"
    setup = f"import pandas as pd\nmeans = {table}.groupby('k').v.mean()"
    assert "label" in check(setup, "means['v'].round(1)").findings[0].remedy


@pytest.mark.parametrize(
    "target",
    [
        "levels.loc['p', 2]",
        "levels[levels['v'] > 1].loc[('q', 1), 'v']",
        "twice['a'].shape[1] - 2",
        "np.zeros(3) + twice[['a', 'b']].values[0]",
    ],
)
def test_nor_what_labels_of_several_parts_or_columns_allow(
    predict_by_code: Any, target: str
) -> None:
    setup = """
import numpy as np
import pandas as pd
levels = pd.DataFrame({'v': [1, 2, 3, 4]}, index=pd.MultiIndex.from_product([['p', 'q'], [1, 2]]))
twice = pd.DataFrame(np.arange(6).reshape(2, 3), columns=['a', 'b', 'a'])
"""
    seen = predict_by_code(setup, target)
    assert not seen.findings
    assert seen.raised is None


@pytest.mark.parametrize(
    "target",
    [
        "first.join(second)['n'].iloc[5]",
        "first.merge(second, on='k', how='left')['n'].iloc[5]",
        "first.merge(second, left_index=True, right_index=True)['n'].iloc[5]",
        "pd.concat([early, late], axis=1)['n'].iloc[5]",
    ],
)
def test_how_many_rows_labels_match_is_not_told(check: Any, target: str) -> None:
    setup = """
import pandas as pd
first = pd.DataFrame({'v': [1, 2, 3, 4]}, index=pd.Index(list('uvuv'), name='k', dtype=object))
second = first.rename(columns={'v': 'n'})
early = pd.DataFrame({'v': [1, 2, 3, 4]}, index=pd.date_range('2020', periods=4))
late = pd.DataFrame({'n': [1, 2, 3, 4]}, index=pd.date_range('2022', periods=4))
"""
    assert check(setup, target).raised is None

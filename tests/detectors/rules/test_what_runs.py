"""Targets as notebooks write them, run for real: a predicted crash happens, and with the predicted class.

An empty line stands between two targets. Some crash, and need not be predicted.
"""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.corpus

FRAMES = """
import pandas as pd, numpy as np
two = pd.DataFrame({'a':[1,2],'b':[3,4]})
five = pd.DataFrame({'a':[1,1,2,2,3],'b':[3,4,5,6,7],'c':list('xyzxy')})
multi = pd.DataFrame([[1,2],[3,4]], columns=pd.MultiIndex.from_tuples([('A','D'),('B','E')]))
"""
OF_FRAMES = r"""
two.groupby(['a','nope']).sum()

two.groupby(['p','q'])['b'].sum()

two.groupby(('p','q'))['b'].sum()

five.groupby([1,1,2,2,2]).sum(numeric_only=True)

five.groupby(['a','nope']).sum()

five.groupby(list('abcde')).size()

gb = five.groupby([0,0,1,1,1])
gb['b'].mean()

two.pivot_table(index=['a','nope'], values='b')

two.pivot_table(index='a', columns='nope', values='b')

two.pivot_table(index=['a','nope'], columns=None, values='b')

five.pivot_table(index='nope', values='b')

pd.melt(multi, col_level=0, id_vars=['A'], value_vars=['B'])

multi.melt(col_level=0, id_vars=['A'])

two.sort_values(by=0, axis=1)

two.sort_values(by=5, axis=1)

two.dropna(axis=1, subset=[0])

five.T.sort_values('a', axis=1)

two.drop_duplicates(subset=['a'])

five.groupby(five['c'].tolist())['a'].sum()

five.groupby(np.array([1,2,3,4,5])).a.sum()

five.groupby({0:'x',1:'y'}).size()

five.groupby(lambda i: i % 2).size()

five.groupby(pd.Grouper(key='a')).size()

five.groupby(by=['a', five.b > 4]).size()

five.groupby([five.a, 'c']).size()

five.groupby(level=0).size()

five.groupby(['a','b','c','a','b']).size()

five.groupby(['a','b','c','zz','b']).size()

five.groupby([True,False,True,True,False])['b'].sum()

five.pivot(index='a', columns='c', values=['b'])

five.explode('c')

five.nlargest(2, 'a')

five.nlargest(2, ['a','b'])

five.value_counts('c')

five.value_counts(['c','a'])

five.agg({'a':'sum','b':['min','max']})

five.agg(x=('a','max'), y=('b','min'))

five.astype({'a':float})

five.drop(columns='zz', errors='ignore')

five.rename(columns={'zz':'y'})['a']

five.rename(columns={'zz':'y'}, errors='raise')

five.reindex(columns=['a','zz'])['zz']

five.filter(['a','zz'])

five.join(two, lsuffix='_l', on='a')

five.set_index('c', append=True).loc[(0,'x')]

five.assign(zz=1)['zz'].sum()

five.eval('zz = a + b')['zz']

five.eval('zz = a + b', inplace=True)
five['zz']

five.get('zz')

five.insert(0,'zz',1)
five.zz

multi.columns = ['p','q']
multi['p']

five.columns = list('pqr')
five.p + five['q']

five.name = 'xx'
five.name.upper()

five.a = [1,2,3,4,5]
five.a.sum()

five['a'].name = 'k'
five['a'].name

five.index = list('vwxyz')
five.loc['v']

five.index.name = 'key'
five.reset_index()['key']

five.a.values[:] = 0
five.a.max()
"""
LABELLED = """
import pandas as pd, numpy as np, statsmodels.formula.api as smf
df = pd.DataFrame({'a':[1,2,3],'b':[4.,5.,6.],'c':list('xyz')})
days, months = pd.date_range('2020-01-01', periods=3), pd.period_range('2020-01', periods=3, freq='M')
by_day, by_month, spans, waits, with_nan = (
    pd.DataFrame(np.arange(6).reshape(2,3), columns=columns)
    for columns in (days, months, pd.interval_range(0,3), pd.to_timedelta([1,2,3],unit='D'), [1.0, 2.0, np.nan])
)
counts = pd.Series([1,1,None]).value_counts(dropna=False)
multi = pd.DataFrame([[1,2],[3,4]], columns=pd.MultiIndex.from_tuples([('A','D'),('B','E')]))
form = 'b ~ a + C(c, Treatment)'
mixed, halves = pd.Series([1,True,0], dtype=object), pd.Series([True,2.5], dtype=object)
"""
OF_LABELS = r"""
with_nan[np.nan]

with_nan.drop(columns=[np.nan])

counts.loc[np.nan]

df.loc[2.0, 'a']

df.drop(index=[1.0, 2.0])

by_day['2020-01-02'].sum()

by_day['2020']

by_day.drop(columns='2020-01-01')

by_day.sort_values('2020-01-01')

by_month[['2020-01']]

spans[0.5]

waits['1 days']

mixed.str.len()

halves.str.len()

df.aggregate({0: 'count'}, 1)

df[['a','b']].agg({0: 'sum', 2: 'max'}, axis='columns')

df.query('a > x', resolvers=[{'x': 1}])

df.query('a > x', local_dict={'x': 1})

df.query('a > inf')

df.query("nope > 1")[["nope"]]

df.a > 1 & df.b > 1

df.a[df.a > 1] = [5, 6]

number = df.a.copy()
number[number.isin([2,3])] = [1, 2]

df.a.apply(lambda v: pd.Series({'m': v}))['m']

df.a.apply({'u': 'sum'})['u']

df.a.map(lambda v: pd.Series({'m': v}))[0]['m']

assert 'nope' in df
df['nope']

assert df.a.sum() > 100
df['nope']

assert isinstance(df, pd.DataFrame)
df['nope']

if df.a.max() > 2: raise ValueError('x')
df['nope']

if df.a.max() > 20: raise ValueError
else: df['nope']

smf.ols(form, data=df)

pd.get_dummies(multi, columns=['A'])

pd.pivot_table(multi, values='A')

@pd.api.extensions.register_dataframe_accessor('mine')
class M:
    def __init__(self, of): pass
df.mine
"""

ESTIMATORS = """
import numpy as np, pandas as pd
from sklearn.svm import SVC, NuSVC
from sklearn.linear_model import SGDClassifier, LogisticRegressionCV, LogisticRegression
from sklearn.ensemble import BaggingClassifier
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import *
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction import FeatureHasher, DictVectorizer
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.feature_extraction.image import PatchExtractor
X=np.random.rand(20,3); y=np.array([0,1]*10); frame=pd.DataFrame(X,columns=list('abc'))
texts=['a b c','b c d']
"""
OF_ESTIMATORS = r"""
p = make_pipeline(StandardScaler(), SVC()); p.steps[-1] = ('m', LogisticRegression()); p.fit(X, y).predict_proba(X)

p = make_pipeline(StandardScaler(), SVC()); p.steps.pop(); p.fit_transform(X)

p = make_pipeline(StandardScaler(), SVC()); p.set_params(svc=LogisticRegression()); p.fit(X, y).predict_proba(X)

p = make_pipeline(StandardScaler(), SVC()); p.get_params()['svc'].probability = True; p.fit(X, y).predict_proba(X)

TfidfVectorizer().fit_transform(['a b', np.nan])

TfidfVectorizer().fit_transform(['a b', float('nan')])

FeatureHasher(n_features=10).transform([{'dog':1},{'run':5}])

h = FeatureHasher(n_features=10)
h.transform([{'dog':1}]).toarray()

HashingVectorizer(n_features=16).transform(texts)

PatchExtractor(patch_size=(2,2)).transform(np.zeros((2,5,5)))

MultiLabelBinarizer().fit(['sci-fi','thriller'])

MultiLabelBinarizer().fit_transform([(1,2),(3,)])

MultiLabelBinarizer().fit_transform([{'a'},{'b','c'}]).shape

MultiLabelBinarizer().fit_transform(pd.Series([['a'],['b','c']]))

MultiLabelBinarizer().fit_transform(pd.Series(['ab','bc']))

MultiLabelBinarizer().fit_transform(frame)

MultiLabelBinarizer().fit_transform(np.array([['a','b'],['c','d']]))

MultiLabelBinarizer().fit([1,2,3])

MultiLabelBinarizer().fit(X[:,0])

MultiLabelBinarizer().fit(np.array(['ab','cd']))

SVC(probability=True).predict_proba(X)

SVC().predict_proba(X)

SGDClassifier(loss='log_loss').predict_proba(X)

SGDClassifier(loss='log_loss').fit(X,y).predict_proba(X)

LocalOutlierFactor(novelty=True).fit(X).predict(X)

LocalOutlierFactor(novelty=True).predict(X)

LocalOutlierFactor().fit_predict(X)

BaggingClassifier(LogisticRegression()).decision_function(X)

BaggingClassifier(LogisticRegression()).fit(X,y).decision_function(X)

FunctionTransformer(np.log1p).transform(X)

FunctionTransformer(np.log1p, feature_names_out='one-to-one').fit(frame).get_feature_names_out()

Normalizer().transform(X)

Binarizer().transform(X)

PolynomialFeatures().transform(X)

TargetEncoder().transform(frame)

TruncatedSVD().inverse_transform(X)

DictVectorizer().fit_transform([{'a':1},{'b':2}])

LabelBinarizer().fit_transform(['a','b','a'])

LabelEncoder().fit_transform(frame['a'])

OrdinalEncoder().fit_transform([['a'],['b']])

KBinsDiscretizer(2).fit_transform(X)

Normalizer().transform(frame)

FunctionTransformer().transform([1,2,3])

FunctionTransformer(validate=True).transform([1,2,3])

LabelEncoder().fit([1,2,3]).transform([1,2])
"""
PYTHON = """
import pandas as pd, numpy as np
df = pd.DataFrame({'a':[1,2,3],'b':[3.,4.,5.]})
same = df
lst=[1,2]; lst2=lst
d={'x':1}; d2=d; box=[df, lst, d]; where={'frame':df,'list':lst}
class Holder:
    pass
h=Holder(); h.frame=df; h.items=lst; h.table=d
class Base:
    registry = {}
    def __init__(self, n): self.n=n; self.cache={}
    def add(self, key, value):
        self.cache[key]=value; Base.registry[key]=value
        return self
    @property
    def size(self): return len(self.cache)
    @size.setter
    def size(self, v): self._size = str(v)
    def __getattr__(self, name):
        if name.startswith('_'): raise AttributeError(name)
        return f'dyn_{name}'
b=Base(3)
def get_df(): return df
def add_col(frame, name): frame[name]=1
def add_col_ret(frame, name):
    frame = frame.copy(); frame[name]=1; return frame
def push(): lst.append(5); d['y']=2
adder = add_col
from functools import partial
add_z = partial(add_col, name='z')
arr=np.zeros((3,4)); view=arr[0]; arr2=arr
counter = 0
def count():
    global counter, made
    counter += 1
    made = [counter]
class Stack(list):
    def __getitem__(self, i): return super().__getitem__(i) if i < len(self) else None
st=Stack([1])
class Frame(pd.DataFrame):
    @property
    def _constructor(self): return Frame
    def __getattr__(self, n):
        if n == 'magic': return 1
        return super().__getattr__(n)
fr=Frame({'a':[1]})
class D(dict):
    def __missing__(self,k): return k
    def __getattr__(self,k): return self[k]
dd=D(a=1)
class Arr(np.ndarray):
    def extra(self): return 5
    def __getitem__(self, i): return 0 if i==99 else super().__getitem__(i)
av=np.zeros(3).view(Arr)
gen=(i for i in range(3))
it=iter([1,2,3])
"""
LAYERS = """
import torch
from torch import nn
model=nn.Sequential(nn.Linear(4,8),nn.ReLU(),nn.Linear(8,2)); layer=model[0]
layers=[nn.Linear(4,8)]
"""
ASKS_LAYERS = re.compile(r"\b(torch|nn|model|layers?)\b")
OF_PYTHON = r"""
none = None
f'{none!r:>10} {lst!s:>10} {lst!r:5}'

f'{lst!r:d}'

same['new']=1
df['new'].sum()

df['new']=1
same['new'].sum()

same.rename(columns={'a':'A'}, inplace=True)
df['A']

same.drop(columns='a', inplace=True)
df.insert(0,'a',5)

lst2.append(3)
lst[2]

lst.append(3)
lst2[2]

d2['q']=1
d['q']

box[0]['new']=1
df['new']

box[1].append(1)
lst[2]

box[2]['q']=1
d['q']

where['frame']['new']=1
df['new']

where['list'].extend([4,5])
lst[3]

h.frame['new']=1
df['new']

h.items.append(1)
lst[2]

h.table['q']=1
d['q']

h.table.update(q=1)
d['q']

get_df()['new']=1
df['new']

add_col(df,'z')
df['z']

adder(df,'z')
df['z']

add_col(same,'z')
df['z']

add_z(df)
df['z']

x=add_col_ret(df,'z')
x['z']

push()
lst[2], d['y']

push()
lst2[2], d2['y']

b.add('k',1).add('m',2)
b.cache['k'], Base.registry['m'], b.size

b.size = 3
b.size + 1

b.anything.upper()

b._size2 if hasattr(b,'_size2') else 0

view.shape=(2,2)
view[1,1]

arr2.shape=(4,3)
arr[3]

arr.resize((12,), refcheck=False)
arr[11]

arr2.resize((2,6), refcheck=False)
arr[1,5]

layer.weight.shape, model(torch.zeros(3,4)).shape

model[0]=nn.Linear(5,8)
model(torch.zeros(3,5))

model.append(nn.Linear(2,7))
model(torch.zeros(1,4)).view(7)

layers[0]=nn.Linear(9,1)
layers[0](torch.zeros(1,9))

count()
made[0]

count()
counter + 1

st[5] is None

fr.magic

fr.copy().magic

dd['zzz'], dd.qqq

av[99], av.extra()

next(gen), next(gen), list(gen), list(gen)

next(it)
[*it][1]

import builtins
builtins.foo = 3
foo

import sys
sys.modules['__main__']

pd.DataFrame.extra = lambda self: 5
df.extra()

nn.Module.summary = lambda self: 1
model.summary()

setattr(h,'zz',1)
h.zz

h.__dict__['w']=1
h.w

vars(h)['w2']=1
h.w2

Holder.k = 5
h.k

Base.n2 = property(lambda self: 4)
b.n2 + 1

df.attrs['x']=1
df.attrs['x']

for f in (df, same):
    f['zz']=1
df['zz']

for k, f in where.items():
    f.append(9) if isinstance(f, list) else f.insert(0,'zz',1)
df['zz'], lst[2]

[f.append(9) for f in [lst]]
lst[2]

list(map(lambda f: f.append(9), [lst]))
lst[2]

list(map(lst.append, [1,2,3]))
lst[4]

any(lst.append(i) for i in range(4))
lst[5]

p = lst.append
p(4)
lst[2]

df.__setitem__('q',1)
df['q']

d.__setitem__('q',1)
d['q']

dict.update(d,{'q':1})
d['q']

list.append(lst, 3)
lst[2]

import operator
operator.setitem(d,'q',1)
d['q']

pd.DataFrame.insert(df,0,'q',1)
df['q']

a = b2 = []
a.append(1)
b2[0]

a, *rest = [[],[]]
rest[0].append(1)
rest[0][0]

x = [[0]*3]*2
x[0].append(1)
x[1][3]

x = {}
y = x
y['k']=1
x['k']

x = {'in': {}}
y = x['in']
y['k']=1
x['in']['k']

def outer():
    acc=[]
    def inner(v): acc.append(v); return acc
    return inner
f=outer()
f(1); f(2)
f(3)[2]

def f(x, acc=[]):
    acc.append(x)
    return acc
f(1)
f(2)[1]

def f(**kw): return kw
f(a=1)['a']

def f(*a, k=None, **kw): return a[1], kw['z']
f(1,2,k=3,z=4)

def deco(fn):
    def w(*a, **k): return fn(*a, **k) or {}
    return w
@deco
def g(x): return None
g(1).get('k')

def f():
    nonlocal_ = 1
    def g():
        nonlocal nonlocal_
        nonlocal_ = [1]
    g()
    return nonlocal_[0]
f()

class C:
    def __init__(self): self.items=[]
    def __iter__(self): return iter([1,2])
    def __len__(self): return 2
    def __contains__(self, x): return True
    def __enter__(self): return self
    def __exit__(self,*a): return True
c=C()
list(c)[1], len(c), 5 in c
with c as q:
    undefined_zz
len(q)

class C:
    def __add__(self,o): return 5
    def __radd__(self,o): return 6
    def __eq__(self,o): return True
    def __lt__(self,o): return True
    def __hash__(self): return 1
'a'+C(), C()+'a', C()<3, sorted([C(),C()]), {C():1}

class C:
    @classmethod
    def make(cls, **k): o=cls(); o.__dict__.update(k); return o
C.make(z=1).z

class P:
    def __init__(self): self.a=1
class Q(P):
    def __init__(self): super().__init__(); self.b=self.a+1
Q().b + Q().a

class P:
    def run(self): return self.hook()
class Q(P):
    def hook(self): return 1
Q().run()

class P:
    x = []
    def add(self): self.x.append(1); return self
P().add(); P.x[0]

from dataclasses import dataclass, field
@dataclass
class R:
    a: int
    b: list = field(default_factory=list)
r = R(1)
r.b.append(2)
r.b[0], R(a=1,b=[1]).b

from collections import namedtuple
T=namedtuple('T','a b')
t=T(1,2)
t.a, t._replace(a=3).a, t[1]

from enum import Enum
class E(Enum):
    A=1
E.A.name.lower(), E['A'].value + 1, E(1)

from types import SimpleNamespace
n=SimpleNamespace(a=1)
n.b=2
n.a+n.b

import types
m=types.ModuleType('m')
m.x=1
m.x

class Meta(type):
    def __getattr__(cls,n): return 1
class M(metaclass=Meta): pass
M.anything

class A:
    __slots__=('x',)
a=A()
a.x=1
a.x

del d['x']
d['x']=3
d['x']

del df
df = pd.DataFrame({'q':[1]})
df['q']

if 'undefined_thing' not in globals():
    undefined_thing = 5
undefined_thing

try:
    undefined_thing
except NameError:
    undefined_thing = {}
undefined_thing.get(1)

try:
    df['nope']
except KeyError:
    df['nope']=0
df['nope'].sum()

if not hasattr(h,'zip'):
    h.zip = 1
h.zip

if 'nope' not in df.columns:
    df['nope'] = 1
df['nope']

if 'nope' in df:
    df['nope'].sum()

for col in ['a','nope','b']:
    if col not in df.columns: continue
    df[col].mean()

val = df['nope'] if 'nope' in df.columns else df['a']

x = d.get('nope') or 'default'
x.upper()

x = getattr(h,'nope',None)
if x is not None: x.foo()

isinstance(d, list) and d[0]

(y := d.get('x')) and y + 1

print(f"{df['a'].mean():>{10}.{2}f} {d['x']!r:>5} {'nested'[0]} {lst[-1]:03d}")

match d:
    case {'zzz': z}: z.foo()
    case {'x': int(v)}: v + 1

match lst:
    case [a, b, c]: undefined_qq
    case [a, b]: a + b

while True:
    try:
        lst.pop()
    except IndexError:
        break

import warnings
with warnings.catch_warnings():
    warnings.simplefilter('error')
    try:
        np.log(np.array([0.0]))
    except RuntimeWarning: pass

with np.errstate(divide='ignore'):
    np.array([1.])/0

np.array([1.])/0

np.float64(1)/0

np.int64(1)//0

with pd.option_context('display.max_rows', 5):
    df.head()

import random
if random.random() > 2: undefined_thing

import time
if time.time() < 0: undefined_thing

import os
if os.environ.get('NOPE_X'): undefined_thing

if np.random.rand() > 2: df['nope']

assert df.shape[1] == 2, df['nope']

import sys
if len(sys.argv) > 1000: sys.exit(1)
x=1

def main():
    if True: return
    undefined_thing
main()

lambda: undefined_thing

sorted(d.items(), key=lambda kv: kv[1])[0][0].upper()

dict(zip('abc', range(3)))['c']

{k: v for k, v in zip(['a'], [1])}['a']

[x for xs in [[1],[2,3]] for x in xs][2]

max(lst, key=lambda v: -v), min(d, default=None), sum(map(float, ['1','2']))

''.join(str(i) for i in range(5))[4]

a = b = c = 0
a += 1; b -= 1
[a,b,c][2]

(lambda x, *a, k=1, **kw: kw['z'])(1, 2, z=3)

[*range(3)][2], {**d, 'n': 1}['n'], (*lst, 9)[2]

x, (y, *z) = 1, (2, 3, 4)
z[1]

for i, (k, v) in enumerate(d.items()): print(i, k.upper(), v + 1)

s = set(); s |= {1}; s.add(2); sorted(s)[1]

import itertools
list(itertools.product('ab', repeat=2))[3]

from collections import defaultdict, Counter, deque, OrderedDict
dd2=defaultdict(lambda: defaultdict(int))
dd2['a']['b'] += 1
dd2['q']['r']

from collections import Counter
Counter('aab')['zz'] + 1, Counter('aab').most_common(1)[0][0]

from collections import ChainMap
ChainMap(d, {'zz':1})['zz']

import copy
c2=copy.deepcopy(d)
c2['n']=1
c2['n']

import json
json.loads('{"a": [1,2]}')['a'][1]

x = input if False else (lambda p='': '3')
int(x('?')) + 1

__name__ == '__main__' and __builtins__ is not None

_ = 5
_ + 1

print = lambda *a: len(a)
print(1,2) + 3

list = [1,2]
list[0]

sum = 0
for i in range(3): sum += i
sum + 1

str = 'abc'
str.upper()

id = df['a']
id.mean()

max = df['a'].max()
max + 1

def len(x): return 7
len(3)

input = df[['a','b']]
input.values[0,1]

type = 'x'
type + 'y'

dir = '/tmp'
file = dir + '/x'

from torch.nn import functional as F
F.relu(torch.zeros(2)-1)

import torch as np2
np2.zeros(2).view(2,1)

np = torch
np.zeros(3).unsqueeze(0)

pd = df
pd['a']

np.array([True, False])[0] = [1, 2]

whole = np.zeros(3, dtype=int)
whole[0] = [1, 2]

np.array([(1, 2.0)], dtype=[('x', int), ('y', float)])['z']

import numpy as pd
pd.zeros((2,3)).T[2]
"""


UNSEEN = """
import contextlib, functools
rec = {'name': 'x'}; xs = [1, 2, 3]; calls = []; last = 99; n = 5
err = ValueError('x'); Other = ValueError
def safe(fn):
    @functools.wraps(fn)
    def w(*a):
        try: return fn(*a)
        except Exception: return None
    return w
@safe
def kept(x): return x['nope']
def made(x): yield x['nope']
async def awaited(x): return x['nope']
def quiet(x):
    with contextlib.suppress(KeyError): return x['nope']
def lazy(x): return (x['nope'] for _ in xs)
class Five:
    def __new__(cls, *a): return 5
    def __init__(self, x): x['nope']
class Meta(type):
    def __call__(cls, *a): return 7
class Seven(metaclass=Meta):
    def __init__(self, x): x['nope']
class Loud:
    def __getitem__(self, i): calls.append(i); return i
    def __iter__(self): calls.append(1); return iter([1])
    def __len__(self): calls.append(1); return 2
    def __str__(self): calls.append(1); return 'x'
    def __lt__(self, other): calls.append(1); return True
    def __iadd__(self, other): calls.append(1); return self
    @property
    def prop(self): calls.append(1)
class Louder(Loud): pass
loud = Loud(); louder = Louder()
"""
OF_UNSEEN = r"""
kept(rec)

made(rec)

awaited(rec).close()

quiet(rec)

lazy(rec)

Five(rec) + Seven(rec)

(rec['nope'] for _ in xs)

list(rec['nope'] for _ in xs)

@safe
def f(x): return x['nope']
f(rec)

@safe
def f(x): return x.foo
f(n)

class K:
    def __new__(cls, x): return 5
    def __init__(self, x): x['nope']
K(rec) + 1

class K(metaclass=Meta):
    def __init__(self, x): x['nope']
K(rec) + 1

def f(x):
    with contextlib.suppress(KeyError): return x['nope']
f(rec)

def f(x):
    with open('/dev/null'): return x['nope']
f(rec)

loud[0]; calls[0]

loud[0]
calls = []
len(loud); calls[0]

for _ in loud: pass
calls[0]

a, = loud; calls[0]

f'{loud}'; calls[0]

sorted([loud, loud]); calls[0]

loud += 1; calls[0]

louder.prop; calls[0]

class K:
    def __init_subclass__(cls): calls.append(1)
class J(K): pass
calls[0]

class K:
    def __set_name__(self, owner, name): calls.append(1)
class J: a = K()
calls[0]

class Seen:
    def on_end(self): calls.append(1)
import functools
functools.partial(lambda each: each.on_end(), Seen())(); calls[0]

loud.__class__ = dict; loud['nope']

loud.__class__ = Louder; loud.prop; calls[0]

raise err

raise Other

raise 'x'

raise NotImplemented

raise IOError('x')

def f(): raise
f()

class Own(Exception):
    def __init__(self, a): self.a = a
raise Own()

assert n == 6, rec['nope']

[last := i for i in range(3)]; xs[last]

any((last := v) > 1 for v in xs); xs[last - 1]

def f():
    [last := v for v in xs]
    return xs[last - 1]
f()

class K:
    global last
    last = 0
xs[last]
"""


def each(setup: str, targets: str) -> list[tuple[str, str]]:
    return [
        (
            setup + LAYERS if setup is PYTHON and ASKS_LAYERS.search(target) else setup,
            target,
        )
        for target in targets.strip().split("\n\n")
    ]


@pytest.mark.parametrize(
    ("setup", "target"),
    [
        *each(FRAMES, OF_FRAMES),
        *each(LABELLED, OF_LABELS),
        *each(ESTIMATORS, OF_ESTIMATORS),
        *each(PYTHON, OF_PYTHON),
        *each(UNSEEN, OF_UNSEEN),
    ],
)
def test_what_is_predicted_comes(predict_here, setup, target):
    seen = predict_here(setup, target)
    assert not seen.errors
    assert seen.exception in (None, seen.raised), (seen.findings, seen.error)


@pytest.mark.parametrize(
    "target",
    [
        "[new := i for i in xs]; new",
        "any((new := i) for i in xs); new",
        "class K:\n    global new\n    new = 1\nnew",
    ],
)
def test_code_alone_knows_what_gives_a_name_a_value(predict_by_code, target):
    assert predict_by_code("xs = [1]", target).findings == ()


@pytest.mark.parametrize(
    "target",
    [
        "list(rec['nope'] for _ in xs)",
        "def f(x):\n    with open('/dev/null'): return x['nope']\nf(rec)",
    ],
)
def test_what_passes_errors_on_is_followed(predict_here, target):
    assert predict_here(UNSEEN, target).exception == "KeyError"


FILES = """
import os, shutil, zipfile, subprocess, numpy as np, pandas as pd, scipy.io as sio
from pathlib import Path
df = pd.DataFrame({'a':[1,2],'c':['x','y']})
os.makedirs('src'); df.to_csv('src/d.csv'); np.savetxt('g.txt.gz', [1.0]); sio.savemat('m.mat', {'x':1})
df.to_csv('~/in_home.csv')
with zipfile.ZipFile('z.zip', 'w') as z: z.write('src/d.csv')
def write(name): open(name + '.csv', 'w').write('a')
"""
OF_FILES = r"""
pd.read_csv('~/in_home.csv')

np.loadtxt('g.txt')

sio.loadmat('m')['x']

os.makedirs('a/b')
os.listdir('a')

(Path('src')/'x.csv').write_text('a,b')
pd.read_csv('src/x.csv')

shutil.copytree('src', 'new')
pd.read_csv('new/d.csv')

with zipfile.ZipFile('z.zip') as z:
    z.extractall('o')
pd.read_csv('o/src/d.csv')

np.save('one', np.ones(2))
np.load('one.npy')

subprocess.run(['cp', 'src/d.csv', 'd.csv'])
pd.read_csv('d.csv')

for name, part in df.groupby('c'):
    part.to_csv(f'{name}.csv')
pd.read_csv('x.csv')

list(map(write, ['u', 'v']))
pd.read_csv('u.csv')

import sqlite3
sqlite3.connect('s.db').execute('create table t (a int)')
open('s.db', 'rb').read()

open('f', opener=lambda path, flags: os.open('src/d.csv', flags)).read()

head = df.head()
pd.read_csv('nope.csv')
"""


@pytest.mark.parametrize("target", OF_FILES.strip().split("\n\n"))
def test_a_file_may_be_made_before_it_is_read(
    predict_here, tmp_path, monkeypatch, target
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    seen = predict_here(FILES, target)
    assert not seen.errors
    assert seen.exception == seen.raised, (seen.findings, seen.error)


def test_a_kernel_tells_which_names_share_an_object_and_that_its_shell_holds_them_is_no_news(
    predict_in_kernel,
):
    seen = predict_in_kernel(
        "a = [1]\nb = a\nc = [2]\nbox = {'c': c}\nd = [3]\na", "a, b, box, c, d"
    )
    assert seen.state.captured["same"] == [["a", "b"]]
    assert seen.state.captured["held"] == ["c"]

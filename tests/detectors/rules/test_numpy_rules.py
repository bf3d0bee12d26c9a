"""NumPy's rules beside NumPy: each target is predicted and then run for real."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SETUP = """\
import numpy as np
a=np.arange(12).reshape(3,4)
b=np.ones((4,3))
v=np.array([1.,2.,3.])
w=np.arange(4)
t=np.array(['1','x','2'])
m=np.array([True,False,True])
o=np.array([1,None,2.5],dtype=object)
L=[1,2,3,4]
nn=np.array([1.0,np.nan,3.0])
z=np.zeros((0,3))
st=np.array([(1,2.0)],dtype=[('p',int),('q',float)])
rng=np.random.default_rng(0)
neg=np.array([-1,2,3])
c4=np.zeros((2,3,4,5))
i=2
k=7
fl=1.5
mat=np.eye(3)
ma=np.ma.array([1,2,3])
ragged=[[1,2],[3]]
parts=[np.zeros(3),np.zeros(4)]
same=[np.zeros(3),np.zeros(3)]
"""
CRASHES = """\
a[:len(a)*0.8]
a[1,:2.0]
a[4/2:]=0
a+b
a+v
a@v
v@w
np.dot(a,v)
np.matmul(a,a)
np.matmul(a,3)
a[3]
a[-4]
a[0,4]
a[0,0,0]
a[...,5]
a[1:,7]
a[[0,5]]
a[[0,1],[1,2,3]]
a["x"]
st["r"]
a[1.0]
a[fl]
a[np.array([True,False])]
a[w>1]
v[3]
v[k]
v[i+1]
a[i][k]
a.T[4]
a.shape[2]
x,y,q=a.shape
x,y=a
x,y,q,r=a
if a: pass
if v>1: pass
bool(v)
not v
v and True
a.reshape(5,-1)
a.reshape((3,5))
np.reshape(a,(2,7))
a.sum(axis=2)
a.sum(axis=0)+v
a.mean(axis=(0,2))
np.mean(a,axis=2)
np.sum(v,axis=1)
np.max(z)
z.max()
z.max(axis=0)
np.argmax(z)
np.max([])
t.mean()
np.mean(t)
np.sum(t)
t.astype(float)
t.astype(int)
t+1
1+t
a&v
m-m
-m
~v
v&m
a.append(5)
a.iloc[0]
a.index(3)
a.value_counts()
v.numpy()
v.to_list()
np.concatenate([a,b])
np.concatenate([a,v])
np.concatenate(a,b)
np.concatenate([a,a],axis=2)
np.concatenate([])
np.concatenate([1,2])
np.vstack([a,v])
np.vstack(a,a)
np.vstack((v,w))
np.hstack([a,b])
np.hstack([a,v])
np.column_stack([v,w])
np.stack([v,w])
np.stack(parts)
np.vstack(parts)
np.array(parts)
np.array(ragged)
np.array([[1,2],[3,4]])@v
np.array([[1,2],[3]])
np.append(a,[1,2,3,4],axis=0)
np.split(v,2)
np.split(a,5)
p,q,r=np.split(w,2)
np.bincount(v)
np.bincount(a)
np.bincount(w,weights=v)
np.linalg.inv(a)
np.linalg.inv(v)
np.linalg.det(a)
np.linalg.solve(mat,w)
np.linalg.cholesky(a)
np.linalg.eig(a)
np.linalg.lstsq(a,w,rcond=None)
np.zeros(3.5)
np.zeros((3,2.0))
np.zeros(3)+np.ones(4)
np.ones((2,3))[2]
np.zeros(3,2)
np.full((2,2),7)[2]
np.eye(3)@w
np.linspace(0,1,5)[5]
np.linspace(0,1,num=10.0)
np.arange(10)[10]
np.arange(0,10,2)[5]
np.arange(5)+np.arange(6)
np.random.rand(3,4)[3]
np.random.rand((3,4))
np.random.randn(3)@np.random.randn(4)
np.random.randint(5,5)
np.random.randint(0)
np.random.randint(0,10,(3,3))[3]
np.random.choice(a)
np.random.choice(v,5,replace=False)
np.random.choice(3,5,replace=False)
np.random.choice(v,p=[.5,.5])
rng.choice(v,4,replace=False)
rng.normal(size=3)+w
rng.integers(5,3)
rng.integers(0,5,4)+v
rng.rand(3)
np.random.normal(0,1,100)[100]
np.float(3)
np.int
np.object
np.NaN
np.Inf
np.product([1,2])
np.isnan(o)
np.isnan(t)
np.sqrt(t)
np.log(t)
np.exp(v)+w
np.where(v>1,a,0)
np.where(w>1,w,v)
np.savetxt('x.txt',c4)
np.interp([1],v,w)
np.polyfit(v,w,1)
np.corrcoef(v,w)
np.transpose(a,(0,1,2))
np.transpose(a,(1,0))[0,3]
a.transpose(0,2)
np.expand_dims(v,2)
np.squeeze(a,axis=0)
a.squeeze(1)
a.swapaxes(0,2)
a.flatten()[12]
a.item()
a[0]=[1,2]
a[0,0]='x'
a[0,0]=None
a[5]=1
a[:,4]=1
a[:2]=v
a[1]=b
v[:2]=[1,2,3]
v[0]=[1,2]
a+=1.5
a+=v
w+=0.5
w/=2
v+=w
v+=a
v[5]+=1
a/b
a==b
a<b
a==v
np.take(v,5)
np.delete(v,5)
np.delete(v,1)[2]
np.delete(a,1,axis=0)[2]
np.repeat(v,2)+w
np.diff(v)[2]
np.diff(v)+v
np.percentile(a,50,axis=2)
np.percentile(v,[25,75])[2]
np.median(a,axis=1)+w
np.cumsum(a)[12]
np.cumsum(a,axis=1)[0,4]
len(np.array(5))
len(v[0])
for x in v[0]: pass
for r in a: r[4]
for x,y in a: pass
for i in range(4): a[i]
for i in range(5): v[i]
[v[i] for i in range(4)]
v.mean()[0]
np.clip(v,0,1)+w
np.round(v,1)[3]
np.abs(v)[3]
np.abs(L).append(1)
np.maximum(v,w)
np.outer(v,w)[3]
X,Y=np.meshgrid(v,w); X+v[:,None]
a.size[0]
a.ndim()
a.shape()
a.T()
np.array([1,2,3])*[1,2]
[1,2]*np.array([1,2,3])
np.array(L)[4]
np.asarray(L).reshape(3,2)
np.array([[1,2],[3,4]]).sum(axis=2)
np.array(['a','b']).astype(float)
v[1:][2]
v[1:]+v
np.random.permutation(3)[3]
np.zeros_like(a)[3]
np.ones_like(v)+w
""".splitlines()
FINE = """\
a[:int(len(a)*0.8)], a[:round(1.5)], a[:len(a)//2]
a+w
a*v[:,None]
a@b
a@w
b@a
v@v
a.dot(b)
np.dot(a,w)
np.dot(a,3)
a[2]
a[[0,2],[1,3]]
st["p"]
a[m]
a[m,0]
a[a>5]
a[v>1]
v[v>1][0]
v[i]
a.T[3]
a.shape[1]
x,y=a.shape
x,y,q=a
if v.size: pass
if len(v): pass
a.reshape(2,6)
a.reshape(-1,6)
a.reshape(12)
a.sum(axis=1)+v
a.mean(axis=(0,1))
z.max(axis=1)
z.sum()
o.astype(float)
nn.astype(int)
t+t
a&1
~a
m+m
v>1&m
(v>1)&m
L.append(a)
np.concatenate([a,a])
np.concatenate([a,b.T],axis=1)
np.vstack([a,w])
np.hstack([v,w])
np.hstack([a,v[:,None]])
np.column_stack([v,v])
np.column_stack([v,a])
np.stack([v,v]).shape
np.stack(same)
np.concatenate(parts)
np.hstack(parts)
np.array(ragged,dtype=object)
np.append(a,[[1,2,3,4]],axis=0)
np.append(a,5)
np.append(v,w)
np.split(a,3)
np.array_split(v,2)
p,q=np.split(w,2)
np.bincount(w)
neg[0]=1; np.bincount(neg)
np.bincount(neg[1:])
np.bincount(neg+1)
np.bincount(abs(neg))
np.histogram(v)
np.histogram(nn,bins=[0,1,2])
np.histogram(nn,range=(0,1))
np.linalg.inv(mat)
np.linalg.solve(mat,v)
np.linalg.lstsq(a,v,rcond=None)
np.linalg.pinv(a)
np.linalg.norm(a)
np.linspace(0,1,10)[9]
np.arange(0,1,.1)[9]
np.random.randint(5)
np.random.choice(3,5)
np.random.choice(v,p=[.5,.25,.25])
rng.choice(a)
rng.normal(0,1,(3,4))+w
np.bool
np.float64(3)
np.nan
np.isnan(v)
np.where(v>1,v,0)
np.savetxt('x.txt',a)
np.interp([1],v,v)
np.polyfit(v,v,1)
np.corrcoef(v,v)
a.T.shape[0]+1
np.transpose(a,(1,0))[3,0]
np.expand_dims(v,1)+w
np.squeeze(v[None],axis=0)
a.ravel()[11]
v[0].item()
a[0]=[1,2,3,4]
a[0,0]='3'
v[0]=np.nan
v[0]=None
a[:,0]=v
a[m]=5
v+=1
v*=2
v[0]+=1
np.take(v,2)
np.unique(a)[0]
np.diff(v)+v[1:]
np.argsort(v)[::-1][:2]
v[np.argsort(v)]
v[np.argmax(v)]
for r in a: r[3]
for x,y,p,q in a: pass
for i in range(3): a[i]
for i in range(len(v)): w[i]
v.sum().round(2)
ma[0]=5
np.add(v,v)
np.outer(v,w)[2,3]
np.meshgrid(v,w)[0].shape
X,Y=np.meshgrid(v,w)
a.shape=(2,6)
a.shape
a.dtype.name
zip(a,b)
sum(a)
np.sum(a+1)
"x" in a
np.array(L)[3]
np.array(['1','2']).astype(float)[1]
v[:-1]+v[1:]
v[None]@a
np.random.seed(0)
np.random.shuffle(v)
n,=np.array([(1,2.),(3,4.)],dtype=[("x","i4"),("y","f8")]).shape
n,=np.array([(1,2),(3,4)],dtype="i4,i4").shape
m,n=np.zeros(2,dtype="3i4").shape
""".splitlines()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets may write files."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("setup", "target"), [(SETUP, target) for target in CRASHES])
def test_what_raises_is_predicted_by_its_class(
    check: Callable[[str, str], Any], setup: str, target: str
) -> None:
    assert check(setup, target).raised


@pytest.mark.parametrize(("setup", "target"), [(SETUP, target) for target in FINE])
def test_nothing_is_said_of_what_runs_through(
    check: Callable[[str, str], Any], setup: str, target: str
) -> None:
    assert not check(setup, target).raised

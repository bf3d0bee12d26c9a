"""Frames, arrays and series as notebooks change them: each target is predicted and then run for real."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SETUP = """\
import numpy as np, pandas as pd
df=pd.DataFrame({"id":[1,2,3],"Name":["a","b","c"],"age":[20,None,30],"when":["2020-01-01","2020-02-01","2020-03-01"],"price":["$1","$2","$3"],"flag":[True,False,True]})
sales=df.copy()
a=np.random.rand(10,3)
y=np.zeros(10)
X=df[["id","age"]]
idx=df.index
s=df["age"]
g=df.groupby("Name")
two=pd.concat([df,df])
emp=df[df.id>99]
cols=df.columns
ints=np.array([1,2,3])
mixed=["a",1]
d={"a":[1,2],"b":[3]}
wide=pd.DataFrame(np.zeros((3,30)))
m2=pd.DataFrame({("a","x"):[1],("a","y"):[2]})
strs=np.array(["a","b"])
st=pd.Series(["1","2"],index=["p","q"])
dt=pd.to_datetime(df["when"])
"""
CRASHES = """\
df["price"].astype(float)
df["price"].mean()
df["age"].astype(int)
two.loc[5]
two.iloc[6]
emp.iloc[0]
emp["id"].iloc[0]
emp["id"].values[0]
for i in range(len(df)+1): df.iloc[i]
for c in ["id","agee"]: df[c]
[df[c] for c in ["id","agee"]]
X["Name"]
X.loc[:,"Name"]
a[:,3]
a-a.mean(axis=1)
a@a
a@y
np.hstack((a,y))
np.concatenate((a,y),axis=1)
a[:5].reshape(4,4)
a.reshape(-1)[30]
train,test=a[:8],a[8:]; train+test
train,test=a[:8],a[8:]; test[2]
x0,x1=a
for r in a: r[3]
for i in range(a.shape[0]): a[i,i]
strs.astype(int)
strs+1
pd.DataFrame(d)
pd.DataFrame(a,columns=["x","y"])
pd.DataFrame(a,columns=list("xyz"))["w"]
pd.DataFrame(a)[[0,3]]
pd.DataFrame({"p":y,"q":ints})
wide[30]
wide["5"]
m2["b"]
st["z"]
st+1
st.loc["z"]
st.iloc[2]
g["Age"].mean()
dt.year
dt.str[:4]
df["when"].dt.month
df[df["flag"]==True]["zz"]
df["id"].str.len()
df["Name"]*df["age"]
df["Name"]+df["id"]
df["id"].apply(lambda v: v.strip())
df.apply(lambda r: r["Name"]+r["nme"],axis=1)
df["id"].apply(lambda v: v["x"])
df.rename(columns={"Name":"name"}).sort_values("Name")
df.columns=[c.lower() for c in df.columns]; df["Name"]
df.set_index("id")["id"]
df.pivot_table(index="Name",values="agee")
df.merge(sales,on="id")["age"]
df.sort_values(by=["Name","zz"],ascending=[True,False])
df.drop("zz",axis=1)
df.drop(["id"],axis=1,errors="ignore")["id"]
df.drop(columns=cols[0])["id"]
df.loc[df["id"]>1,["Name","zz"]]
if df["id"]==1: pass
while df.id>0: break
df["new"]=df["id"].values[:2]
df["new"]=a[:,0]
df["new"]=list(range(4))
df["new"]=np.where(a[:,0]>1,"a","b")
df.insert(1,"id",5)
a=a.astype(int); a[0,0]="x"
""".splitlines()
FINE = """\
df2=df; df2.drop(columns="id",inplace=True); sales["id"]
df["name"]=df["Name"]; df.drop("Name",axis=1,inplace=True); df["name"].str.upper()
df["price"]=df["price"].str.replace("$","").astype(float); df["price"].mean()
df["age"].fillna(df["age"].mean()).astype(int)
df.dropna().age.astype(int)
df=df.dropna(); df["age"].astype(int)
df["age"]=df["age"].fillna(0); df["age"].astype(int)
df.fillna(0,inplace=True); df["age"].astype(int)
df.age.fillna(0,inplace=True)
two.loc[0,"id"].sum()
two.reset_index(drop=True).loc[5]
two.iloc[5]
emp["id"].mean()
emp["id"].max()
for i in range(len(df)): df.iloc[i]["id"]
for i in idx: df.loc[i,"id"]
for c in df.columns: df[c].nunique()
for c in df.select_dtypes("object").columns: df[c].str.upper()
{c: df[c].dtype for c in df}
df[["id","age"]].values@np.ones(2)
X.values.shape
X=X.copy(); X["Name"]=df["Name"]; X["Name"]
X=X.assign(Name=1); X["Name"]
a[:,0]+y
a-a.mean(axis=0)
a-a.mean(axis=1,keepdims=True)
(a-a.mean(0))/a.std(0)
a@a.T
a.T@y
np.c_[a,y]
np.hstack((a,y.reshape(-1,1)))
np.dot(a.T,y)
a[y==0]
a[y==0,:2]
a[ints]
a[:5].reshape(3,5)
x0,x1,x2=a.T
for i in range(a.shape[1]): a[i,i]
pd.DataFrame(a,columns=list("xyz"))["z"]
pd.DataFrame({"p":y,"q":a[:,0]})["p"]
wide[5]
m2["a"]
m2[("a","x")]
st["p"]
st.astype(int).sum()
g["age"].mean()
g.mean(numeric_only=True)
g.agg(total=("age","sum"),n=("id","count"))["total"]
g.agg({"age":["mean","max"]})["age"]["mean"]
g["id"].agg(["mean","max"])["mean"]
dt.dt.year.astype(str)
df["when"].str[:4].astype(int)
df["flag"]+1
~df["flag"]
df[~df["flag"]]
-df["flag"]
df[df["flag"]]["id"]
df["Name"].str.len().mean()
df["Name"]+df["id"].astype(str)
df["Name"].apply(lambda v: v.strip())
df["age"].map(lambda v: "x" if v>25 else "y")
df.apply(lambda r: r.id*2,axis=1)
df.rename(columns=str.lower)["name"]
df.columns=df.columns.str.lower(); df["name"]
df.set_index("id").loc[1,"age"]
df.set_index("id").reset_index()["id"]
df.merge(sales,on="id")["age_x"]
df.merge(sales[["id"]],on="id",how="left")["age"]
df.merge(sales,left_on="id",right_index=True)
df.drop(cols[:2],axis=1)["age"]
df.loc[1:,"Name"]
df.query("id > 1")["Name"]
df.isna().sum()["age"]
df.describe()["id"]["mean"]
df.mean(numeric_only=True)["id"]
df["age"].value_counts().index[0]
df.id.idxmax()
if df["id"].isnull().any(): pass
df["new"]=a[:3,0]
df["new"]=pd.Series([1,2])
df["new"]=[x for x in df["id"]]
df["new"]=list(range(3))
df["new"]=np.where(df["id"]>1,"a","b")
df["new"]=pd.cut(df["age"],bins=[0,25,50],labels=["y","o"])
try:\\n    df["zz"]\\nexcept KeyError:\\n    pass
x=df["zz"] if "zz" in df.columns else 0
x=df["zz"] if "zz" in df else 0
if "zz" not in df.columns: df["zz"]=1\\ndf["zz"]
if "zz" in df.columns:\\n    df=df.drop("zz",axis=1)
df.get("zz")
df.reindex(columns=["id","zz"])["zz"]
df.filter(like="i")["id"]
df.loc[len(df)]=[4,"d",1.0,"2020","$4",True]; df.loc[3]
df.at[5,"id"]=3; df["id"]
df.eval("q=id*2")["q"]
df.eval("q=id*2",inplace=True); df["q"]
df.update(sales); df["id"]
df.zz=5; df.zz
def f(d): d["zz"]=1\\nf(df); df["zz"]
def f(d):\\n    d=d.copy(); d["zz"]=1; return d\\nf(df)["zz"]
for d_ in [df,sales]: d_["zz"]=1\\ndf["zz"]
df=df.pipe(lambda d: d.assign(zz=1)); df["zz"]
a.resize(5,6); a[4,5]
a.shape=(3,10); a[2,9]
b=a.view(); b[0]=5; a.max()
""".splitlines()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets may write files."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("setup", "target"), [(SETUP, target) for target in CRASHES])
def test_what_raises_is_predicted_by_its_class(
    check: Callable[[str, str], Any], setup: str, target: str
) -> None:
    assert check(setup, target.replace(r"\n", "\n")).raised


@pytest.mark.parametrize(("setup", "target"), [(SETUP, target) for target in FINE])
def test_nothing_is_said_of_what_runs_through(
    check: Callable[[str, str], Any], setup: str, target: str
) -> None:
    assert not check(setup, target.replace(r"\n", "\n")).raised

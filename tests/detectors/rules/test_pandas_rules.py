"""Rules about pandas beside pandas: each target is predicted and then run for real."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SETUP = """\
import numpy as np, pandas as pd
df=pd.DataFrame({"a":[1,2,3,4],"b":[1.5,np.nan,2.5,3.5],"c":["x","y","x","z"],"d":["1","2","oops","4"],"when":["2020-01-01","2020-01-02","soon","2020-01-04"],"ok":["2020-01-01","2020-01-02","2020-01-03","2020-01-04"]})
num=pd.DataFrame({"p":[1,2,3],"q":[1.0,2.0,3.0]})
other=pd.DataFrame({"a":[1,2],"z":[5,6]})
obj=pd.DataFrame({"o":pd.Series(["u","v",None],dtype=object),"m":pd.Series([1,"k",2.5],dtype=object)})
s=pd.Series([1,2,3])
t=pd.Series(["u","v","w"])
f=pd.Series([1.0,np.nan,3.0])
named=num.set_index("p")
ts=pd.DataFrame({"v":[1,2,3]},index=pd.date_range("2020",periods=3))
dup=pd.DataFrame({"k":["a","a","b"],"j":["x","x","y"],"v":[1,2,3]})
empty=pd.DataFrame()
cols=["a","nope"]
good=["a","b"]
dates=pd.to_datetime(df["ok"])
cat=df["c"].astype("category")
mi=df.groupby(["a","c"]).sum(numeric_only=True)
arr=np.arange(5)
lst=[]
"""
CRASHES = """\
df["A"]
df["nope"]
ts["v"]+"q"
df[["a","nope"]]
df[cols]
df[["a","b"]]["c"]
df["a","b"]
df[0]
df[df["a"]>1]["zz"]
df[df["a"]>1 & df["b"]<3]
df[s>1]
df[np.array([True,False])]
df[[True,False]]
df[num["p"]>1]
df.loc[9,"a"]
df.loc["a"]
df.loc["a",0]
df.loc[:,"nope"]
df.loc[:,["a","nope"]]
df.loc[df.a>1,"nope"]
df.iloc[4]
df.iloc[-5]
df.iloc[0,6]
df.iloc[:,7]
df.iloc[[0,9]]
df.iloc["a"]
df.iloc[0,"a"]
df.iloc[0,0,0]
df.iloc[0]["nope"]
df.iloc[:,1:3]["a"]
df.iloc[:,:-1]["ok"]
X=df.iloc[:,:-1]; y=df.iloc[:,-1]; y.mean()
df.at[9,"a"]
df.iat[0,9]
df["e"]=[1,2,3]
df["e"]=np.arange(3)
df["e"]=arr
df["e"]=(1,2,3)
df["e"]=num
df["n"]=df["a"]*2; df["m"]
del df["nope"]
del df["a"]; df["a"]
df.pop("nope")
df.pop("a"); df["a"]
df.insert(0,"a",1)
df.insert(0,"aa",[1,2])
df.drop("nope",axis=1)
df.drop("a",axis=1)["a"]
df.drop("a")
df.drop(columns=["a","nope"])
df.drop(["a","b"],axis=1,inplace=True); df["a"]
df.drop(index=[9])
df.drop([0,9])
df=df.drop("c",axis=1); df["c"]
df.rename(columns={"a":"A"})["a"]
df.rename(columns={"a":"A"},inplace=True); df["a"]
df2=df; df2.rename(columns={"a":"A"},inplace=True); df["a"]
df2=df.copy(); df2["new"]=1; df["new"]
df.columns=["a","b"]
df.columns=list("uvwxyz"); df["a"]
df.index=[1,2]
df.shape[2]
n,m,k=df.shape
if df: pass
if df["a"]>1: pass
not df
df["a"] and df["b"]
df["c"].mean()
df["d"].mean()
df["c"].std()
df["c"].median()
df.mean()
df.std()
df.corr()
obj["o"].mean()
df["d"].astype(float)
df["d"].astype(int)
df["b"].astype(int)
df["c"].astype(int)
df.astype(float)
df.astype({"nope":float})
df.astype({"d":float})
pd.to_numeric(df["d"])
pd.to_datetime(df["when"])
df["ok"].dt.year
df["a"].str.upper()
df["b"].str.len()
df["c"].dt.year
df["a"].cat.codes
dates.str.upper()
df["c"]+1
df["c"]-1
df["c"]/2
df["c"]>5
1+df["c"]
df["a"]+df["c"]
df["b"]*df["c"]
df["a"]+arr
df["a"]+[1,2]
df["a"]>[1,2]
df["a"]==arr
df["a"]==num["p"]
df["a"]>num["p"]
df["b"]&True
~df["b"]
df["c"].apply(lambda x: x+1)
df["a"].apply(lambda x: x.upper())
df["a"].apply(lambda x: x[0])
df["b"].apply(lambda x: x.split())
obj["o"].apply(lambda x: x.upper())
df["c"].map(lambda x: int(x))
df.apply(lambda r: r["nope"],axis=1)
for i,r in df.iterrows(): r["nope"]
for r in df.iterrows(): r["a"]
for c in df.columns: df[c].mean()
for i in range(len(df)): df["a"][i+1]
df["a"][4]
df["a"]["x"]
s[3]
s[-1]
s.iloc[3]
s.loc[3]
named["p"]
df.groupby("nope")
df.groupby("c")["nope"]
df.groupby("c")["d"].mean()
df.groupby("c").mean()
df.groupby("c")[["a","nope"]].sum()
df.groupby("c")[["a","b"]].mean()["c"]
df.groupby("c")["a","b"].mean()
df.groupby(["c","nope"]).size()
df.groupby("c").agg({"nope":"mean"})
df.groupby("c").agg(x=("nope","mean"))
df.groupby("c")["a"].mean().reset_index()["b"]
df.groupby("c").sum(numeric_only=True)["c"]
df.sort_values("nope")
df.sort_values(["a","nope"])
df.sort_values()
df["a"].sort_values(by="a")
df.set_index("nope")
df.set_index("c")["c"]
df.set_index("c",inplace=True); df["c"]
df.reset_index(drop=True)["index"]
df.drop_duplicates(subset="nope")
df.dropna(subset=["nope"])
df.dropna()["zz"]
df.fillna(0)["zz"]
df.head()["zz"]
df.merge(other,on="z")
df.merge(other,on="nope")
df.merge(other,on="a")["nope"]
df.merge(num)
df.merge(other,left_on="nope",right_on="z")
pd.merge(df,other,on="q")
pd.merge(df,other,left_on="c",right_on="q")
df.join(other)
pd.concat([])
pd.concat([df,other])["zzz"]
pd.concat(df,other)
pd.concat([df,[1,2]])
pd.concat(lst)
df.append(other)
df.append({"a":1},ignore_index=True)
df.pivot(index="a",columns="c",values="nope")
dup.pivot(index="k",columns="j",values="v")
df.pivot("a","c","b")
df.pivot_table(index="nope",values="a")
df.melt(id_vars=["nope"])
df.melt(id_vars="a",value_vars=["b","c"])["b"]
pd.get_dummies(df,columns=["nope"])
df.nlargest(2,"nope")
df.explode("nope")
df.nope
df.c.mean()
df.iteritems()
df.ix[0]
df["a"].tolist()[9]
df.values[4]
df.to_numpy()[0,6]
num.values@np.ones(3)
num["p"].values+np.arange(4)
num.values.reshape(2,2)
df["a"].values[4]
df["a"].reshape(-1,1)
df["a"].to_numpy()[1:]+df["a"].to_numpy()
pd.DataFrame({"a":[1,2],"b":[1,2,3]})
pd.DataFrame({"a":1,"b":2})
pd.DataFrame({"a":[1,2],"b":[3,4]})["c"]
pd.DataFrame(np.zeros((3,2)),columns=["a","b","c"])
pd.DataFrame(np.zeros((3,2)),columns=["a","b"])["c"]
pd.DataFrame(np.zeros((3,2)))["a"]
pd.DataFrame(np.zeros((3,2)))[2]
pd.DataFrame(np.zeros((3,2,2)))
pd.DataFrame([[1,2],[3,4]],columns=["a"])
pd.DataFrame({"a":[1,2]},index=[1,2,3])
pd.Series([1,2,3],index=["a","b"])
pd.Series(np.zeros((2,2)))
pd.Series([1,2,3])[3]
df.query("a>1")["zz"]
df.assign(w=[1,2])
df.assign(w=1)["q"]
df.isnull()["zz"]
df.select_dtypes(include=["number"])["c"]
df.columns[9]
mi["a"]
df.plot(x="nope",y="a")
df[df["c"].isin(["x"])]["nope"]
df["a"].cumsum()[4]
df.sample(2)["nope"]
np.isnan(df["c"])
np.column_stack([df["a"],arr])
df["a"].append(df["b"])
df[df.columns[1:]]["a"]
df[[c for c in df.columns if c!="a"]]["a"]
""".splitlines()
FINE = """\
df["a"]
df[good]
df[0:2]["a"]
df[df.a>1]["b"]
df[(df["a"]>1) & (df["b"]<3)]
df[[True,False,True,False]]
df.loc[0,"a"]
df.loc[df.a>1,"b"].mean()
df.loc[5]=[1,2,"x","1","2020","2020"]
df.loc[0,"new"]=5; df["new"]
df.loc[df.a>1,"flag"]=1; df["flag"]
df.iloc[3]
df.iloc[0,5]
df.iloc[:,-1]
df.iloc[0]["a"]
df.iloc[:,1:3]["b"]
df.at[0,"a"]
df.iat[0,1]
df["e"]=[1,2,3,4]
df["e"]=s
df["e"]=5
df["e"]=range(4)
df["e"]="x"
empty["e"]=[1,2,3]
df[["g","h"]]=0
df["n"]=df["a"]*2; df["n"]+1
df.insert(0,"aa",1); df["aa"]
df.drop(columns=["a","b"])["c"]
df.drop(columns="nope",errors="ignore")
df.drop(index=[0,1])
df.rename(columns={"a":"A"})["A"]
df2=df; df2["new"]=1; df["new"]
df.columns=list("uvwxyz"); df["u"]
df.columns=[c.upper() for c in df.columns]; df["A"]
df.shape[1]
n,m=df.shape
if df.empty: pass
if len(df): pass
if df["a"].any(): pass
df["a"].mean()
df["c"].sum()
df.mean(numeric_only=True)
df.sum()
df.corr(numeric_only=True)
num.corr()
num.mean()
df["a"].astype(str)
df["b"].fillna(0).astype(int)
df["c"].astype("category").cat.codes
df.astype({"a":float})
num.astype(int)
pd.to_numeric(df["d"],errors="coerce")
pd.to_datetime(df["when"],errors="coerce")
pd.to_datetime(df["ok"]).dt.year
df["c"].str.upper()
cat.cat.codes
dates.dt.month
obj["o"].str.upper()
obj["m"].str.upper()
df["c"]+"x"
df["c"]*2
df["c"]>"a"
df["c"]==5
"x"+df["c"]
df["a"]*df["c"]
df["a"]+np.arange(4)
df["a"]+num["p"]
s==f
df["a"]&1
~(df["a"]>1)
df["c"].apply(lambda x: x.upper())
df["a"].apply(lambda x: x+1)
df["a"].map({"q":1})
df.apply(lambda r: r["a"],axis=1)
df.apply(lambda r: r["a"]+r["b"],axis=1)
df.apply(lambda c: c.max())
for i,r in df.iterrows(): r["a"]
for c in df: df[c]
for i in range(len(df)): df["a"][i]
df["a"][0]
s[2]
s.iloc[2]
s.loc[1]
named["q"]
named.loc[1]
named.reset_index()["p"]
named.groupby("p").sum()
named.sort_values("p")
df.groupby("c").sum()
df.groupby("c")["a"].mean()
df.groupby("c").mean(numeric_only=True)
df.groupby("c")[["a","b"]].mean()["a"]
df.groupby("c").agg({"a":"mean"})
df.groupby("c").agg(x=("a","mean"))["x"]
df.groupby("c")["a"].mean().reset_index()["c"]
df.groupby("c").a.mean()
df.groupby(df["c"]).size()
df.groupby("c").size()["x"]
df.groupby("c",as_index=False)["a"].mean()["c"]
df.sort_values("a")
df.set_index("c").loc["x"]
df.reset_index()["index"]
df.drop_duplicates(subset=["a"])
df.dropna(subset=["b"])["b"]
df.fillna(0)["a"]
df.head(2)["a"]
df.merge(other,on="a")["z"]
df.merge(other,left_on="a",right_on="z")["a_x"]
pd.merge(df,other,on="a")["b"]
df.join(other,lsuffix="_l")
df.join(num)["p"]
pd.concat([df,other])["z"]
pd.concat([df,num],axis=1)["q"]
df.pivot(index="a",columns="c",values="b")
dup.pivot_table(index="k",columns="j",values="v")
df.pivot_table(index="c",values="a",aggfunc="sum")
df.melt(id_vars=["a"])["variable"]
pd.get_dummies(df,columns=["c"])
pd.get_dummies(df["c"])
df.nlargest(2,"a")
df.value_counts("c")
df["c"].value_counts()["x"]
df.a
df["c"].unique().shape
df.values.shape
num.values@np.ones(2)
df["a"].values.reshape(-1,1).shape
pd.DataFrame({"a":1,"b":2},index=[0])
pd.DataFrame({"a":[1,2],"b":1})["b"]
pd.DataFrame(np.zeros((3,2)))[1]
pd.DataFrame([[1,2],[3,4]],columns=["a","b"])["a"]
pd.DataFrame([1,2,3],columns=["a"])["a"]
df.assign(w=lambda d: d["a"]*2)["w"]
df.isnull().sum()
df.select_dtypes("number").mean()
df.filter(items=["a"])["a"]
df.describe()["a"]
df.describe().loc["mean","a"]
df.T[0]
df.dtypes["a"]
df.columns[0]
df["a"].rolling(2).mean()
df["a"].quantile(.5)
df["a"].idxmax()
ts.loc["2020-01-01"]
ts["v"]["2020-01-02"]
mi.loc[(1,"x")]
df["a"].plot
df[df["c"].str.contains("x")]["a"]
df[df["c"]=="x"]["b"].values[0]
df["new"]=df["c"].apply(lambda v: len(v)); df["new"].mean()
df["ok"]=pd.to_datetime(df["ok"]); df["ok"].dt.year
df["d"]=df["d"].replace("oops","3").astype(float)
df["d"]=pd.to_numeric(df["d"],errors="coerce"); df["d"].mean()
df["c"]=df["c"].map({"x":1,"y":2,"z":3}); df["c"].mean()
df["c"]=1; df["c"].mean()
df=df[["a","b"]]; df.mean()
df=df.select_dtypes("number"); df.mean()
df=pd.get_dummies(df); df["a"]
df=pd.get_dummies(df); df.mean()
x=df["a"]; x[0]=9; df["a"][0]
df.max()
df.cumsum()
df.info()
df["b"].isna().sum()/len(df)
np.log(df["a"])
np.sqrt(df["b"])
np.concatenate([df["a"],arr])
np.vstack([df["a"],df["b"]])
sum(df["a"])
sorted(df["a"])
zip(df["a"],df["b"])
df["a"].map(str).str.len()
df[df.columns[0]]
df.groupby("c")["a"].transform("mean")
df.groupby("c").filter(lambda g: len(g)>1)
for k,g in df.groupby("c"): g["a"].mean()
df["a"].mean().round(2)
df["a"].std().item()
df["a"].astype("float32").mean().itemsize
df.head().columns.str.upper()
df.rename(columns={"a": "A"}).columns.tolist()
df["a"].where(df["a"]>1, "x").str.upper()
df.mask(df["a"]>1, "x")["a"].str.upper()
df.rename_axis("k").reset_index(names="q")["q"]
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

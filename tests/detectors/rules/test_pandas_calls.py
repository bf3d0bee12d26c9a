"""Calls of pandas with arguments that do not fit it or one another: each target is predicted and then run for real."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SETUP = """\
import matplotlib; matplotlib.use("Agg")
import collections, numpy as np, pandas as pd
df=pd.DataFrame({"id":[1,2,2,3],"g":list("abab"),"v":[1.,2,np.nan,4],"t":["2020-01-01","2020-01-02","2020-01-03","2020-01-04"],"z":[0,1,0,1]})
df["c"]=pd.Categorical(["u","v",None,"u"]); df["k"]=pd.Categorical([1,2,2,1])
ts=df.assign(t=pd.to_datetime(df["t"])).set_index("t")[["id","v"]]
dup=df.set_index("id")["v"]; dupf=dup.to_frame()
idx=pd.date_range("2020-01-01","2020-01-10")
df["eu"]=["01/02/2021","13/02/2021","14/02/2021","15/03/2021"]
te=df.head(2); pred=np.zeros(4)
dd=collections.defaultdict(int,a=1)
words=pd.Series(["b","c"],dtype=object); forms=pd.Series(["%d","%s"],dtype=object)
days=pd.Series([ts.index[0]],dtype="category")
months=pd.Series([1,2],index=pd.period_range("2020",periods=2,freq="M"))
"""
CRASHES = """\
df.iloc[:len(df)*0.8]
df.query("v > 1 and g == a")
pd.to_datetime(df["eu"])
pd.to_datetime(df["eu"],format="%m/%d/%Y")
pd.to_datetime(df["eu"],format="%d-%m-%Y")
df["v"].fillna(method="ffill")
df.fillna(method="bfill")
df.drop(column="v")
df.groupby("g",axis=0)
df.rename(colums={"v":"w"})
df.groupby("g").mean(numeric=True)
df.nlargest(2,"v",3,4)
ts.resample("2M").sum()
ts.resample("Q-DEC").sum()
ts.asfreq("H")
pd.date_range("2020",periods=3,freq="5T")
ts.groupby(pd.Grouper(freq="M")).size()
df.resample("D").mean()
ts.resample("D").mean()["v2"]
df.groupby("g").mean(numeric_only=True)["g"]
df.groupby("g")["v"].mean().dt.year
df.groupby("g")[["v"]].sum().iloc[:,1]
words+1
words>2
words.sort_values().dt.year
df[df["v"]>1]["g"]-1
df.resample("D",on="t").sum()
pd.cut(df["v"],bins=[0,1,2],labels=["a","b","c"])
pd.cut(df["v"],bins=[-np.inf,2,np.inf],labels=["lo","mid","hi"])
df.iloc[:,["v","g"]]
df.iloc[["v","g"]]
pd.DataFrame({"id":te["id"],"p":pred})
pd.DataFrame({"id":te["id"],"x":te["v"],"p":pred})
df["g"].map({"A":0,"B":1}).astype(int)
df["z"].map({1:5}).astype(int)
""".splitlines()
FINE = """\
df.query("v > 1 and g == 'a'"), df.query("v > @pred[0]"), df.query("index > 1")
df["v"].plot(kind="hist",bins=3), df.plot(kind="scatter",x="v",y="z")
te.loc[9]=[1,"a",2.,"t",0,"u",1,"x"]
pd.to_datetime(df["eu"],dayfirst=True), pd.to_datetime(df["eu"],format="%d/%m/%Y")
pd.to_datetime(df["eu"],errors="coerce"), pd.to_datetime(df["eu"],format="mixed",dayfirst=True)
df.mean(numeric_only=True,skipna=True)
df.groupby("g").agg("mean",numeric_only=True)
df.groupby("g")["v"].agg(a="mean",b="max")
df.sort_values("g",ascending=[True])
dup.reindex(dup.index)
df.set_index("id").reindex(["v","g"],axis=1)
ts.resample("ME").mean()
months.resample("M").sum()
ts["2020-01-02":].iloc[1], ts["2020-01-02":"2020-01-03"].iloc[1]
ts.head(2).asfreq("D").to_period()
df.groupby("g").mean(numeric_only=True)["v"], df.groupby("g",as_index=False)["v"].sum()["g"]
forms%5, words*2, words+"x", words==2
days.dt.year, words.str.upper()
ts.resample(pd.Timedelta("1D")).sum()
pd.date_range("2020",periods=3,freq="MS")
pd.cut(df["v"],[0,3,3,5],duplicates="drop")
pd.cut(df["v"],bins=[0,2,np.inf],labels=["lo","hi"])
pd.cut(df["v"],3,labels=False)
pd.qcut(df["v"],q=3,labels=["a","b","c"])
pd.qcut(df["v"],[0,.5,1],labels=["a","b"])
pd.DataFrame({"id":te["id"],"x":df["v"],"p":pred})
pd.DataFrame({"id":te["id"],"p":pred[:2],"k":1})
df["g"].map({"A":0,"B":1}).fillna(0).astype(int)
df["g"].map(dd).astype(int)
df["z"].map({0.0:1,1.0:5}).astype(int)
df["c"].fillna("u")
df["k"].fillna(7)
pd.Series.fillna=lambda self,method: self.ffill(); df["v"].fillna(method="ffill")
""".splitlines()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets may write files, and may add methods to pandas."""
    import pandas as pd

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pd.Series, "fillna", pd.Series.fillna)


@pytest.mark.parametrize("target", CRASHES)
def test_what_raises_is_predicted_by_its_class(
    check: Callable[[str, str], Any], target: str
) -> None:
    assert check(SETUP, target).raised


@pytest.mark.parametrize("target", FINE)
def test_nothing_is_said_of_what_runs_through(
    check: Callable[[str, str], Any], target: str
) -> None:
    assert not check(SETUP, target).raised

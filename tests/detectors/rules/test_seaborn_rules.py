"""Rules about seaborn beside seaborn: each target is predicted and then run for real."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SETUP = """\
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np, pandas as pd, seaborn as sns
plt.close("all")
df=pd.DataFrame({"a":[1,2,3,4],"b":[4,5,6,7],"c":["u","v","w","u"],"d":["p","q","p","q"]})
num=df[["a","b"]]
ind=df.set_index("c")
wide=pd.DataFrame(np.eye(3))
x=np.arange(5)
y=np.ones(4)
"""
CRASHES = """\
sns.boxplot(data=df,x="a",y="nope")
sns.boxplot(df["c"],df["a"])
sns.boxplot("c","a",data=df)
sns.countplot("c",data=df)
sns.countplot(x="C",data=df)
sns.countplot(x="c",data=df,hue="nope")
sns.barplot(df["c"],df["a"])
sns.barplot(x="c",y="zz",data=df)
sns.scatterplot(df["a"],df["b"])
sns.scatterplot(data=df,x="a",y="b",hue="q")
sns.scatterplot(data=df,x="a",y="b",style="zz")
sns.lineplot(data=df,x="aa",y="b")
sns.histplot(data=df,x="nope")
sns.kdeplot(data=df,x="zz")
sns.violinplot(x="c",y="bb",data=df)
sns.stripplot(df["c"],df["a"])
sns.swarmplot(x="c",y="bb",data=df)
sns.catplot(x="c",y="bb",data=df,kind="bar")
sns.catplot(x="c",y="b",col="zz",data=df)
sns.relplot(x="a",y="bb",data=df)
sns.relplot(x="a",y="b",data=df,col="zz")
sns.displot(data=df,x="zz")
sns.displot(data=df,x="a",col="zz")
sns.regplot(x="a",y="bb",data=df)
sns.regplot(df["a"],df["b"])
sns.lmplot(x="a",y="bb",data=df)
sns.lmplot(x="a",y="b",hue="zz",data=df)
sns.lmplot("a","b",data=df)
sns.residplot(x="a",y="bb",data=df)
sns.pairplot(df,hue="zz")
sns.pairplot(df,vars=["a","zz"])
sns.heatmap(df)
sns.heatmap(df.corr())
sns.clustermap(df)
sns.factorplot(x="c",y="a",data=df)
sns.tsplot(df["a"])
fig,ax=plt.subplots(1,2); sns.histplot(df["a"],ax=ax[2])
fig,ax=plt.subplots(2,2); sns.histplot(df["a"],ax=ax[0])
fig,ax=plt.subplots(1,2); sns.histplot(df["a"],ax=ax)
sns.FacetGrid(df,col="zz")
sns.scatterplot(data=df[df.a>1],x="a",y="zz")
sns.boxplot(data=df.melt(id_vars="c",value_vars=["a","b"]),x="variable",y="a")
fig,ax=plt.subplots(1,2); sns.boxplot(data=df,x="c",y="a",ax=ax)
fig,ax=plt.subplots(1,2); sns.heatmap(num,ax=ax)
fig,ax=plt.subplots(1,2); sns.countplot(data=df,x="c",ax=ax)
fig,ax=plt.subplots(1,2); sns.scatterplot(data=df,x="a",y="b",ax=ax)
fig,ax=plt.subplots(1,2); sns.lineplot(data=df,x="a",y="b",ax=ax)
fig,ax=plt.subplots(1,2); sns.kdeplot(data=df,x="a",ax=ax)
fig,ax=plt.subplots(1,2); sns.regplot(data=df,x="a",y="b",ax=ax)
fig,ax=plt.subplots(1,2); sns.violinplot(data=df,x="c",y="a",ax=ax)
fig,ax=plt.subplots(1,2); sns.stripplot(data=df,x="c",y="a",ax=ax)
fig,ax=plt.subplots(1,2); sns.swarmplot(data=df,x="c",y="a",ax=ax)
fig,ax=plt.subplots(1,2); sns.barplot(data=df,x="c",y="a",ax=ax)
fig,ax=plt.subplots(1,2); sns.pointplot(data=df,x="c",y="a",ax=ax)
fig,ax=plt.subplots(1,2); sns.ecdfplot(data=df,x="a",ax=ax)
fig,ax=plt.subplots(1,2); sns.rugplot(data=df,x="a",ax=ax)
fig,ax=plt.subplots(1,2); sns.boxenplot(data=df,x="c",y="a",ax=ax)
""".splitlines()
FINE = """\
sns.boxplot(x="d",y="a",hue="d",data=df,palette={"p":"b","q":"r","z":"g"})
sns.scatterplot(x="a",y="b",hue="d",data=df,palette={"p":"b"},hue_order=["p"])
sns.heatmap(num,annot=num.T.values.T)
sns.boxplot(data=df,x="c",y="a")
sns.boxplot(x=df["c"],y=df["a"])
sns.boxplot(df)
sns.boxplot(num)
sns.countplot(df["c"])
sns.countplot(x="c",data=df)
sns.barplot(x="c",y="a",data=df,hue="d")
sns.scatterplot(data=df,x="a",y="b",size="b",style="d")
sns.scatterplot(x="a",y="b",data=df,hue=df["c"])
sns.lineplot(data=df,x="a",y="b")
sns.lineplot(data=ind,x="c",y="b")
sns.histplot(df["a"])
sns.histplot(data=df,x="a",hue="d")
sns.histplot(df,x="a",bins=3)
sns.kdeplot(df["a"])
sns.violinplot(x="c",y="b",data=df)
sns.pointplot(x="c",y="b",data=df)
sns.catplot(x="c",y="b",data=df,kind="bar")
sns.relplot(x="a",y="b",data=df,col="d")
sns.displot(df["a"])
sns.regplot(x="a",y="b",data=df)
sns.lmplot(x="a",y="b",data=df)
sns.jointplot(x="a",y="b",data=df)
sns.pairplot(df)
sns.pairplot(df,hue="d")
sns.pairplot(df,vars=["a","b"])
sns.heatmap(num)
sns.heatmap(df.corr(numeric_only=True))
sns.heatmap(num.corr(),annot=True)
sns.heatmap(wide,cmap="viridis")
sns.distplot(df["a"])
sns.set_theme(); sns.set_style("whitegrid")
sns.despine()
fig,ax=plt.subplots(1,2); sns.histplot(df["a"],ax=ax[0])
fig,ax=plt.subplots(2,2); sns.histplot(df["a"],ax=ax[0,1])
ax=sns.barplot(x="c",y="a",data=df); ax.set_title("x")
sns.barplot(x=["p","q"],y=[1,2])
sns.barplot(x=df["c"].value_counts().index,y=df["c"].value_counts().values)
sns.lineplot(data=df["a"])
sns.FacetGrid(df,col="d").map(sns.histplot,"a")
sns.scatterplot(data=df.groupby("c").mean(numeric_only=True),x="a",y="b")
sns.boxplot(data=df.melt(id_vars="c",value_vars=["a","b"]),x="variable",y="value")
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

"""Parts of pipelines and votes, folds, categories, checked parameters of scikit-learn: predicted, then run for real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SETUP = """\
import numpy as np, pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, log_loss, make_scorer, roc_curve, silhouette_score
from sklearn.model_selection import GridSearchCV, KFold, RepeatedStratifiedKFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
tr=pd.DataFrame({"a":list("xyxy")*5,"n":np.arange(20.)+.5}); te=pd.DataFrame({"a":list("xyzz"),"n":[1.,2,3,4]})
gaps=pd.DataFrame({"a":["x",None,"y","x"],"n":[1.,2,3,4]})
y=np.array([0,1]*10); yc=np.linspace(.5,3.7,20); one=np.ones(20,dtype=int); X=tr[["n"]]
ct=ColumnTransformer([("cat",OneHotEncoder(),["a"])],remainder="passthrough").fit(tr)
cti=ColumnTransformer([("cat",OneHotEncoder(handle_unknown="ignore"),["a"])]).fit(tr)
v=VotingClassifier([("lr",LogisticRegression()),("svc",SVC())],voting="soft").fit(X,y)
vok=VotingClassifier([("lr",LogisticRegression()),("tree",DecisionTreeClassifier())],voting="soft").fit(X,y)
pf=Pipeline([("s",StandardScaler()),("m",DecisionTreeClassifier())]).fit(X,y)
p=Pipeline([("s",StandardScaler()),("m",DecisionTreeClassifier())])
named=make_pipeline(ColumnTransformer([("n",StandardScaler(),["n"])]),LogisticRegression()).fit(tr,y)
three=pd.Series([1,2,3,1]); said=np.array([1,2,3,3])
svm=SVC().fit(X,y); near=KNeighborsClassifier(n_neighbors=30).fit(X,y)
words=pd.Series(["aa bb","cc dd"]*10)
docs=pd.Series(["a b","c",None]); docso=pd.Series(["a b",None],dtype=object)
skf=StratifiedKFold(n_splits=3); kf=KFold(5)
"""
CRASHES = """\
(said==three).mean(); f1_score(three,said)
svm.predict_proba(X)
near.predict(X)
roc_curve(tr["a"],tr["n"])
named.predict(tr[["a"]])
VotingClassifier([("a",LinearSVC()),("b",LogisticRegression())],voting="soft").fit(X,y).predict(X)
p.steps[-1][1].feature_importances_
pf.named_steps["rf"]
pf.named_steps.rf
pf["clf"]
StratifiedKFold(n_splits=5,random_state=1)
for a,b in skf.split(X,yc): pass
for i,(a,b) in enumerate(RepeatedStratifiedKFold(n_splits=3).split(X,yc)): pass
for a,b in KFold(n_splits=50).split(X): pass
for a,b in kf.split(X,y[:5]): pass
cross_val_score(LinearRegression(),X,yc,scoring="neg_mean_square_error")
GridSearchCV(LogisticRegression(),{"C":[1,2]},scoring="f1score").fit(X,y)
f1_score(y,y,average="marco")
TfidfVectorizer().fit_transform(docs)
TfidfVectorizer().fit_transform(docso)
""".splitlines()
FINE = """\
roc_curve(tr["a"],tr["n"],pos_label="x"), roc_curve(y,tr["n"])
pd.DataFrame({"f":X.columns,"i":pf[-1].feature_importances_})
named.predict(tr[["n"]]), named.predict(tr.assign(q=1))
CalibratedClassifierCV(named,cv=2).fit(tr,y).predict(tr[["n"]])
CalibratedClassifierCV(make_pipeline(TfidfVectorizer(),LinearSVC()),cv=2).fit(words,y).predict(words)
ct.transform(te.head(2))
cti.transform(te)
vok.predict(X)
p.named_steps.keys(), p.named_steps.get("x"), p.named_steps["s"]
pf["m"].feature_importances_, pf[:-1].transform(X)
p.steps[-1][0].upper()
KFold(5,shuffle=True,random_state=1), KFold(random_state=None), RepeatedStratifiedKFold(random_state=1)
g=skf.split(X,yc)
for a,b in skf.split(X,y): X.iloc[a].shape, y[b]
cross_val_score(LogisticRegression(),X,y,scoring="roc_auc",cv=skf)
GridSearchCV(LogisticRegression(),{"C":[1,2]},scoring=["f1","accuracy"],refit="f1").fit(X,y)
GridSearchCV(LogisticRegression(),{"C":[1,2]},scoring=make_scorer(f1_score)).fit(X,y)
f1_score(y,y,average=None)
silhouette_score(X,KMeans(n_clusters=3,n_init=2).fit_predict(X))
log_loss(one,yc/4,labels=[0,1])
make_column_transformer((OrdinalEncoder(),["a"]),("passthrough",["n"])).fit_transform(tr)
make_column_transformer((OrdinalEncoder(),["a"])).fit_transform(gaps)
OneHotEncoder().fit_transform(gaps)
""".splitlines()


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

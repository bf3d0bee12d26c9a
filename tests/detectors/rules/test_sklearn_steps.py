"""Steps of scikit-learn one after the other, as notebooks write them: near misses that run, and what fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.detectors.rules.test_sklearn_rules import SETUP as COMMON

SETUP = (
    COMMON
    + """
X2 = people.drop(columns='pay').assign(city=1.0)
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.ensemble import StackingClassifier, BaggingClassifier, IsolationForest
from sklearn.multioutput import MultiOutputRegressor, MultiOutputClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import (FunctionTransformer, LabelBinarizer, MultiLabelBinarizer, PowerTransformer,
    QuantileTransformer, RobustScaler)
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import FeatureUnion
from sklearn.model_selection import cross_validate, learning_curve, TimeSeriesSplit
from sklearn.metrics import log_loss, silhouette_score, precision_recall_curve, roc_auc_score
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import OneClassSVM
from sklearn.gaussian_process import GaussianProcessRegressor
grid = GridSearchCV(SVC(), {'C': [1, 2]}, cv=2)
known = OneHotEncoder(handle_unknown='ignore')
ct = ColumnTransformer([('num', StandardScaler(), ['age', 'pay']), ('cat', known, ['city'])])
full = Pipeline([('prep', ct), ('model', LogisticRegression())])
dates = X.assign(when=pd.date_range('2020-01-01', periods=n))
intcols = pd.DataFrame(A)
yf = y.astype(float)
obj = X.astype(object)
boolean = pd.Series([True, False] * (n // 2))
cats = people.assign(city=people['city'].astype('category'))
tiny = pd.DataFrame({'a': [1, 2, 3, 4], 'b': [2.0, 3.0, 4.0, 5.0]})
tiny_y = pd.Series([0, 1, 0, 1])
multi = pd.DataFrame({'p': price, 'q': price * 2})
noisy = pd.Series(np.where(np.arange(n) < 2, 0.5, 1.0))
few_na = X.copy(); few_na.loc[0, 'age'] = np.nan
strnum = pd.DataFrame({'a': ['1', '2', '3', '4'] * 20, 'b': ['5', '6', '7', '8'] * 20})
mixed = X.rename(columns={'age': 0})
sparse = OneHotEncoder().fit_transform(people[['city']])
"""
)

CRASHES = {
    "acc probabilities": "accuracy_score(y_test, forest.predict_proba(X_test))",
    "acc float list": "accuracy_score([0,1,1],[0.2,0.9,0.4])",
    "dates": "LogisticRegression().fit(dates,y)",
    "cat text": "LogisticRegression().fit(cats,y)",
    "pipeline text": "make_pipeline(StandardScaler(),LogisticRegression()).fit(people,y)",
    "full missing col": ("full.fit(people,y)\nfull.predict(X)"),
    "full not fitted": "full.predict(people)",
    "ct not fitted": "ct.transform(people)",
    "scaled then fewer": (
        "Xs=scaler.fit_transform(X)\nm=LogisticRegression().fit(Xs,y)\nm.predict(Xs[:, :2])"
    ),
    "fit on train predict on raw": (
        "Xs=StandardScaler().fit_transform(X[['age','pay']])\nm=LogisticRegression().fit(Xs,y)\nm.predict(A)"
    ),
    "scaler array then frame attr": ("Xs=StandardScaler().fit_transform(X)\nXs.head()"),
    "scaler array columns": ("Xs=StandardScaler().fit_transform(X)\nXs['age']"),
    "pred reshape": (
        "m=KNeighborsClassifier()\nm.fit(X_train,y_train)\np=m.predict(X_test)\nmean_squared_error(y_train,p)"
    ),
    "svc proba": ("m=SVC()\nm.fit(X,y)\nm.predict_proba(X)"),
    "linsvc proba": "LinearSVC().fit(X,y).predict_proba(X)",
    "forest predict text": "forest.predict(people[['age','pay','city']])",
    "knn str": "KNeighborsClassifier(n_neighbors='3').fit(X,y)",
    "kmeans 0": "KMeans(n_clusters=0).fit(X)",
    "cv1": "cross_val_score(LogisticRegression(), X, y, cv=1)",
    "kfold1": "KFold(n_splits=1)",
    "predict nan": ("m=LogisticRegression().fit(X,y)\nm.predict(holes)"),
    "gs clf continuous": "GridSearchCV(SVC(),{'C':[1]},cv=2).fit(X,price)",
    "y len cv": "cross_val_score(Ridge(),X,y_train)",
    "encoder 2d": "OneHotEncoder().fit_transform(people['city'])",
    "scaler 1d": "StandardScaler().fit_transform(X['age'])",
    "scaler array 1d": "MinMaxScaler().fit_transform(A[:,0])",
    "imputer text": "SimpleImputer().fit_transform(people)",
    "knn imputer text": "KNNImputer().fit_transform(people)",
    "chi2 negative": "SelectKBest(chi2,k=2).fit(cold,y)",
    "feature names removed": "TfidfVectorizer().fit(texts).get_feature_names()",
    "plot cm": "from sklearn.metrics import plot_confusion_matrix",
    "joblib": "from sklearn.externals import joblib",
    "mse text": "mean_squared_error(yes_no, yes_no)",
    "onehot get names": "hot.get_feature_names()",
    "pca text": "PCA(2).fit(people)",
    "kmeans nan": "KMeans(2).fit(holes)",
    "linreg text y": "LinearRegression().fit(X,yes_no)",
    "X y swapped": "LogisticRegression().fit(y,X)",
}

FINE = {
    "refit on other columns": ("forest.fit(X2, y)\nforest.predict(X2)"),
    "refit scaler": ("scaler.fit(X2)\nscaler.transform(X2)"),
    "refit in loop": (
        "for cols in [['age','pay'],['age']]:\n    forest.fit(X[cols], y)\n    forest.predict(X[cols])"
    ),
    "rfe": "RFE(LogisticRegression(), n_features_to_select=2).fit(X, y).transform(X)",
    "select from": "SelectFromModel(RandomForestClassifier(n_estimators=3)).fit_transform(X, y)",
    "select prefit": "SelectFromModel(forest, prefit=True).transform(X_test)",
    "stack": (
        "StackingClassifier([('a', LogisticRegression()), ('b', DecisionTreeClassifier())], cv=2).fit(X, y).predict(X)"
    ),
    "bag": "BaggingClassifier(DecisionTreeClassifier(), n_estimators=2).fit(holes, y)",
    "iso": "IsolationForest(n_estimators=5).fit_predict(X)",
    "multi": "MultiOutputRegressor(Ridge()).fit(X, multi).predict(X)",
    "multi linear": (
        "m=LinearRegression().fit(X, multi)\nmean_squared_error(multi, m.predict(X))"
    ),
    "forest multi": "RandomForestRegressor(n_estimators=3).fit(X, multi).score(X, multi)",
    "ovr": "OneVsRestClassifier(SVC()).fit(X, grades).predict(X)",
    "function": "FunctionTransformer(np.log1p).fit_transform(X)",
    "function frame": "FunctionTransformer(lambda d: d[['age']]).fit_transform(X).shape",
    "labelbin": "LabelBinarizer().fit_transform(grades).shape",
    "multilabel": "MultiLabelBinarizer().fit_transform([['a'],['b','a']])",
    "power": (
        "PowerTransformer().fit_transform(X)\n"
        "QuantileTransformer(n_quantiles=10).fit_transform(X)\n"
        "RobustScaler().fit_transform(holes)"
    ),
    "calib": "CalibratedClassifierCV(LinearSVC(), cv=2).fit(X, y).predict_proba(X)",
    "union": (
        "fu=FeatureUnion([('a', PCA(2)), ('b', StandardScaler())])\nfu.fit_transform(X).shape"
    ),
    "union parts": (
        "s=StandardScaler()\nfu=FeatureUnion([('b', s)])\nfu.fit(X)\ns.transform(X)"
    ),
    "validate": "cross_validate(full, people, y, cv=2)['test_score']",
    "full": ("full.fit(people, y).predict(people)\nfull.named_steps['model'].coef_"),
    "full steps": (
        "full.fit(people, y)\nfull['prep'].transform(people).shape\nfull[:-1].transform(people)"
    ),
    "grid full": "GridSearchCV(full, {'model__C':[1,2], 'prep__num__with_mean':[True]}, cv=2).fit(people, y)",
    "grid state": ("grid.fit(X, y)\ngrid.predict(X)\ngrid.best_params_['C']"),
    "grid estimator attr": (
        "GridSearchCV(BaggingClassifier(estimator=DecisionTreeClassifier()), "
        "{'estimator__max_depth':[1,2]}, cv=2).fit(X, y)"
    ),
    "grid list": "GridSearchCV(SVC(), [{'kernel':['linear'],'C':[1]},{'kernel':['rbf']}], cv=2).fit(X, y)",
    "grid scorer": (
        "GridSearchCV(Ridge(), {'alpha':[1]}, scoring='neg_mean_squared_error', cv=KFold(3)).fit(X, price)"
    ),
    "lc": "learning_curve(LogisticRegression(), X, y, cv=3)",
    "silh": "silhouette_score(X, KMeans(2, n_init=2).fit_predict(X))",
    "pr": "p,r,t=precision_recall_curve(y_test, forest.predict_proba(X_test)[:,1])",
    "tsne": "TSNE(n_components=2, perplexity=5, max_iter=250).fit_transform(X).shape",
    "nn": "NearestNeighbors(n_neighbors=3).fit(X).kneighbors(X)",
    "nn asked fewer": "NearestNeighbors(n_neighbors=30).fit(few).kneighbors(few, n_neighbors=2)",
    "ocsvm": "OneClassSVM().fit(X).predict(X)",
    "gp": "GaussianProcessRegressor().predict(X)",
    "int columns": (
        "m=LogisticRegression().fit(intcols, y)\nm.predict(X.to_numpy())\nm.predict(intcols)"
    ),
    "named to int columns": "LogisticRegression().fit(X, y).predict(intcols)",
    "float classes": (
        "LogisticRegression().fit(X, yf)\naccuracy_score(yf, pd.Series(y))"
    ),
    "object numbers": "LogisticRegression().fit(obj, y)",
    "bool target": ("f1_score(boolean, boolean)\nLogisticRegression().fit(X, boolean)"),
    "cats encode": "OneHotEncoder().fit(cats[['city']]).transform(cats[['city']])",
    "tiny split": (
        "a,b,c,d=train_test_split(tiny, tiny_y, test_size=0.25)\nKNeighborsClassifier(3).fit(a, c).predict(b)"
    ),
    "few nan split": (
        "a,b,c,d=train_test_split(few_na.dropna(), y.iloc[1:], test_size=0.2)\nLogisticRegression().fit(a,c)"
    ),
    "str numbers": "LogisticRegression().fit(strnum.astype(object), y)",
    "sparse": "LogisticRegression().fit(sparse, y).score(sparse, y)",
    "sparse pca": "TruncatedSVD(2).fit_transform(sparse)",
    "onehot wide": "OneHotEncoder(sparse_output=False).fit_transform(people[['city']])[:, 0]",
    "drop": "OneHotEncoder(drop='first').fit_transform(people[['city']])",
    "ordinal unknown": (
        "OrdinalEncoder(handle_unknown='use_encoded_value', "
        "unknown_value=-1).fit(people[['city']]).transform(elsewhere)"
    ),
    "reshape": "forest.predict(np.array([30, 2000.0, 3.5]).reshape(1, -1))",
    "reshape list": "LinearRegression().fit(X[['age']], price).predict([[3],[4]])",
    "iloc row": "forest.predict(X_test.iloc[[0]])",
    "values": "forest.predict(X_test.values)",
    "loop of scores": (
        "res={}\n"
        "for k in range(1,4):\n"
        "    knn=KNeighborsClassifier(n_neighbors=k)\n"
        "    knn.fit(X_train,y_train)\n"
        "    res[k]=knn.score(X_test,y_test)"
    ),
    "dict of models": (
        "models={'a':LogisticRegression(),'b':SVC()}\n"
        "for k,m in models.items():\n"
        "    m.fit(X_train,y_train)\n"
        "    print(accuracy_score(y_test,m.predict(X_test)))"
    ),
    "def with model": (
        "def ev(m):\n"
        "    m.fit(X_train,y_train)\n"
        "    p=m.predict(X_test)\n"
        "    return f1_score(y_test,p)\n"
        "ev(SVC())\n"
        "ev(DecisionTreeClassifier())"
    ),
    "auc decision": ("m=SVC().fit(X,y)\nroc_auc_score(y,m.decision_function(X))"),
    "auc proba two classes multi": "roc_auc_score(pd.get_dummies(grades), np.random.rand(80,3))",
    "logloss": "log_loss(y_test, forest.predict_proba(X_test))",
    "report text": (
        "m=DecisionTreeClassifier().fit(X, grades)\n"
        "print(classification_report(grades, m.predict(X), target_names=['h','l','m']))"
    ),
    "cm": ("cm=confusion_matrix(y_test,pred)\ntn,fp,fn,tp=cm.ravel()"),
    "timeseries": (
        "for a,b in TimeSeriesSplit(3).split(X):\n    Ridge().fit(X.iloc[a],price.iloc[a])"
    ),
    "kfold": (
        "for a,b in KFold(3).split(X):\n"
        "    Xa,Xb=X.iloc[a],X.iloc[b]\n"
        "    ya=y.iloc[a]\n"
        "    forest.fit(Xa,ya)\n"
        "    forest.predict(Xb)"
    ),
    "chain": "LogisticRegression().fit(StandardScaler().fit_transform(X), y).coef_.shape",
    "assign scaled": (
        "X[['age','pay']]=StandardScaler().fit_transform(X[['age','pay']])\nLogisticRegression().fit(X,y)"
    ),
    "encode column": (
        "people['city']=LabelEncoder().fit_transform(people['city'])\n"
        "RandomForestClassifier(n_estimators=3).fit(people,y)"
    ),
    "encode by loop": (
        "for col in people.select_dtypes(include=['object','str']).columns:\n"
        "    people[col]=LabelEncoder().fit_transform(people[col])\n"
        "RandomForestClassifier(n_estimators=3).fit(people,y)"
    ),
    "map column": (
        "people['city']=people['city'].map({'Bern':0,'Rome':1,'Oslo':2,'Bonn':3})\nLogisticRegression().fit(people,y)"
    ),
    "dropna inplace": (
        "holes.dropna(inplace=True)\nLogisticRegression().fit(holes, y[holes.index])"
    ),
    "fillna assign": (
        "holes['years']=holes['years'].fillna(0)\nLogisticRegression().fit(holes,y)"
    ),
    "impute in place": (
        "holes[:]=SimpleImputer().fit_transform(holes)\nLogisticRegression().fit(holes,y)"
    ),
    "replace inf": (
        "endless.replace([np.inf],0,inplace=True)\nKMeans(2,n_init=1).fit(endless)"
    ),
    "drop text": (
        "people.drop(columns='city',inplace=True)\nLogisticRegression().fit(people,y)"
    ),
    "del text": ("del people['city']\nLogisticRegression().fit(people,y)"),
    "pop text": ("people.pop('city')\nLogisticRegression().fit(people,y)"),
    "rename": (
        "X_test.columns=['a','b','c']\nX_test.columns=X_train.columns\nforest.predict(X_test)"
    ),
    "reorder": (
        "Z=X_test[['years','pay','age']]\nforest.predict(Z[forest.feature_names_in_])"
    ),
    "reindex": "forest.predict(people.reindex(columns=X_train.columns))",
    "target from bins": "LogisticRegression().fit(X, pd.cut(price, 3, labels=False))",
    "astype int": "LogisticRegression().fit(X, price.astype(int))",
    "round": "KNeighborsClassifier().fit(X, price.round())",
    "threshold": "LogisticRegression().fit(X, price > 5000)",
    "ravel": "LinearRegression().fit(X, price.values.reshape(-1,1).ravel())",
    "set_config": (
        "import sklearn\n"
        "sklearn.set_config(transform_output='pandas')\n"
        "r=StandardScaler().fit_transform(X).head()\n"
        "sklearn.set_config(transform_output='default')"
    ),
    "partial fit": (
        "from sklearn.linear_model import SGDClassifier\n"
        "m=SGDClassifier()\n"
        "m.partial_fit(X,y,classes=[0,1])\n"
        "m.predict(X)"
    ),
    "warm": (
        "m=RandomForestClassifier(n_estimators=3,warm_start=True)\nm.fit(X,y)\nm.n_estimators=5\nm.fit(X,y)"
    ),
    "hasattr": "print(hasattr(bare,'coef_'))",
    "getattr": "getattr(bare,'coef_',None)",
    "own attr": ("bare.note_='x'\nprint(bare.note_)"),
    "own coef": ("bare.coef_=np.ones((1,3))\nprint(bare.coef_)"),
    "manual fitted": (
        "m=LogisticRegression()\n"
        "m.classes_=np.array([0,1]); m.coef_=np.ones((1,3)); m.intercept_=np.zeros(1); "
        "m.n_features_in_=3\n"
        "m.predict(A)"
    ),
    "pickle": (
        "import pickle\nm=pickle.loads(pickle.dumps(forest))\nm.predict(X_test)"
    ),
    "deepcopy": ("import copy\nm=copy.deepcopy(forest)\nm.predict(X_test)"),
    "vectorizer objects": "TfidfVectorizer(preprocessor=str).fit(X['age'])",
    "dbscan": "DBSCAN(eps=3).fit_predict(X)",
    "fit with none y": "StandardScaler().fit(X, None)",
    "y frame": "RandomForestClassifier(n_estimators=2).fit(X, y.to_frame())",
    "strat": "train_test_split(X, grades, stratify=grades, test_size=0.5)",
    "nested estimators": (
        "VotingClassifier([('p', make_pipeline(StandardScaler(), SVC())), ('f', "
        "RandomForestClassifier(n_estimators=2))]).fit(X,y)"
    ),
    "set params pipeline": ("drying.set_params(ridge__alpha=3)\ndrying.fit(X,price)"),
    "score r2 list": "r2_score([1,2,3],[1.1,2.2,2.9])",
    "acc list": "accuracy_score([0,1,1],[0,1,0])",
    "acc float preds": "accuracy_score([0,1,1],[0.0,1.0,0.0])",
    "f1 pos": "f1_score(['a','b'],['a','a'],average='weighted')",
    "jaccard multi": (
        "from sklearn.metrics import jaccard_score\n"
        "jaccard_score(pd.get_dummies(grades), pd.get_dummies(grades), average='samples')"
    ),
    "acc indicator": "accuracy_score(pd.get_dummies(grades), pd.get_dummies(grades))",
}


@pytest.mark.parametrize("case", CRASHES)
def test_crash_is_predicted_with_its_class(
    case: str, check: Callable[[str, str], object]
) -> None:
    check(SETUP, CRASHES[case])


@pytest.mark.parametrize("case", FINE)
def test_what_runs_is_left_alone(
    case: str, check: Callable[[str, str], object]
) -> None:
    check(SETUP, FINE[case])

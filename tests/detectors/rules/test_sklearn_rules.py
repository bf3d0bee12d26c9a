"""What notebooks do with scikit-learn: each target runs for real beside the prediction. Half of them are fine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

SETUP = """
import numpy as np, pandas as pd
from sklearn.base import clone
from sklearn.cluster import KMeans, DBSCAN, AgglomerativeClustering
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import (RandomForestClassifier, RandomForestRegressor, GradientBoostingClassifier,
    GradientBoostingRegressor, HistGradientBoostingClassifier, AdaBoostClassifier, VotingClassifier)
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.impute import SimpleImputer, KNNImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, Lasso
from sklearn import metrics
from sklearn.metrics import (accuracy_score, classification_report, confusion_matrix, f1_score, mean_squared_error,
    precision_score, r2_score, roc_auc_score, roc_curve, ConfusionMatrixDisplay, mean_absolute_error)
from sklearn.model_selection import (GridSearchCV, KFold, StratifiedKFold, cross_val_score, train_test_split,
    cross_val_predict, RandomizedSearchCV)
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (LabelEncoder, MinMaxScaler, Normalizer, OneHotEncoder, OrdinalEncoder,
    PolynomialFeatures, StandardScaler)
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

rng = np.random.default_rng(0)
n = 80
X = pd.DataFrame({"age": rng.integers(18, 80, n), "pay": rng.normal(3000, 500, n), "years": rng.uniform(0, 20, n)})
y = pd.Series((X["pay"] > 3000).astype(int), name="rich")
grades = pd.Series(["low", "mid", "high", "mid"] * (n // 4))
yes_no = pd.Series(["yes", "no"] * (n // 2))
price = X["pay"] * 1.7 + rng.normal(0, 10, n)
people = X.assign(city=["Bern", "Rome", "Oslo", "Bonn"] * (n // 4))
holes = X.copy(); holes.loc[5:30, "years"] = np.nan
endless = X.copy(); endless.loc[3, "pay"] = np.inf
A = X.to_numpy()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(X_train, y_train)
scaler = StandardScaler().fit(X_train)
bare = LogisticRegression()
pred = forest.predict(X_test)
texts = pd.Series(["a red house", "a blue car", "the sea", "red sea"] * 20)
encoder = LabelEncoder().fit(["cat", "dog"])
hot = OneHotEncoder().fit(people[["city"]])
drying = make_pipeline(StandardScaler(), Ridge())
same = pd.Series(["yes"] * n)
said = grades.to_numpy(dtype=object)
few, few_y, none, none_y = X[:3], y[:3], X[:0], y[:0]
cold = X - 5000
elsewhere = pd.DataFrame({"city": ["Bern", "Paris"]})
lonely = pd.Series([0, 1, 2] + [1] * (n - 3))
trained = make_pipeline(StandardScaler(), Ridge()).fit(X, price)
"""

CRASHES = {
    "predict before fit": "bare.predict(X_test)",
    "score before fit": "bare.score(X_test, y_test)",
    "predict of a new one": "m = KNeighborsClassifier(n_neighbors=3)\nm.predict(X_test)",
    "transform before fit": "s = StandardScaler()\nX2 = s.transform(X)",
    "pipeline that was never fitted": "drying.predict(X)",
    "pipeline of which copies were fitted": "cross_val_score(drying, X, price, cv=3)\ndrying.predict(X)",
    "forest that a search copied": (
        "rf = RandomForestClassifier(n_estimators=3)\ng = GridSearchCV(rf, {'max_depth': [2, 3]}, cv=2)\n"
        "g.fit(X, y)\nrf.predict(X)"
    ),
    "search before fit": "g = GridSearchCV(SVC(), {'C': [1, 2]})\ng.predict(X)",
    "coefficients before fit": "m = LinearRegression()\nprint(m.coef_)",
    "importances before fit": "m = RandomForestClassifier()\nprint(m.feature_importances_)",
    "importances of a support vector machine": "m = SVC().fit(X, y)\nm.feature_importances_",
    "weights of a forest": "forest.coef_",
    "probabilities of a regression": "m = LinearRegression().fit(X, price)\nm.predict_proba(X)",
    "labels before fit": "k = KMeans(n_clusters=3)\nk.labels_",
    "fewer columns": "forest.predict(X_test[['age', 'pay']])",
    "other order": "forest.predict(X_test[['pay', 'age', 'years']])",
    "unseen column": "forest.predict(X_test.assign(size=1))",
    "array with fewer columns": "forest.predict(A[:, :2])",
    "scaler of other columns": "scaler.transform(people.drop(columns='age'))",
    "one sample as a row": "forest.predict([30, 2000.0, 3.5])",
    "one row as a series": "forest.predict(X_test['age'])",
    "column as X": "m = LinearRegression()\nm.fit(X['age'], price)",
    "column of an array as X": "m = LinearRegression()\nm.fit(A[:, 0], price)",
    "lengths in fit": "bare.fit(X_train, y)",
    "lengths in split": "a, b, c, d = train_test_split(X, y_train)",
    "train and test mixed up": "Xa, Xb, ya, yb = train_test_split(X, y)\nLogisticRegression().fit(Xa, yb)",
    "parts in another order": "Xa, ya, Xb, yb = train_test_split(X, y)\nLogisticRegression().fit(Xa, ya)",
    "lengths in a metric": "accuracy_score(y, pred)",
    "lengths in score": "forest.score(X_test, y_train)",
    "text in fit": "RandomForestClassifier().fit(people, y)",
    "text after a split": (
        "X = people.drop(['pay'], axis=1)\nXa, Xb, ya, yb = train_test_split(X, y, test_size=0.2)\n"
        "rf = RandomForestRegressor(n_estimators=3)\nrf.fit(Xa, ya)"
    ),
    "text in a scaler": "StandardScaler().fit_transform(people)",
    "text in an imputer": "SimpleImputer(strategy='mean').fit(people)",
    "text target for a regressor": "LinearRegression().fit(X, grades)",
    "missing values": "LogisticRegression().fit(holes, y)",
    "missing values after a split": (
        "a, b, c, d = train_test_split(holes, y, test_size=0.2)\nLogisticRegression().fit(a, c)"
    ),
    "missing values in a pipeline": "make_pipeline(StandardScaler(), Ridge()).fit(holes, price)",
    "missing values in PCA": "PCA(2).fit_transform(holes)",
    "infinity": "KMeans(2).fit(endless)",
    "continuous target for a classifier": "KNeighborsClassifier().fit(X, price)",
    "continuous target after a split": (
        "a, b, c, d = train_test_split(X, price, test_size=0.2)\nDecisionTreeClassifier().fit(a, c)"
    ),
    "continuous target in folds": "cross_val_score(LogisticRegression(), X, price, cv=3)",
    "one class": "LogisticRegression().fit(X, same)",
    "missing targets": "LinearRegression().fit(X, holes['years'])",
    "no target": "LogisticRegression().fit(X)",
    "measurements in accuracy": "accuracy_score(price, price)",
    "binary average of three": "precision_score(grades, grades)",
    "binary average of three in an array": "precision_score(grades, said)",
    "words without positive label": "f1_score(yes_no, yes_no)",
    "words and numbers": "accuracy_score(yes_no, y)",
    "names of classes": "print(classification_report(y_test, pred, target_names=['a', 'b', 'c']))",
    "auc of probabilities in two columns": "roc_auc_score(y_test, forest.predict_proba(X_test))",
    "auc of three classes": "roc_auc_score(grades, rng.random(80))",
    "curve of three classes": "roc_curve(grades, rng.random(80))",
    "measurement error of texts": "mean_squared_error(grades, price)",
    "measurement error of missing values": "mean_squared_error(holes['years'], price)",
    "squared": "mean_squared_error(price, price, squared=False)",
    "labels of a display": (
        "cm = confusion_matrix(grades, grades)\nConfusionMatrixDisplay(cm, display_labels=['a', 'b']).plot()"
    ),
    "unknown keyword": "RandomForestClassifier(n_estimator=10)",
    "keyword of another class": "KNeighborsClassifier(k=3)",
    "keyword that is gone": "OneHotEncoder(sparse=False)",
    "normalize is gone": "LinearRegression(normalize=True)",
    "too many by position": "LogisticRegression('l2', False)",
    "kernel that there is not": "SVC(kernel='gauss').fit(X, y)",
    "no trees": "RandomForestClassifier(n_estimators=0).fit(X, y)",
    "trees as text": "RandomForestClassifier(n_estimators='100').fit(X, y)",
    "criterion of long ago": "DecisionTreeRegressor(criterion='mse').fit(X, price)",
    "max_features auto": "RandomForestClassifier(max_features='auto').fit(X, y)",
    "penalty without solver": "LogisticRegression(solver='liblinear', penalty='elasticnet').fit(X, y)",
    "share beyond one": "train_test_split(X, y, test_size=1.5)",
    "share of zero": "train_test_split(X, y, test_size=0.0)",
    "more test samples than there are": "train_test_split(X, y, test_size=100)",
    "shares above one": "train_test_split(X, y, test_size=0.6, train_size=0.6)",
    "nothing to split": "train_test_split(none, none_y)",
    "unknown option of a split": "train_test_split(X, y, test_ratio=0.2)",
    "class of one member": "train_test_split(X, lonely, stratify=lonely)",
    "more folds than samples": "cross_val_score(Ridge(), few, few_y, cv=5)",
    "more components than columns": "PCA(n_components=5).fit(X)",
    "more clusters than samples": "KMeans(n_clusters=8).fit(few)",
    "more neighbours than samples": "KNeighborsClassifier(5).fit(few, few_y).predict(X)",
    "unseen label": "encoder.transform(['cat', 'bird'])",
    "label encoder of a table": "LabelEncoder().fit_transform(people[['city', 'age']])",
    "label encoder before fit": "LabelEncoder().transform(['a'])",
    "unseen category": "hot.transform(elsewhere)",
    "column that the frame lacks": (
        "ct = ColumnTransformer([('num', StandardScaler(), ['age', 'height'])])\nct.fit_transform(X)"
    ),
    "text among numeric columns": (
        "ct = ColumnTransformer([('num', StandardScaler(), ['age', 'city'])])\nct.fit_transform(people)"
    ),
    "one name gives one dimension": "ColumnTransformer([('num', StandardScaler(), 'age')]).fit(X)",
    "search for a name that there is not": "GridSearchCV(SVC(), {'c': [1]}).fit(X, y)",
    "search without the step": "GridSearchCV(make_pipeline(StandardScaler(), SVC()), {'C': [1]}).fit(X, y)",
    "search in text": "GridSearchCV(SVC(), {'C': [1, 2]}, cv=2).fit(people, y)",
    "negative counts": "MultinomialNB().fit(cold, y)",
    "one text": "CountVectorizer().fit_transform('a red house')",
    "numbers as documents": "TfidfVectorizer().fit(X['age'])",
    "vectorizer before fit": "TfidfVectorizer().transform(texts)",
    "classifier in the middle": "Pipeline([('m', SVC()), ('s', StandardScaler())]).fit(X, y)",
    "fit_transform of a classifier": "LogisticRegression().fit_transform(X, y)",
    "three dimensions": "LogisticRegression().fit(A.reshape(80, 3, 1), y)",
    "parameter that there is not": "bare.set_params(depth=3)",
    "clone is not fitted": "m = clone(forest)\nm.predict(X)",
    "new one after old one": "forest = RandomForestClassifier()\nforest.predict(X_test)",
    "a pipeline without y": "make_pipeline(StandardScaler(), SVC()).fit(X)",
    "None for y": "SVC().fit(X, None)",
    "two columns of targets": "SVR().fit(X, X[['age', 'pay']])",
    "search of words for a tree": "DecisionTreeClassifier(max_depth='deep').fit(X, y)",
}

FINE = {
    "two arguments by position": "from sklearn.datasets import make_classification\nmake_classification(100, 5)",
    "fit and predict": "bare.fit(X_train, y_train)\nbare.predict(X_test)",
    "fit and score": "bare.fit(X_train, y_train).score(X_test, y_test)",
    "predict of what is fitted": "forest.predict(X_test).mean()",
    "array for a model of a frame": "forest.predict(A)",
    "list of rows": "forest.predict([[30, 2000.0, 3.5]])",
    "pipeline": "drying.fit(X, price)\ndrying.predict(X)[0]",
    "pipeline that is fitted": "trained.predict(X)",
    "scaler inside a pipeline is fitted with it": (
        "s = StandardScaler()\np = make_pipeline(s, Ridge())\np.fit(X, price)\ns.transform(X)"
    ),
    "step of a pipeline of the state": "step = drying[0]\ndrying.fit(X, price)\nstep.transform(X)",
    "normalizer needs no fit": "Normalizer().transform(X)",
    "fit inside a loop": "for m in [LogisticRegression(), SVC()]:\n    m.fit(X, y)\n    print(m.score(X, y))",
    "missing values in trees": "DecisionTreeClassifier().fit(holes, y).predict(holes)",
    "missing values in forests": "RandomForestClassifier(n_estimators=3).fit(holes, y)",
    "missing values in boosting": "HistGradientBoostingClassifier().fit(holes, y)",
    "missing values are filled": "LogisticRegression().fit(holes.fillna(0), y)",
    "missing values are imputed": "make_pipeline(SimpleImputer(), Ridge()).fit(holes, price)",
    "missing values in a scaler": "StandardScaler().fit_transform(holes).shape",
    "rows with missing values dropped": "ok = holes.dropna()\nRidge().fit(ok, price[ok.index])",
    "one missing value may be left out": (
        "h = X.copy()\nh.loc[3, 'age'] = np.nan\na, b, c, d = train_test_split(h, y, random_state=1)"
    ),
    "text in an encoder": "OneHotEncoder().fit_transform(people[['city']]).toarray()",
    "text in an ordinal encoder": "OrdinalEncoder().fit_transform(people)",
    "text that reads as numbers": "Ridge().fit(X.astype(str).astype(object), price)",
    "text imputed": "SimpleImputer(strategy='most_frequent').fit_transform(people)",
    "dummies": "RandomForestClassifier(n_estimators=3).fit(pd.get_dummies(people), y)",
    "text target for a classifier": "RandomForestClassifier(n_estimators=3).fit(X, grades).predict(X)",
    "integers as floats": "LogisticRegression().fit(X, y.astype(float))",
    "continuous target for a regressor": "KNeighborsRegressor().fit(X, price).predict(X)",
    "target in a column": "LinearRegression().fit(X, price.to_frame()).predict(X)",
    "two targets for a tree": "DecisionTreeRegressor().fit(X, X[['age', 'pay']])",
    "one class for a tree": "DecisionTreeClassifier().fit(X, np.zeros(80))",
    "k-means": "km = KMeans(n_clusters=3, n_init=3).fit(X)\nkm.labels_.max()",
    "k-means predicts": "KMeans(n_clusters=3, n_init=3).fit_predict(X)",
    "macro average": "precision_score(grades, grades, average='macro')",
    "positive label": "f1_score(yes_no, yes_no, pos_label='yes')",
    "report": "print(classification_report(y_test, pred, target_names=['poor', 'rich']))",
    "report with labels": "classification_report(y_test, pred, labels=[0, 1, 2], target_names=['a', 'b', 'c'])",
    "auc": "roc_auc_score(y_test, forest.predict_proba(X_test)[:, 1])",
    "auc of three classes told how": (
        "m = RandomForestClassifier(n_estimators=9).fit(X, grades)\n"
        "roc_auc_score(grades, m.predict_proba(X), multi_class='ovr')"
    ),
    "binary and multiclass": "accuracy_score(y, y.replace(1, 2))",
    "rounded predictions": "m = LinearRegression().fit(X, y)\naccuracy_score(y, m.predict(X).round())",
    "errors": "mean_squared_error(price, price * 1.1)\nr2_score(price, price)\nmean_absolute_error(price, price)",
    "display": "ConfusionMatrixDisplay(confusion_matrix(grades, grades), display_labels=['a', 'b', 'c']).plot()",
    "split in four": "a, b, c, d = train_test_split(X, y, test_size=0.2, stratify=y)\nLogisticRegression().fit(a, c)",
    "split in six": "a, b, c, d, e, f = train_test_split(X, y, price)\nRidge().fit(a, e)",
    "split by number": "train_test_split(X, y, test_size=10, train_size=70)",
    "search": "g = GridSearchCV(SVC(), {'C': [1, 2]}, cv=2).fit(X, y)\ng.best_estimator_.predict(X)",
    "search in a pipeline": "GridSearchCV(make_pipeline(StandardScaler(), SVC()), {'svc__C': [1]}, cv=2).fit(X, y)",
    "random search": "RandomizedSearchCV(SVC(), {'C': [1, 2, 3]}, n_iter=2, cv=2).fit(X, y).best_params_",
    "folds": "cross_val_score(forest, X, y, cv=3).mean()",
    "folds of a text target": "cross_val_score(RandomForestClassifier(n_estimators=3), X, grades, cv=3)",
    "components": "PCA(n_components=2).fit_transform(X).shape",
    "share of variance": "PCA(n_components=0.9).fit_transform(X)",
    "neighbours": "KNeighborsClassifier(3).fit(X[:3], y[:3]).predict(X)",
    "seen labels": "encoder.transform(['cat', 'dog', 'cat'])",
    "unseen category is ignored": (
        "h = OneHotEncoder(handle_unknown='ignore').fit(people[['city']])\n"
        "h.transform(pd.DataFrame({'city': ['Paris']}))"
    ),
    "label encoder of a column": "LabelEncoder().fit_transform(people['city'])",
    "label encoder of one column as frame": "LabelEncoder().fit_transform(people[['city']])",
    "columns": (
        "ct = ColumnTransformer([('num', StandardScaler(), ['age', 'pay']), ('cat', OneHotEncoder(), ['city'])])\n"
        "p = Pipeline([('prep', ct), ('model', RandomForestClassifier(n_estimators=3))])\np.fit(people, y)\n"
        "p.predict(people)"
    ),
    "columns passed through": (
        "ct = ColumnTransformer([('num', StandardScaler(), [0])], remainder='passthrough')\nct.fit_transform(A)"
    ),
    "vectorizer": "TfidfVectorizer().fit_transform(texts).shape",
    "counts and a model": "make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, y)",
    "vocabulary is given": "CountVectorizer(vocabulary=['red', 'sea']).transform(texts)",
    "chi2": "SelectKBest(chi2, k=2).fit_transform(X, y)",
    "frames asked for": "s = StandardScaler().set_output(transform='pandas')\ns.fit_transform(X).head()",
    "scaled array": "XX = scaler.fit_transform(X)\nXX[:, 0].mean()",
    "scaled frame made again": "pd.DataFrame(scaler.transform(X), columns=X.columns)['age']",
    "renamed as the array": "scaler.transform(X.to_numpy())",
    "voting": "VotingClassifier([('a', LogisticRegression()), ('b', SVC())]).fit(X, y).predict(X)",
    "parameters": "bare.set_params(C=2.0)\nbare.get_params()['C']",
    "probabilities": "forest.predict_proba(X_test)[:, 1]",
    "coefficients": "LinearRegression().fit(X, price).coef_.round(2)",
    "importances": "pd.Series(forest.feature_importances_, index=X.columns)",
    "linear kernel": "SVC(kernel='linear').fit(X, y).coef_",
    "custom kernel": "SVC(kernel=lambda a, b: a @ b.T).fit(X, y)",
    "caught": "try:\n    bare.predict(X)\nexcept Exception as error:\n    print(error)",
    "penalty and solver": "LogisticRegression(solver='liblinear', penalty='l1').fit(X, y)",
    "more clusters asked than shown": "AgglomerativeClustering(n_clusters=3).fit_predict(X)",
    "polynomials": "PolynomialFeatures(2).fit_transform(X).shape",
    "subclass": (
        "class Mine(LogisticRegression):\n    def predict(self, X):\n        return np.zeros(len(X))\nMine().predict(X)"
    ),
    "fitted in a function": "def train(model):\n    return model.fit(X, y)\ntrain(bare)\nbare.predict(X)",
    "fitted under a condition": "if len(X) > 3:\n    bare.fit(X, y)\nbare.predict(X)",
}

Check = Callable[[str, str], object]


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

"""Cells as data-science notebooks write them, run for real: a crash that is predicted comes, and is of that class."""

# ruff: noqa: E501
from __future__ import annotations

import pytest

pytestmark = pytest.mark.corpus

TABLES = r"""
import pandas as pd, numpy as np
import matplotlib.pyplot as plt
rng=np.random.default_rng(0)
df=pd.DataFrame({'city':['A','B','A','C','B','A'],'year':[2019,2019,2020,2020,2021,2021],'price':[1.,2.,np.nan,4.,5.,6.],'qty':[1,2,3,4,5,6],'when':pd.date_range('2020-01-01',periods=6),'flag':[True,False]*3,'txt':['1,200','3','x','4','5','6']})
wide=df.pivot_table(index='city',columns='year',values='qty',aggfunc='sum')
mi=df.set_index(['city','year'])
cat=df['city'].astype('category')
ts=df.set_index('when')['qty']
arr=rng.normal(size=(10,4)); mask=arr[:,0]>0
other=pd.DataFrame({'city':['A','B'],'pop':[10,20]})
frames=[df.head(2),df.tail(2)]
empty=pd.DataFrame(columns=['a','b'])
num_cols=['price','qty']
def clean(frame, cols=num_cols, *, fill=0, **kw):
    out = frame.copy()
    for c in cols:
        out[c] = out[c].fillna(fill)
        out[c+'_norm'] = (out[c]-out[c].mean())/out[c].std()
    return out
def summarize(g):
    return pd.Series({'n':len(g),'total':g['qty'].sum()})
cleaned=clean(df)
"""
OF_TABLES = r"""
out = (df.dropna(subset=['price']).assign(rev=lambda d: d['price']*d['qty']).query('rev > 1').groupby('city', as_index=False).agg(total=('rev','sum'), n=('qty','count')).sort_values('total', ascending=False).reset_index(drop=True))
out['share'] = out['total']/out['total'].sum()
out.loc[0,'share'], out.iloc[-1]['city']

clean(df)['price_norm'].mean(), clean(df, cols=['qty'])['qty_norm']

res = df.groupby('city').apply(summarize)
res.loc['A','total']

g = df.groupby(['city','year'])['qty'].sum().unstack(fill_value=0)
g[2019], g.columns.tolist(), g.loc['A',2020]

m = df.merge(other, on='city', how='left', indicator=True)
m['pop'].fillna(0).astype(int), m['_merge'].value_counts()

m = df.merge(other, left_on='city', right_on='city', suffixes=('_l','_r'))
m[['city','pop']]

x = pd.concat(frames, ignore_index=True); x['new'] = range(len(x)); x.loc[len(x)] = x.iloc[0]; x['new']

df['month'] = df['when'].dt.month; df['month'].map({1:'Jan'}).str.upper()

df['txt_num'] = pd.to_numeric(df['txt'].str.replace(',',''), errors='coerce'); df['txt_num'].sum()

df.columns = [c.upper() for c in df.columns]; df['CITY'].str.lower()

df.rename(columns=str.title, inplace=True); df['City']

df = df.rename(columns={'price':'p'}); df['p'].mean(); df = df.drop(columns=['p']); 'p' in df

mi.loc['A'], mi.loc[('A',2019)], mi.xs(2019, level='year'), mi.loc['A','price']

mi.reset_index()['city'], mi.index.get_level_values('city'), mi.groupby(level='city').qty.sum()['A']

mi.sort_index().loc[('A',slice(None)),:]

wide[2019].fillna(0), wide.loc['A',2020], wide.reset_index()['city'], wide.stack()

wide.columns = [f'y{c}' for c in wide.columns]; wide.y2019, wide['y2020']

dum = pd.get_dummies(df, columns=['city'], prefix='c'); dum['c_A'].sum()

dum = pd.get_dummies(df['city']); dum['A']

df[df['price']>2]['qty'].iloc[0], df.loc[df.flag,'qty'], df[~df['flag'] & (df['qty']>1)], df[df.city.isin(['A'])]

df['bin'] = pd.cut(df['qty'], bins=[0,2,4,6], labels=['lo','mid','hi'])
df['bin'].cat.codes
df.groupby('bin', observed=True).size()['lo']

df['q'] = np.where(df['price'].isna(), 0, df['price'])
df['z'] = np.select([df.qty<2, df.qty<4],[0,1],default=2)
df[['q','z']].to_numpy()[0,1]

cols = df.select_dtypes('number').columns
df[cols].corr().loc['price','qty']
df[cols].describe().loc['mean','qty']

df.describe(include='all').loc['top','city']

df.agg({'qty':['min','max'],'price':'mean'}).loc['max','qty']

df.groupby('city').agg({'qty':['min','max']}).droplevel(0, axis=1)['max']

df.groupby('city').agg({'qty':['min','max']})['qty']['max'], df.groupby('city').agg({'qty':['min','max']})[('qty','min')]

ts.resample('2D').sum().iloc[0], ts['2020-01-02'], ts.loc['2020-01-01':'2020-01-03'].rolling(2).mean()

ts.index.month, ts.shift(1).diff(), ts.to_frame('v')['v'], ts.asfreq('D')

for i, row in df.iterrows():
    if pd.isna(row['price']):
        continue
    df.at[i,'new'] = row['price']*row['qty']
df['new'].sum()

for (city, yr), grp in df.groupby(['city','year']):
    print(city.lower(), yr+1, grp['qty'].mean())

for r in df.itertuples():
    r.city.lower(), r.qty + 1, r.Index

res = {}
for c in df['city'].unique():
    res.setdefault(c, []).append(df.loc[df['city']==c,'qty'].mean())
pd.DataFrame(res).T[0]

rows = []
for c, g in df.groupby('city'):
    rows.append({'city':c, 'mean':g['qty'].mean()})
pd.DataFrame(rows).set_index('city').loc['A','mean']

df['lag'] = df.groupby('city')['qty'].shift(1)
df['rank'] = df.groupby('city')['qty'].rank()
df['cum'] = df.groupby('city')['qty'].cumsum()
df[['lag','rank','cum']]

df['list'] = df['txt'].str.split(','); df.explode('list')['list']; df['txt'].str.split(',', expand=True)[0]

df.insert(1,'id',range(6)); df.pop('id')[0]; df.get('id', default=0)

t = df.T; t[0]['city'], t.loc['city',1]

df.to_dict('records')[0]['city'].lower(), df.to_dict('list')['qty'][5], df.set_index('qty')['city'].to_dict()[3]

df.melt(id_vars='city', value_vars=['price','qty'], var_name='k', value_name='v').pivot_table(index='city', columns='k', values='v')['qty']

df.duplicated(subset='city').sum(), df.drop_duplicates('city').shape[0], df.nunique()['city']

df.loc[:, df.columns != 'city'].columns[0], df.loc[:, 'price':'flag'], df.iloc[:, [0,-1]], df.iloc[1:3, 2:]

df.loc[6] = ['D',2022,1.,2,pd.Timestamp('2020'),True,'z']; df.loc[6,'city']

empty.loc[0] = [1,2]; empty['a'].iloc[0]

empty['c'] = [1,2]; empty.loc[1,'c']

s = df['qty'].value_counts(); s.index[0], s.iloc[0], s.to_frame().columns[0], s.reset_index().columns.tolist()

df['city'].value_counts().reset_index()['count'].sum(), df['city'].value_counts(normalize=True)['A']

df.isnull().sum()['price'], df.isna().any().any(), df.dtypes['city'], df.memory_usage()['Index'], df.shape[0]*2

df['price'].fillna(df.groupby('city')['price'].transform('mean')).isna().sum()

df.apply(lambda r: r['qty']*2 if r['flag'] else 0, axis=1).sum(), df[num_cols].apply(np.sum), df['city'].apply(lambda c: c.lower()).str.len()

df[num_cols] = df[num_cols].fillna(0); df[['a','b']] = df[num_cols].values; df['a'] + df['b']

df['new_a'], df['new_b'] = df['qty']*2, df['qty']**2; df[['new_a','new_b']]

df = pd.concat([df, pd.get_dummies(df['city'], prefix='is')], axis=1); df['is_A']

df.eval('r = qty*2', inplace=True); df['r']; df.query('city == "A" and qty > @df.qty.min()')

df.style.format(precision=2) if False else None
df.sample(frac=.5, random_state=0).index[0]
df.nlargest(2,'qty')['city']

cat.cat.categories[0], cat.cat.rename_categories({'A':'Z'}).unique()[0], cat.cat.add_categories('Q')

fig, ax = plt.subplots(2, 3, figsize=(6,4))
ax[1,2].plot(df['qty'])
ax.flat[5].set_title('x')
[a.grid(True) for a in ax.ravel()]
plt.close('all')

fig, axes = plt.subplots(1, 2, squeeze=False)
axes[0][1].bar(['a','b'],[1,2])
axes[0,0].hist(arr[:,0], bins=5)
fig.tight_layout()
plt.close(fig)

fig, axes = plt.subplots(nrows=2, ncols=1, sharex=True)
for a, c in zip(axes, num_cols): a.plot(df['qty'], df[c].fillna(0), label=c, marker='o'); a.legend(loc='best'); a.set(xlabel='x', ylabel=c)
plt.close('all')

fig = plt.figure()
ax = fig.add_subplot(2,1,1)
ax.scatter(arr[:,0],arr[:,1],c=arr[:,2],s=10,cmap='viridis')
fig.colorbar(ax.collections[0])
ax2 = ax.twinx()
ax2.axhline(0, ls='--')
plt.close()

plt.figure(figsize=(3,2))
plt.bar(df['city'].value_counts().index, df['city'].value_counts().values)
plt.xticks(rotation=45)
plt.xlabel('c')
plt.title(f'{len(df)} rows')
plt.close()

plt.imshow(arr, aspect='auto')
plt.colorbar()
plt.close()
plt.pie([1,2],labels=['a','b'],autopct='%1.1f%%')
plt.errorbar(range(3),[1,2,3],yerr=[.1]*3)
plt.fill_between(range(3),0,[1,2,3],alpha=.2)
plt.close()

sns.barplot(data=df, x='city', y='qty', hue='flag')
plt.close()
sns.heatmap(df[num_cols].corr(), annot=True, fmt='.2f')
plt.close()

sns.boxplot(x=df['city'], y=df['qty'])
sns.histplot(df['qty'], kde=False)
sns.scatterplot(x='qty', y='price', data=df, hue='city', style='flag', size='year')
sns.countplot(x='city', data=df, order=['A','B','C'])
plt.close('all')

sns.set_theme(style='whitegrid'); g = sns.FacetGrid(df, col='city'); g.map(plt.hist, 'qty'); plt.close('all')

ax = df.plot(kind='bar', x='city', y='qty', rot=0); ax.set_ylim(0, 10); ax.get_figure(); plt.close('all')

df.plot.scatter(x='qty', y='price')
df['qty'].plot.hist(bins=3)
df.groupby('city')['qty'].sum().plot.pie()
df.boxplot(column='qty', by='city')
df.hist()
plt.close('all')

df['qty'].plot(ax=plt.gca(), label='q')
plt.legend()
df[num_cols].plot(subplots=True)
wide.plot.bar(stacked=True)
plt.close('all')

a = arr[mask]
a.shape[1], arr[:, np.newaxis, :] - arr[np.newaxis], (arr[:,None]-arr[None,:]).sum(-1).shape[0], arr @ arr.T, arr.T.dot(arr), arr - arr.mean(axis=0), arr/np.linalg.norm(arr,axis=1,keepdims=True)

np.concatenate([arr, arr[:3]]).shape, np.hstack([arr, arr[:, :1]]), np.column_stack([arr, mask]), np.vstack((arr, np.zeros(4))), np.stack([arr[:,0],arr[:,1]],axis=1), np.r_[arr[:,0],1], np.c_[arr, arr]

idx = np.argsort(arr[:,0])[::-1]
arr[idx][:3], arr[idx[0], 2], np.take(arr, [0,1], axis=1), arr[[0,1],[2,3]], arr[np.ix_([0,1],[2,3])], arr[..., -1]

b = arr.copy()
b[b<0] = 0
b[mask,1] = 5
b[:,2] += b[:,3]
b[0] = [1,2,3,4]
b.reshape(-1,2,2)[3].sum()
b.flatten()[39]
b.ravel().reshape(4,-1)

np.array([[1,2],[3]],dtype=object)[1][0], np.zeros((2,3)).tolist()[1][2], np.arange(6).reshape(2,3)[:, ::-1], np.meshgrid(range(2),range(3))[0].shape, np.unique(df['city'],return_counts=True)[1][0]

np.random.seed(0); idx = np.random.permutation(10); tr, te = idx[:8], idx[8:]; arr[tr].mean(), arr[te, 1]

x = np.linspace(0,1,5)
y = np.polyfit(x, x**2, 2)
np.poly1d(y)(2.0), np.interp(.5,x,x), np.histogram(x,bins=3)[0][2], np.where(x>.5)[0][0], np.argwhere(x>.5)[0,0]

vec = np.vectorize(lambda v: 'a' if v>0 else 'b')
vec(arr)[0,0].upper()
np.apply_along_axis(lambda r: r.sum(), 1, arr).shape[0]

rec = np.array([(1,'a'),(2,'b')], dtype=[('n',int),('s','U1')]); rec['n'].sum(), rec[0]['s'], rec[rec['n']>1]

pd.read_csv(__import__('io').StringIO('a,b\n1,2'))['a'].iloc[0]

try:
    data = pd.read_csv('/nope/nope.csv')
except FileNotFoundError:
    data = pd.DataFrame({'a':[1]})
data['a']

import os
path = '/nope/nope.csv'
if os.path.exists(path): data = pd.read_csv(path)
else: data = df
data['city']

import warnings
warnings.filterwarnings('ignore')
pd.options.display.max_columns = 50
pd.set_option('display.width', 100)
np.set_printoptions(precision=2)
plt.rcParams['figure.figsize'] = (3,2)
plt.style.use('ggplot')
df.head()

class Store:
    def __init__(self, frame): self.frame, self._cache = frame, {}
    def __getitem__(self, k): return self.frame[k] if k in self.frame else self.frame.iloc[:, 0]
    def __len__(self): return len(self.frame)
    def __call__(self, n=1): return self.frame.head(n)
    @property
    def cols(self): return list(self.frame.columns)
st = Store(df); st['nope'], len(st), st(2)['city'], st.cols[0].upper()

def add(frame, **cols):
    for k, v in cols.items(): frame[k] = v
    return frame
add(df, z=1, w=2)['w'], df['z']

total = 0
def acc(v):
    global total
    total += v
    return total
list(map(acc, df['qty'])); total.bit_length()

pipe = [lambda d: d.assign(k=1), lambda d: d[d.k==1]]
from functools import reduce
reduce(lambda d, f: f(d), pipe, df)['k']

def gen(n):
    for i in range(n): yield {'i': i}
pd.DataFrame(gen(3))['i'].sum(), next(gen(1))['i']

dfs = {c: g for c, g in df.groupby('city')}
dfs['A']['qty'].sum(); {k: v['qty'].mean() for k, v in dfs.items()}['C']

res = df.groupby('city')['qty'].agg(['mean','std']); res['mean']['A']; res.columns.tolist().index('std')

df.groupby('city')['qty'].agg(lambda s: s.max()-s.min())['A'], df.groupby('city')[['qty','price']].mean().loc['B','price'], df.groupby('city', group_keys=False).apply(lambda g: g.head(1))

pd.crosstab(df['city'], df['year'])[2019]['A'], pd.crosstab(df.city, df.flag, margins=True).loc['All','All']

df.set_index('city', inplace=True); df.loc['A','qty'].sum(); df.reset_index(inplace=True); df['city']

df.sort_values('qty', ascending=False, inplace=True)
df.iloc[0]['qty']
df.reset_index(drop=True, inplace=True)
df.loc[0,'city']

df.drop(index=[0,1]).loc[2,'city'], df.drop(df[df.qty>3].index).shape, df.drop(['price'],axis=1).columns[0], df.drop(columns=[c for c in df.columns if c.startswith('p')])['qty']

df.replace({'city':{'A':'X'}}).set_index('city').loc['X'], df['city'].map(lambda c: {'A':1}.get(c)).sum(), df['city'].map(dict(zip('ABC','xyz'))).str.upper()

df.fillna({'price':0}, inplace=True)
df.astype({'price':int})['price'] % 2
df['year'].astype(str) + df['city']
df['qty'].astype('float32').dtype.itemsize

df['when'].dt.strftime('%Y').astype(int), (df['when'].max()-df['when'].min()).days, df['when'] - pd.Timedelta(days=1), pd.to_datetime('2020-01-01').year, (df['when'] > '2020-01-02').sum()
"""
MODELS = r"""
import numpy as np, pandas as pd, torch
from torch import nn, optim
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader, TensorDataset, random_split
from sklearn.model_selection import train_test_split, cross_val_score, GridSearchCV, RandomizedSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.compose import ColumnTransformer, make_column_transformer, make_column_selector
from sklearn.preprocessing import *
from sklearn.impute import SimpleImputer
from sklearn.linear_model import *
from sklearn.ensemble import *
from sklearn.tree import DecisionTreeClassifier
from sklearn.svm import SVC
from sklearn.neighbors import KNeighborsClassifier
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import *
from sklearn.feature_extraction.text import *
from sklearn.base import BaseEstimator, TransformerMixin, clone
rng=np.random.default_rng(0)
X=rng.normal(size=(60,4)); y=(X[:,0]>0).astype(int); yr=X[:,0]*2
frame=pd.DataFrame(X,columns=list('abcd')); frame['c1']=['u','v','w']*20; frame.loc[3,'a']=np.nan
X_train,X_test,y_train,y_test=train_test_split(X,y,random_state=0)
num=['a','b','c','d']; catc=['c1']
pre=ColumnTransformer([('num',Pipeline([('imp',SimpleImputer()),('sc',StandardScaler())]),num),('cat',OneHotEncoder(handle_unknown='ignore'),catc)])
clf=LogisticRegression().fit(X_train,y_train)
scaler=StandardScaler()
class Net(nn.Module):
    def __init__(self, n_in=4, hidden=8, n_out=2, p=0.1):
        super().__init__()
        self.fc1=nn.Linear(n_in,hidden); self.drop=nn.Dropout(p); self.fc2=nn.Linear(hidden,n_out)
    def forward(self,x):
        x=x.view(x.size(0),-1)
        return self.fc2(self.drop(F.relu(self.fc1(x))))
class CNN(nn.Module):
    def __init__(self):
        super(CNN,self).__init__()
        self.conv=nn.Sequential(nn.Conv2d(1,4,3,padding=1),nn.ReLU(),nn.MaxPool2d(2)); self.head=nn.Linear(4*4*4,10)
    def forward(self,x):
        x=self.conv(x); x=x.view(-1,self.num_flat(x)); return self.head(x)
    def num_flat(self,x):
        n=1
        for s in x.size()[1:]: n*=s
        return n
class Data(Dataset):
    def __init__(self,X,y): self.X=torch.tensor(X,dtype=torch.float32); self.y=torch.tensor(y)
    def __len__(self): return len(self.X)
    def __getitem__(self,i): return self.X[i],self.y[i]
ds=Data(X,y); loader=DataLoader(ds,batch_size=16,shuffle=True)
net=Net(); cnn=CNN(); opt=optim.Adam(net.parameters(),lr=1e-3); crit=nn.CrossEntropyLoss()
class Scale(BaseEstimator,TransformerMixin):
    def __init__(self,k=2): self.k=k
    def fit(self,X,y=None): self.m_=np.mean(X,0); return self
    def transform(self,X): return (X-self.m_)*self.k
corpus=['the cat sat','the dog ran','a cat ran']
"""
OF_MODELS = r"""
model = Pipeline([('pre',pre),('clf',LogisticRegression())])
model.fit(frame, y)
model.predict(frame)[:5]
model.named_steps['clf'].coef_.shape[1]
model['pre'].get_feature_names_out()[0]

model = make_pipeline(pre, RandomForestClassifier(n_estimators=5))
cross_val_score(model, frame, y, cv=3).mean()
model.fit(frame, y).score(frame, y)

gs = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {'svc__C':[.1,1]}, cv=2)
gs.fit(X, y)
gs.best_params_['svc__C']
gs.best_estimator_.predict(X)
gs.cv_results_['mean_test_score'][1]
gs.predict(X)

rs = RandomizedSearchCV(DecisionTreeClassifier(), {'max_depth':[1,2,3]}, n_iter=2, cv=2, random_state=0).fit(X,y)
rs.best_score_ + 1

Xs = scaler.fit_transform(X_train); scaler.transform(X_test)[0,3]; scaler.mean_[0]; scaler.inverse_transform(Xs)

scaler = StandardScaler()
scaler.fit(X_train)
for part in (X_train, X_test): part_s = scaler.transform(part); part_s.std()

frame['c1_enc'] = LabelEncoder().fit_transform(frame['c1']); frame['c1_enc'].max() + 1

enc = OneHotEncoder(sparse_output=False)
o = enc.fit_transform(frame[['c1']])
pd.DataFrame(o, columns=enc.get_feature_names_out(['c1']))['c1_u']
enc.categories_[0][2]

ohe = OneHotEncoder().fit(frame[['c1']]); ohe.transform(pd.DataFrame({'c1':['u']})).toarray()[0,0]

frame.fillna(frame.mean(numeric_only=True), inplace=True)
LinearRegression().fit(frame[num], yr).predict(frame[num])[0]

imp = SimpleImputer(strategy='most_frequent'); frame[num] = imp.fit_transform(frame[num]); frame['a'].isna().sum()

clf.predict(X_test), clf.predict_proba(X_test)[:,1], clf.classes_[0], clf.coef_[0][3], confusion_matrix(y_test, clf.predict(X_test))[1,1], classification_report(y_test, clf.predict(X_test), output_dict=True)['accuracy'], roc_auc_score(y_test, clf.predict_proba(X_test)[:,1])

fpr, tpr, thr = roc_curve(y_test, clf.decision_function(X_test))
auc(fpr, tpr), accuracy_score(y_test, clf.predict(X_test)), f1_score(y_test, clf.predict(X_test), average='macro')

for name, m in {'lr':LogisticRegression(),'rf':RandomForestClassifier(5),'knn':KNeighborsClassifier()}.items():
    m.fit(X_train, y_train)
    print(name, m.score(X_test, y_test))
m.predict(X_test)

for tr, te in KFold(3).split(X):
    m = clone(clf).fit(X[tr], y[tr]); m.score(X[te], y[te])

skf = StratifiedKFold(n_splits=3, shuffle=True, random_state=1)
[clone(clf).fit(X[a],y[a]).score(X[b],y[b]) for a,b in skf.split(X,y)][2]

make_pipeline(Scale(3), LogisticRegression()).fit(X, y).predict(X)
Scale().fit(X).transform(X)[0,0]
Scale().set_params(k=5).get_params()['k']

km = KMeans(3, n_init=2).fit(X)
km.labels_[0], km.cluster_centers_[2,3], km.predict(X)[0]
pca = PCA(2).fit_transform(X)
pca[:,1]
PCA(.9).fit(X).explained_variance_ratio_.cumsum()

cv = CountVectorizer()
M = cv.fit_transform(corpus)
M.toarray()[0], cv.vocabulary_['cat'], cv.transform(['new cat']).sum()
TfidfVectorizer().fit_transform(corpus).shape[1]

make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(corpus, [0,1,0]).predict(['cat'])[0]

train_test_split(frame, test_size=.2, stratify=y)[0]['a']
a, b, c, d, e, f = train_test_split(X, y, yr, test_size=10)
f.shape[0]

t = ColumnTransformer([('s',StandardScaler(),[0,1])], remainder='passthrough').fit_transform(X)
t[0,3]
make_column_transformer((StandardScaler(), make_column_selector(dtype_include='number')), remainder='drop').fit_transform(frame)

VotingClassifier([('a',LogisticRegression()),('b',SVC(probability=True))], voting='soft').fit(X,y).predict(X)
StackingClassifier([('r',RandomForestClassifier(3))], final_estimator=LogisticRegression()).fit(X,y).score(X,y)

rf = RandomForestRegressor(3).fit(frame[['b','c']], yr)
pd.Series(rf.feature_importances_, index=['b','c']).sort_values()['b']
rf.predict(frame[['b','c']].values)

mean_squared_error(yr, yr) ** .5, r2_score(yr, yr*1.1), mean_absolute_error(pd.Series(yr), yr)

LinearRegression().fit(X[:,0].reshape(-1,1), yr).coef_[0]
LinearRegression().fit(X[:,[0]], yr).predict([[1.]])[0]
PolynomialFeatures(2).fit_transform(X).shape[1]

MinMaxScaler().fit_transform(frame[['b']])[:,0]
QuantileTransformer(n_quantiles=5).fit_transform(X)
FunctionTransformer(np.abs).fit_transform(X)

for epoch in range(2):
    net.train(); run = 0.0
    for i, (xb, yb) in enumerate(loader):
        opt.zero_grad(); out = net(xb); loss = crit(out, yb.long()); loss.backward(); opt.step(); run += loss.item() * xb.size(0)
    net.eval()
    with torch.no_grad():
        pred = net(torch.tensor(X_test, dtype=torch.float32)).argmax(1); acc = (pred.numpy() == y_test).mean()
    print(f'{epoch}: {run/len(ds):.3f} {acc:.2%}')

cnn(torch.zeros(2,1,8,8)).shape[1], cnn.num_flat(torch.zeros(2,3,4)), cnn.conv(torch.zeros(1,1,8,8)).flatten(1).size(1), list(cnn.children())[0][0].weight.shape[0]

tr, te = random_split(ds, [50,10])
xb, yb = next(iter(DataLoader(tr, batch_size=5)))
xb.shape[1], yb.dtype, net(xb).softmax(-1)[0,1].item(), ds[3][0].numpy(), len(DataLoader(te, batch_size=3))

device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
net.to(device)
x = torch.randn(3,4,device=device)
net(x).cpu().detach().numpy()[0,1]

net.fc2 = nn.Linear(8,5)
net(torch.zeros(2,4)).view(10)
sum(p.numel() for p in net.parameters() if p.requires_grad) + 1
[p.requires_grad_(False) for p in net.fc1.parameters()]

sd = net.state_dict()
sd['fc1.weight'].shape[0]
n2 = Net()
n2.load_state_dict(sd)
torch.equal(n2.fc1.bias, net.fc1.bias)

w = torch.zeros(3, requires_grad=True); (w*2).sum().backward()
w.grad[0].item()
w.data -= .1*w.grad
w.grad.zero_()

h = torch.zeros(2,3,4)
h.permute(0,2,1).reshape(2,-1).shape, h.transpose(1,2)[:, -1], h.mean(dim=(1,2)), h.unsqueeze(1).expand(-1,5,-1,-1)[0,4], torch.cat([h,h],dim=-1)[...,7], torch.stack([h[0],h[1]]).sum(0), h.view(2,-1) @ torch.zeros(12,5), torch.einsum('bij,bkj->bik',h,h), h.max(dim=1).values[0], h.argmax(-1)[1,2], h.squeeze(0).shape[0], h.chunk(3,1)[2], h.split([1,2],1)[1]

lstm = nn.LSTM(4,6,num_layers=2,batch_first=True,bidirectional=True)
o,(hn,cn) = lstm(torch.zeros(3,7,4))
o[:, -1, 11], hn.shape[0], nn.Linear(12,1)(o).squeeze(-1)[2,6]

emb = nn.Embedding(10,4,padding_idx=0)
e = emb(torch.tensor([[1,2],[3,0]]))
e.mean(1) @ torch.zeros(4,2)
F.cross_entropy(torch.zeros(2,3), torch.tensor([0,2]))
F.one_hot(torch.tensor([0,2]),3)[1,2]
nn.BCEWithLogitsLoss()(torch.zeros(4,1), torch.zeros(4,1))
nn.MSELoss()(torch.zeros(4), torch.zeros(4))

class Res(nn.Module):
    def __init__(self, blocks=2):
        super().__init__(); self.layers = nn.ModuleList([nn.Linear(4,4) for _ in range(blocks)]); self.heads = nn.ModuleDict({'a': nn.Linear(4,1)}); self.register_buffer('b', torch.ones(4)); self.scale = nn.Parameter(torch.ones(1))
    def forward(self, x, head='a', *, mask=None):
        for l in self.layers: x = x + torch.tanh(l(x)) * self.scale
        return self.heads[head](x + self.b), x
o, z = Res()(torch.zeros(2,4)); o.squeeze(1)[1]; Res().b.sum(); Res(3).layers[2].in_features + 1

sched = optim.lr_scheduler.StepLR(opt, 1)
opt.step()
sched.step()
opt.param_groups[0]['lr'] * 2
sched.get_last_lr()[0]

hooks = []
handle = net.fc1.register_forward_hook(lambda m, i, o: hooks.append(o.shape))
net(torch.zeros(2,4))
handle.remove()
hooks[0][1]

best = float('inf'); patience, bad, hist = 2, 0, {'loss': []}
for e in range(5):
    v = 1/(e+1)
    hist['loss'].append(v)
    if v < best: best, bad, state = v, 0, {k: t.clone() for k, t in net.state_dict().items()}
    else:
        bad += 1
        if bad >= patience: break
hist['loss'][4], state['fc1.bias'].sum(), e + 1
"""
CALLS = """import numpy as np
from sklearn.metrics import max_error, mean_pinball_loss, accuracy_score
from sklearn.model_selection import train_test_split
import sklearn.metrics as sm
a=np.arange(3); y=[1,2,3]; X=np.zeros((10,2))
import statsmodels.api as smf
from sklearn.datasets import make_blobs, make_classification, load_iris
"""
OF_CALLS = r"""
'x %s' % a

'%d items' % a[0]

'%.2f' % np.float64(2)

'%s' % np.mean(a)

'x' * a[1]

a ** 'x'

a + 'x'

a / 'x'

'x' + a

max_error(y)

max_error(y, y)

sm.max_error(y)

mean_pinball_loss(y, y, alpha_x=1)

mean_pinball_loss(y, y, 1, 2)

mean_pinball_loss(y, y, alpha=.5)

A,B,C,D = train_test_split(X, a, 1, 2, 3, random_state=1)

A, B = train_test_split(X, 1)

A, B, C, D = train_test_split(X, X, test_size=.5, shuffle=False)

A, B = train_test_split(X, test=.5)

make_blobs(n_samples=5, centers=2, random_state=0)[0]

make_blobs(n_sample=5)

load_iris(return_X_y=True)[0]

load_iris(as_frames=True)

accuracy_score(y, y, normalize=False)

accuracy_score(y_true=y, y_pred=y)

accuracy_score(y, y, False)

range()

range(1,2,3,4)

range(*[1,5])[2]

smf.OLSS(endog_zz, 1)

print(smf.OLS(endog_zz), smf.nope)

smf.tsas.ARIMA(endog_zz)

a.nope(endog_zz)
"""


def each(setup: str, targets: str) -> list[tuple[str, str]]:
    return [
        ("import seaborn as sns\n" + setup if "sns." in target else setup, target)
        for target in targets.strip().split("\n\n")
    ]


@pytest.mark.parametrize(
    ("setup", "target"),
    [*each(TABLES, OF_TABLES), *each(MODELS, OF_MODELS), *each(CALLS, OF_CALLS)],
)
def test_what_is_predicted_comes(predict_here, setup, target):
    seen = predict_here(setup, target)
    assert not seen.errors
    assert seen.exception in (None, seen.raised), (seen.findings, seen.error)

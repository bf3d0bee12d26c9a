"""Targets that train and predict with torch: layers, losses, loaders, optimizers, the notebook's own modules."""

from __future__ import annotations

import pytest

from tests.optional import needs

pytestmark = needs("torch")

SETUP = """
import random
import numpy as np
import torch
from torch import nn, optim
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

class Net(nn.Module):
    def __init__(self, n_in=8, n_out=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, 6), nn.BatchNorm1d(6), nn.ReLU())
        self.head = nn.Linear(6, n_out)

    def forward(self, x):
        x = self.body(x)
        return self.head(x)

class Small(nn.Module):
    def __init__(self, n_flat):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(n_flat, 2)

    def forward(self, x):
        x = self.pool(F.relu(self.conv(x)))
        x = x.view(x.size(0), -1)
        return self.fc(x)

class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 5)
        self.lstm = nn.LSTM(5, 7, batch_first=True)
        self.fc = nn.Linear(7, 2)

    def forward(self, x):
        x, (h, c) = self.lstm(self.words(x))
        return self.fc(x[:, -1])

class Careless(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.GRU(5, 7, batch_first=True)
        self.fc = nn.Linear(7, 2)

    def forward(self, x):
        x = self.lstm(x)
        return self.fc(x)

class Pairs(Dataset):
    def __init__(self, ragged, n=12):
        self.ragged, self.n = ragged, n
    def __len__(self):
        return self.n
    def __getitem__(self, i):
        return torch.zeros(4 + (min(i, 4) if self.ragged else 0)), i % 3

class Chance(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        if random.random() < 0.5:
            raise KeyError(i)
        return torch.zeros(3)

class Labelled(Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return torch.tensor(self.rows[i])

torch.manual_seed(0)
X, y = torch.randn(20, 8), torch.randint(0, 3, (20,))
y1 = y.float().unsqueeze(1)
big = torch.tensor([0, 1, 2, 3] * 5)
images = torch.randn(4, 1, 12, 12)
tokens = torch.randint(0, 20, (4, 9))
beyond = torch.full((4, 9), 20)
net, small, wrong = Net(), Small(100), Small(64)
reader, careless = Reader(), Careless()
one = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1))
probable = nn.Sequential(nn.Linear(8, 1), nn.Sigmoid())
cnn = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 2))
criterion = nn.CrossEntropyLoss()
weighted = nn.CrossEntropyLoss(weight=torch.ones(2))
bce, bcel, mse, nll = nn.BCELoss(), nn.BCEWithLogitsLoss(), nn.MSELoss(), nn.NLLLoss()
optimizer = optim.SGD(net.parameters(), lr=0.01)
loader = DataLoader(TensorDataset(X, y), batch_size=8)
loader64 = DataLoader(TensorDataset(X.double(), y), batch_size=8)
triple = DataLoader(TensorDataset(X, X, y), batch_size=8)
ragged = DataLoader(Pairs(True), batch_size=4)
level = DataLoader(Pairs(False), batch_size=4, shuffle=True)
mostly_level = DataLoader(Pairs(True, 200), batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(2))
rows = np.zeros((5, 8), dtype="float32")
later, labelled = {}, Labelled({3: 1.0})
empty, lost = DataLoader(Labelled(later), batch_size=2), DataLoader(labelled, batch_size=2)
by_chance = DataLoader(Chance(), batch_size=1)
shared = nn.ReLU()
twice = nn.Sequential(nn.Linear(8, 4), shared, nn.Linear(4, 4), shared, nn.Linear(4, 3))
bare = nn.Module()
"""

TRAIN = """
for epoch in range(2):
    for xb, yb in {loader}:
        optimizer.zero_grad()
        loss = {loss}
        loss.backward()
        optimizer.step()
"""

RAISES = [
    ("for x in lost:\n    print(x)", "KeyError"),
    ("x = next(iter(empty))", "KeyError"),
    ("xb, yb = next(iter(loader))\nnet(yb)", "RuntimeError"),
    ("optim.SGD(one, lr=0.1)", "TypeError"),
    ("net(torch.randn(4, 7))", "RuntimeError"),
    ("net(X.double())", "RuntimeError"),
    ("net(rows)", "TypeError"),
    ("net(X[0])", "ValueError"),
    ("net.train(); net(X[:1])", "ValueError"),
    ("one(X.long())", "RuntimeError"),
    ("one([1.0] * 8)", "TypeError"),
    ("net(torch.arange(16).view(2, 8))", "RuntimeError"),
    ("wrong(images)", "RuntimeError"),
    ("small(images.permute(0, 2, 3, 1))", "RuntimeError"),
    ("small(torch.randn(4, 1, 10, 10))", "RuntimeError"),
    ("small(images[0, 0])", "RuntimeError"),
    ("cnn(images)", "RuntimeError"),
    ("cnn(torch.randn(2, 8, 8, 3))", "RuntimeError"),
    ("cnn(torch.randn(2, 3, 10, 10))", "RuntimeError"),
    ("cnn(torch.randn(3, 8, 8))", "ValueError"),
    ("reader(tokens.float())", "RuntimeError"),
    ("reader(beyond)", "IndexError"),
    ("careless(torch.randn(2, 4, 5))", "TypeError"),
    ("careless(torch.randn(2, 4, 6))", "RuntimeError"),
    ("nn.LSTM(5, 7)(torch.randn(2, 3, 4, 5))", "ValueError"),
    ("nn.LSTM(5, 7)(torch.randn(2, 3, 5).double())", "ValueError"),
    ("nn.Conv2d(3, 8, 3)(torch.randn(2, 1, 28, 28))", "RuntimeError"),
    ("nn.Conv2d(3, 8, 5)(torch.randn(2, 3, 4, 4))", "RuntimeError"),
    ("nn.Linear(784, 10)(torch.randn(4, 28, 28))", "RuntimeError"),
    ("nn.LayerNorm(5)(X)", "RuntimeError"),
    ("nn.BatchNorm2d(8)(X)", "ValueError"),
    ("nn.Linear(8 / 2, 3)", "TypeError"),
    ("nn.Sequential([nn.Linear(8, 4), nn.ReLU()])", "TypeError"),
    ("nn.Conv2d(3, 8, 3, groups=2)", "ValueError"),
    ("criterion(net(X), y1)", "RuntimeError"),
    ("criterion(net(X), y.float())", "RuntimeError"),
    ("criterion(net(X), y.int())", "RuntimeError"),
    ("criterion(net(X), y[:10])", "ValueError"),
    ("criterion(net(X), big)", "IndexError"),
    ("criterion(net(X), y.numpy())", "TypeError"),
    ("weighted(net(X), y)", "RuntimeError"),
    ("nll(F.log_softmax(net(X), dim=1), y.unsqueeze(1))", "RuntimeError"),
    ("bce(probable(X), y.float())", "ValueError"),
    ("bce(probable(X), y1.long())", "RuntimeError"),
    ("bce(probable(X), y1.double())", "RuntimeError"),
    ("bcel(one(X), y)", "ValueError"),
    ("bcel(one(X), y.unsqueeze(1))", "RuntimeError"),
    ("mse(one(X), torch.zeros(7, 1))", "RuntimeError"),
    ("F.cross_entropy(net(X), y1)", "RuntimeError"),
    ("nn.MSELoss(one(X), y1)", "RuntimeError"),
    ("criterion(net(X), y).backward(); loss = criterion(X, y1)", "RuntimeError"),
    (
        TRAIN.format(loader="loader", loss="criterion(net(xb), yb.float())"),
        "RuntimeError",
    ),
    (TRAIN.format(loader="loader64", loss="criterion(net(xb), yb)"), "RuntimeError"),
    (TRAIN.format(loader="triple", loss="criterion(net(xb), yb)"), "ValueError"),
    (TRAIN.format(loader="ragged", loss="xb.sum()"), "RuntimeError"),
    (TRAIN.format(loader="loader", loss="bcel(one(xb), yb)"), "ValueError"),
    ("for i, (xb, yb) in enumerate(loader): net(xb.view(-1, 4))", "RuntimeError"),
    ("net(X.T)", "RuntimeError"),
    ("loader[0]", "TypeError"),
    ("TensorDataset(X, y[:5])", "AssertionError"),
    ("TensorDataset(rows)", "TypeError"),
    ("optim.Adam(net)", "TypeError"),
    ("optim.Adam(net.parameters(), learning_rate=0.1)", "TypeError"),
    ("optim.SGD([], lr=0.1)", "ValueError"),
    ("optim.Adam(nn.ReLU().parameters())", "ValueError"),
    ("model = Net(n_in=5); model(X)", "RuntimeError"),
    (
        "model = Small(16); criterion(model(images), torch.zeros(4, dtype=torch.long))",
        "RuntimeError",
    ),
    ("net.head = nn.Linear(4, 3)\nnet(X)", "RuntimeError"),
    ("net.body[0] = nn.Linear(4, 3)\nnet(X)", "RuntimeError"),
    ("twice(torch.randn(2, 9))", "RuntimeError"),
    ("pred = net(X).numpy()", "RuntimeError"),
    ("torch.softmax(net(X), dim=2)", "IndexError"),
    ("nn.Embedding(10, 3)(torch.tensor([[1, 2], [3, 10]]))", "IndexError"),
    ("net.double(); net(X)", "RuntimeError"),
]

RUNS = [
    "ragged.dataset.ragged = False\nfor x, y in ragged:\n    print(x.shape)",
    "pairs = ragged.dataset\npairs.ragged = False\nnext(iter(ragged))",
    "labelled.rows = [1.0, 2.0, 3.0, 4.0]\nfor x in lost:\n    print(x)",
    "for i in range(4):\n    later[i] = 1.0\nnext(iter(empty))",
    "y.clamp_(0, 1)\nfor xb, yb in loader:\n    F.cross_entropy(Net(8, 2)(xb), yb)",
    "net(X)",
    "net.eval(); net(X[:1])",
    "with torch.no_grad(): net(X).numpy()",
    "net.requires_grad_(False)\nnet(X).numpy()",
    "net(X).data.numpy()",
    "nn.Embedding(11, 3)(torch.tensor([[1, 2], [3, 10]]))",
    "F.softmax(net(X), dim=-1)",
    "net(torch.from_numpy(rows))",
    "net.double(); net(X.double())",
    "net(X.double().float())",
    "small(images)",
    "small(images[0].unsqueeze(0))",
    "small(images.repeat(2, 1, 1, 1))",
    "cnn(torch.randn(2, 3, 8, 8))",
    "reader(tokens)",
    "reader(tokens.int())",
    "out, h = nn.GRU(5, 7)(torch.randn(2, 3, 5)); nn.Linear(7, 2)(out[-1]); nn.Linear(7, 2)(h[-1])",
    "out, (h, c) = nn.LSTM(5, 7, bidirectional=True, batch_first=True)(torch.randn(2, 3, 5)); nn.Linear(14, 2)(out)",
    "nn.Linear(28, 10)(torch.randn(4, 28, 28))",
    "nn.Linear(784, 10)(torch.randn(4, 28, 28).flatten(1))",
    "nn.Conv2d(3, 8, 3, padding='same')(torch.randn(3, 5, 5))",
    "nn.Conv2d(3, 8, 3, stride=2)(torch.randn(2, 3, 28, 28)).view(2, -1) @ torch.zeros(8 * 13 * 13, 2)",
    "nn.ConvTranspose2d(8, 3, 4, stride=2, padding=1)(torch.randn(2, 8, 7, 7)) + torch.zeros(3, 14, 14)",
    "nn.AdaptiveAvgPool2d(1)(torch.randn(2, 8, 7, 7)).flatten(1) @ torch.zeros(8, 2)",
    "nn.AvgPool2d(2, stride=1)(torch.randn(2, 8, 7, 7)) + torch.zeros(6, 6)",
    "nn.MaxPool2d(3, 2, ceil_mode=True)(torch.randn(2, 8, 8, 8)) + torch.zeros(4, 4)",
    "nn.Upsample(scale_factor=2)(torch.randn(2, 8, 7, 7)) + torch.zeros(14, 14)",
    "nn.BatchNorm1d(8)(X)",
    "nn.BatchNorm1d(3)(torch.randn(2, 3, 4))",
    "nn.LayerNorm([2, 8])(X.view(10, 2, 8))",
    "twice(X)",
    "criterion(net(X), y)",
    "criterion(net(X), y1.squeeze().long())",
    "criterion(net(X), y1.squeeze(1).long())",
    "criterion(net(X), F.one_hot(y, 3).float())",
    "criterion(net(X), torch.softmax(net(X), 1))",
    "criterion(net(X), torch.full((20,), -100))",
    "criterion(torch.randn(4, 3, 5, 5), torch.zeros(4, 5, 5, dtype=torch.long))",
    "criterion(net(X), big % 3)",
    "bce(probable(X), (y1 > 0).float())",
    "bce(probable(X).squeeze(), (y > 0).float())",
    "bcel(one(X), y1)",
    "bcel(one(X).view(-1), y.float())",
    "mse(one(X), y)",
    "mse(one(X), y1.double())",
    "F.mse_loss(one(X).squeeze(1), y.float(), reduction='none').mean()",
    "nll(F.log_softmax(net(X), dim=1), y)",
    TRAIN.format(loader="loader", loss="criterion(net(xb), yb)"),
    TRAIN.format(loader="loader64", loss="criterion(net(xb.float()), yb)"),
    TRAIN.format(loader="triple", loss="xb.sum()")
    .replace("xb, yb", "xb, _, yb")
    .replace("loss = xb.sum()", "loss = criterion(net(xb), yb)"),
    TRAIN.format(loader="level", loss="criterion(net(torch.cat([xb, xb], 1)), yb)"),
    "for batch in ragged.dataset: break",
    "next(iter(mostly_level))",
    *(f"random.seed({seed})\nnext(iter(by_chance))" for seed in (0, 2)),
    "for i, (xb, yb) in enumerate(loader): net(xb.view(-1, 8))",
    "batch = next(iter(loader)); net(batch[0]); criterion(net(batch[0]), batch[1])",
    "with torch.no_grad():\n    net.eval()\n    predicted = net(X).argmax(dim=1)\n"
    "    right = (predicted == y).sum().item()",
    "_, predicted = torch.max(net(X).data, 1); print((predicted == y).float().mean().item())",
    "optim.Adam(net.parameters(), lr=0.1, weight_decay=1e-4).zero_grad()",
    "opt = optim.SGD([torch.zeros(2, requires_grad=True)], lr=0.1, momentum=0.9); opt.step()",
    "optim.lr_scheduler.StepLR(optimizer, step_size=3).step()",
    "model = Net(n_in=8, n_out=1); bcel(model(X), y1)",
    "net.head = nn.Linear(6, 5)\ncriterion(net(X), big)",
    "net.body[0] = nn.Linear(4, 6)\nnet(X[:, :4])",
    "bare.fc = nn.Linear(2, 2)\noptim.Adam(bare.parameters())",
    "layers = [nn.Linear(8, 4), nn.ReLU()]\nnn.Sequential(*layers)(X)",
    "model = nn.Sequential(nn.Linear(8, 4))\nmodel.add_module('last', nn.Linear(4, 2))\nmodel(X)",
    "model = nn.Sequential()\nfor n in (8, 8, 8): model.append(nn.Linear(8, n))\nmodel(X)",
    "stack = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])\nh = X\nfor layer in stack: h = layer(h)",
    "stack = nn.ModuleList([nn.Linear(8, 4), nn.Linear(4, 2)])\nstack[1](stack[0](X))",
    "torch.save(net.state_dict(), '/dev/null'); net.load_state_dict(net.state_dict()); net(X)",
    "device = torch.device('cpu'); net.to(device)(X.to(device))",
    "net(X).detach().numpy()",
    "attention = nn.MultiheadAttention(8, 2); out, w = attention(X, X, X); net(out)",
    "dl = DataLoader(TensorDataset(X, y), batch_size=5, shuffle=True)\nfor a, b in dl: criterion(net(a), b)",
    "torch.set_default_dtype(torch.float64)\ntry:\n    nn.Linear(8, 2)(X.double())\nfinally:\n"
    "    torch.set_default_dtype(torch.float32)",
    "with torch.autocast('cpu', dtype=torch.bfloat16):\n    net(X)",
    "class Own(nn.Module):\n    def forward(self, x):\n        return x @ x.T\nOwn()(X)",
    "class Flat(nn.Module):\n    def __init__(self):\n        super(Flat, self).__init__()\n"
    "        self.fc = nn.Linear(16, 2)\n"
    "    def forward(self, x):\n        return self.fc(torch.flatten(x, 1))\nFlat()(torch.zeros(3, 4, 4))",
]


@pytest.mark.parametrize(
    "given", ["net.forward = lambda x: x", "net.__class__ = nn.Identity"]
)
def test_a_module_that_gets_another_forward_is_let_pass(predict_by_code, given):
    seen = predict_by_code(SETUP, f"{given}\nnet(X[:, :5])")
    assert seen.findings == ()
    assert seen.raised is None


@pytest.mark.parametrize(
    ("target", "exception"), RAISES, ids=[target for target, _ in RAISES]
)
def test_what_torch_refuses_is_predicted(check, target, exception):
    assert check(SETUP, target).raised == exception


@pytest.mark.parametrize("target", RUNS, ids=RUNS)
def test_what_torch_accepts_is_let_pass(check, target):
    assert check(SETUP, target).raised is None


HOOKED = f"""{SETUP}
hooked = nn.Linear(3, 2)
hooked.register_forward_pre_hook(lambda module, given: (given[0][:, :3],))
"""


def test_a_hook_may_change_what_a_layer_gets(check):
    """Where a notebook spells hooks, torch is not asked."""
    assert check(HOOKED, "hooked(torch.randn(2, 5))").raised is None


STAR = "import torch\nfrom torch.nn import *\nfrom torch.optim import *\nx = torch.ones(2, 3)\nlayer = Linear(3, 2)"


@pytest.mark.parametrize(
    ("target", "exception"),
    [
        ("Adam(layer)", "TypeError"),
        ("Adam(layer.parameters(), lr=0.1).step()", None),
    ],
)
def test_classes_of_a_star_import_are_known_by_the_state(check, target, exception):
    assert check(STAR, target).raised == exception

"""Targets with torch that run: nothing is concluded of devices, gradients, memory and values that nobody knows."""

from __future__ import annotations

import json

import pytest

from crane_core.detectors.rules.predict import findings
from crane_core.runtime.kernel_side.crane_probe.look import look
from tests.optional import needs

from .conftest import Predict, cells_of, state_of

pytestmark = needs("torch")

SETUP = """
import numpy as np
import torch
from torch import nn, optim
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X, y = torch.randn(20, 8), torch.randint(0, 3, (20,))
images = torch.randn(4, 3, 16, 16)
class Net(nn.Module):
    def __init__(self, k=3):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, k, padding=1)
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.norm = nn.BatchNorm1d(16)
        self.fc = nn.Linear(16, 5)
    def forward(self, x):
        x = F.relu(self.conv(x))
        x = self.pool(x)
        x = torch.flatten(x, 1)
        return self.fc(self.norm(x))
net = Net()
device = "cpu"
lstm = nn.LSTM(8, 6, batch_first=True)
emb = nn.Embedding(10, 4)
seq = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 3))
loader = DataLoader(TensorDataset(X, y), batch_size=6, shuffle=True)
crit = nn.CrossEntropyLoss()
part = torch.randint(-1, 3, (20,))
big = torch.zeros(3, 1200, 1200)
ln = nn.LayerNorm(8, elementwise_affine=False)
nobias = nn.Linear(8, 2, bias=False)
mixed = nn.Sequential(nn.Linear(8, 4).double(), nn.Linear(4, 3))
mixed[0].float()
half = nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 3).double())
w = torch.ones(3, requires_grad=True)
strided = torch.randn(6, 4).t()
"""

RUNS = [
    "net(images)",
    "net.eval()\nnet(images[:1])",
    "net(images.to(device))",
    "with torch.no_grad():\n    net(images).numpy()",
    "net.to(device)(images)",
    "x = images\nfor _ in range(3):\n    x = net.conv(x)[:, :3]\nx.shape",
    "out, (h, c) = lstm(torch.randn(2, 5, 8))\nF.linear(out[:, -1], torch.randn(3, 6))",
    "lstm(torch.randn(5, 8))",
    "emb(torch.tensor([1, 9]))",
    "emb(torch.tensor([[1], [2]]).view(-1))",
    "emb(y.long())",
    "emb((part + 1).long())",
    "emb(part.abs().long())",
    "emb(part.clamp(min=0))",
    "emb(torch.arange(10).view(2, 5))",
    "emb(torch.tensor([10, 11]) - 5)",
    "t = torch.tensor([10, 11])\nt -= 5\nemb(t)",
    "t = torch.tensor([10, 3])\nt[0] = 1\nemb(t)",
    "t = torch.tensor([10, 3])\nu = t.view(2, 1)\nt[0] = 1\nemb(u)",
    "F.cross_entropy(seq(X), part, ignore_index=-1)",
    "nn.CrossEntropyLoss(ignore_index=-1)(seq(X), part)",
    "crit(seq(X), y)",
    "crit(seq(X), y).backward()",
    "loss = crit(seq(X), y)\nloss.backward()\nseq[0].weight.grad.numpy()",
    "seq(X).argmax(1).numpy()",
    "seq(X).detach().numpy()",
    "seq(X).data.numpy()",
    "(seq(X) > 0).numpy()",
    "[p.data.numpy() for p in seq.parameters()]",
    "for p in seq.parameters():\n    p.requires_grad = False\nseq(X).numpy()",
    "seq[0].weight.requires_grad_(False)\nseq[0].bias.requires_grad_(False)\nseq[0](X).numpy()",
    "seq.requires_grad_(False)(X).numpy()",
    "ln(X.double())",
    "nobias(X)",
    "mixed(X)",
    "half[0](X)",
    "half[1](half[0](X).double())",
    "w.detach().numpy()",
    "w.data += 1",
    "with torch.no_grad():\n    w += 1",
    "with torch.no_grad():\n    w.sub_(1)",
    "(w * 2).sum().backward()\nw.grad.zero_()",
    "strided.reshape(24)",
    "strided.contiguous().view(-1)",
    "strided.t().view(-1)",
    "x = torch.zeros(2, 3).permute(1, 0)\nx.contiguous().view(6)",
    "torch.zeros(1, 3).t().view(3)",
    "torch.zeros(2, 3)[:, 0].view(2, 1)",
    "torch.zeros(2, 3, 4).transpose(0, 0).view(24)",
    "big @ torch.zeros(1200, 2)",
    "big.view(3, -1).sum(1)",
    "F.avg_pool2d(big, 2).shape",
    "nn.Conv2d(3, 2, 3)(big.unsqueeze(0)).shape",
    "nn.Linear(1200, 2)(big)",
    "big.numpy().reshape(-1)",
    "big.double() + torch.zeros(1200, dtype=torch.float64)",
    "big[0, 0, 0].item()",
    "big.sum().item()",
    "if big.sum() == 0: pass",
    "F.interpolate(big.unsqueeze(0), size=(10, 10)).shape",
    "F.cross_entropy(big.unsqueeze(0), torch.zeros(1, 1200, 1200, dtype=torch.long))",
    "F.one_hot(big.long()[0], 3).shape",
    "torch.cat([big, big]).view(6, 1200, 1200)",
    "big.max(1)[1].view(3, 1200)",
    "big > 0",
    "big[big > 0]",
    "big.to(torch.int64) % 2",
    "for xb, yb in loader:\n    crit(seq(xb), yb)",
    "xb, yb = next(iter(loader))\nxb.view(xb.shape[0], -1) @ torch.zeros(8, 2)",
    "xb, yb = next(iter(loader))\nn, m = xb.size()\ntorch.zeros(n, m) + xb",
    "for xb, yb in loader:\n    xb, yb = xb.to(device), yb.to(device)\n    crit(seq(xb), yb).item()",
    "x = torch.zeros(3, dtype=X.dtype, device=X.device) + torch.ones(3)",
    "torch.zeros(X.shape) + X",
    "torch.zeros(*X.shape) + X",
    "torch.zeros(X.size()) + X",
    "torch.zeros(X.size(0), X.size(-1)) + X",
    "X.new_zeros(X.shape[1:]) + X",
    "X.shape[0] + X.ndim + len(X.shape)",
    "X.shape.numel()",
    "a, b = X.shape\nX.view(b, a)",
    "X.shape == (20, 8)",
    "torch.Size([20, 8]) == X.shape",
    "list(X.shape)[::-1]",
    "X.reshape(X.shape[:1] + (2, 4))",
    "X.type(torch.float64) @ torch.zeros(8, 2).double()",
    "X.dtype == torch.float32",
    "X.type() == 'torch.FloatTensor'",
    "X.type('torch.DoubleTensor')",
    "X.to('cpu').to(torch.float32)",
    "X.to(X)",
    "X.cpu().numpy()",
    "torch.tensor(X.tolist()).shape",
    "X.requires_grad_().sum().backward()",
    "X.requires_grad = True\n(X * 2).sum().backward()\nX.grad.shape",
    "z = X * 1\nz += 1",
    "q = w * 2\nq += 1\nq.sum().backward()",
    "q = w * 2\nq[0] = 3.0",
    "seq.train()\nseq.eval()\nseq(X)",
    "nn.Dropout(0.5)(X)",
    "nn.Sequential(seq, nn.Softmax(dim=1))(X)",
    "nn.ModuleList([seq, seq])[1](X)",
    "nn.Sequential(*list(seq.children())[:1])(X)",
    "m = nn.Sequential(nn.Flatten(), nn.Linear(24, 2))\nm(torch.zeros(2, 4, 6))",
    "opt = optim.Adam(list(seq.parameters()) + [w], lr=0.1)\nopt.zero_grad()\nopt.step()",
    "opt = optim.SGD([{'params': seq.parameters()}, {'params': [w], 'lr': 1.0}], lr=0.1)",
    "opt = optim.Adam(net.parameters())\nsched = optim.lr_scheduler.StepLR(opt, 2)\nsched.step()",
    "optim.SGD(params=seq.parameters(), lr=0.1)",
    "optim.Adam(nn.ModuleList([nn.Linear(2, 2)]).parameters())",
    "optim.Adam(filter(lambda p: p.requires_grad, seq.parameters()))",
    "nn.MultiheadAttention(8, 2, batch_first=True)(X[None], X[None], X[None])[0].shape",
    "nn.TransformerEncoderLayer(8, 2)(X[:, None]).shape",
    "F.mse_loss(seq(X)[:, 0], y.float())",
    "nn.BCEWithLogitsLoss()(seq(X)[:, 0], (y > 0).float())",
    "nn.BCELoss()(torch.sigmoid(seq(X))[:, 0], (y > 0).float())",
    "nn.NLLLoss()(F.log_softmax(seq(X), 1), y)",
    "nn.L1Loss(reduction='none')(X, X).mean(1)",
    "nn.KLDivLoss(reduction='batchmean')(F.log_softmax(X, 1), F.softmax(X, 1))",
    "nn.CrossEntropyLoss(weight=torch.ones(3))(seq(X), y)",
    "nn.CrossEntropyLoss(weight=torch.tensor([1., 2, 3]), reduction='none')(seq(X), y).view(20)",
    "nn.HuberLoss(delta=2.0)(X, X)",
    "nn.BCEWithLogitsLoss(pos_weight=torch.ones(8))(X, (X > 0).float())",
    "crit(seq(X), F.one_hot(y, 3).double())",
    "crit(seq(X)[0], y[0])",
    "crit(torch.randn(2, 3, 4, 4), torch.zeros(2, 4, 4).long())",
    "torch.utils.data.TensorDataset(X, y)[0]",
    "TensorDataset(X)",
    "torch.utils.data.random_split(TensorDataset(X, y), [15, 5])",
    "X[y == 1]",
    "X[y]",
    "X[part]",
    "X[[0, 1], [2, 3]]",
    "X[..., None].squeeze(-1) + X",
    "X[:, y]",
    "torch.gather(X, 1, y[:, None])",
    "X.gather(1, y.view(-1, 1))",
    "torch.index_select(X, 1, y)",
    "F.embedding(y, torch.randn(3, 4))",
    "torch.stack([X[i] for i in range(3)])",
    "torch.cat([x[None] for x in X])",
    "X.unbind()[3].view(2, 4)",
    "sum(x.sum() for x in X)",
    "for row in X:\n    row.view(4, 2)",
    "np.array(X).reshape(-1)",
    "np.mean(X.numpy())",
    "torch.from_numpy(np.zeros((2, 3))).float() @ torch.zeros(3, 1)",
    "torch.tensor(np.array([1, 2])) + y[:2]",
    "torch.as_tensor([1.5, 2]).long()",
    "torch.tensor(3).item()",
    "int(torch.tensor(3.7))",
    "bool(torch.tensor([0]))",
    "torch.tensor([[1, 2], [3, 4]]).max().item()",
    "float(crit(seq(X), y))",
    "f'{crit(seq(X), y):.3f}'",
    "print(f'{crit(seq(X), y).item():.3f}')",
    "torch.save(net.state_dict(), '/dev/null')",
    "net.load_state_dict(Net().state_dict())",
    "import copy\ncopy.deepcopy(net)(images)",
    "n = 0\nfor name, p in net.named_parameters():\n    n += p.numel()",
    "sum(p.numel() for p in net.parameters() if p.requires_grad)",
    "net.fc = nn.Linear(16, 2)\nnet(images).view(4, 2)",
    "net.fc = nn.Identity()\nnet(images).view(4, 16)",
    "net.conv.weight.shape[0] + 1",
    "nn.init.xavier_uniform_(net.fc.weight)\nnet(images)",
    "net.fc.weight.data.fill_(0.1)\nnet(images)",
    "net.apply(lambda m: None)\nnet(images)",
    "torch.set_grad_enabled(False)\ntry:\n    seq(X).numpy()\nfinally:\n    torch.set_grad_enabled(True)",
    "@torch.no_grad()\ndef run():\n    return seq(X).numpy()\nrun()",
    "with torch.inference_mode():\n    seq(X).numpy()",
    "h = seq[0].register_forward_hook(lambda m, i, o: o[:, :2])\nseq[0](X).view(20, 2)\nh.remove()",
    "torch.func.functional_call(seq, dict(seq.named_parameters()), (X,))",
]


@pytest.mark.parametrize("target", RUNS, ids=RUNS)
def test_what_torch_accepts_is_let_pass(check: Predict, target: str) -> None:
    found = check(SETUP, target)
    assert found.raised is None and not found.contradictions


SHAPES = "import torch\nfrom torch import nn\nx, deep = torch.zeros(2, 4), torch.zeros(2, 4).double()\n"


@pytest.mark.parametrize(
    ("target", "exception"),
    [
        ("nn.Linear(3, 2)(x)", "RuntimeError"),
        ("nn.BatchNorm2d(4)(x)", "ValueError"),
        ("nn.Linear(4, 2)(x).view(3, 3)", "RuntimeError"),
        ("nn.Linear(4, 2)(deep)", None),
        ("x.astype(float)", None),
        ("torch.zeros(2, 4, dim=1)", None),
        ("x[5]", "IndexError"),
        ("x.t().view(8)", "RuntimeError"),
        # Runs in some versions, or is of another class there.
        (
            "nn.BCELoss()(torch.rand(4, 1), torch.rand(4))",
            "ValueError",
        ),  # a warning before torch 1.5 alone
        ("nn.InstanceNorm1d(4)(torch.zeros(2, 4, 1))", None),
        ("nn.GroupNorm(3, 4)", None),
        (
            "nn.MarginRankingLoss()(torch.ones(4), torch.ones(4, 1), torch.ones(4))",
            None,
        ),
        ("nn.CrossEntropyLoss()(torch.zeros(4, 3, 5), torch.ones(4).long())", None),
        ("nn.LSTM(4, 3)(torch.zeros(1, 2, 3, 4))", None),
        ("nn.AvgPool2d(2)(x)", None),
        ("x.item()", None),
        ("(x.t() + 1).view(8)", None),
        ("torch.linalg.inv(torch.eye(4)).view(16)", None),
        # Elsewhere than on the processor, indices are looked at too late.
        ("x[[0, 5]]", None),
        ("nn.Embedding(3, 2)(torch.tensor([0, 5]))", None),
        ("nn.CrossEntropyLoss()(x, torch.tensor([0, 5]))", None),
    ],
)
def test_where_no_version_is_told_only_shapes_are_refused(
    predict_by_code: Predict, target: str, exception: str | None
) -> None:
    assert predict_by_code(SHAPES, target).exception == exception


@pytest.mark.parametrize(
    ("target", "exception"),
    [
        ("layer(x)", None),
        ("layer(x.view(4, 2))", "RuntimeError"),
        ("layer(x) + x[:, :2]", None),
        ("values, places = layer(x).max(1)\nvalues + x[0, 0]", None),
        ("values, places = layer(x).max(1)\nx[:, places]", None),
        ("layer(x) @ torch.zeros(2, 2)", "RuntimeError"),
        ("layer(x).detach().numpy()", "TypeError"),
        ("layer(x).detach().cpu().numpy()", None),
        ("x.cpu().numpy()", None),
        ("layer.cpu()(x.cpu())", None),
        ("layer.to('cpu')(x.to('cpu'))", None),
        ("layer.cpu()(x)", "RuntimeError"),
        ("x.to('cpu').numpy()", None),
        ("x.to(torch.zeros(1)).numpy()", None),
        ("torch.zeros_like(x, device='cpu').numpy()", None),
    ],
)
def test_tensors_of_another_device_are_asked_of_shapes_alone(
    target: str, exception: str | None
) -> None:
    import torch

    setup = "import torch\nx, layer = torch.zeros(2, 4), torch.nn.Linear(4, 2)"
    namespace = {"torch": torch, "x": torch.zeros(2, 4), "layer": torch.nn.Linear(4, 2)}
    state = look(namespace, {"target": target}).replace('"cpu"', '"cuda:0"')
    report = findings(cells_of(setup, target), state_of(json.loads(state)))
    assert not report.errors
    assert [each.exception for each in report.findings] == (
        [exception] if exception else []
    )

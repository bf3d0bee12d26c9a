"""Targets with tensors of torch: what is predicted beside what torch does."""

from __future__ import annotations

import pytest

from tests.optional import needs

pytestmark = needs("torch")

SETUP = """
import numpy as np
import pandas as pd
import torch
from torch import nn
import torch.nn.functional as F

a, b, v = torch.randn(2, 3), torch.randn(3, 4), torch.randn(3)
batch = torch.randn(5, 2, 3)
whole = torch.arange(6).reshape(2, 3)
double = torch.zeros(2, 3, dtype=torch.float64)
labels = torch.tensor([0, 2, 1, 2])
weight = torch.ones(3, requires_grad=True)
turned = torch.randn(4, 6).t()
array = np.zeros((2, 3))
names = np.array(["ash", "oak"])
mixed = np.array([1, "a", None], dtype=object)
frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]})
rows = [torch.zeros(3), torch.zeros(4)]
even = [torch.zeros(3), torch.zeros(3)]
"""

RAISES = [
    ("a @ a", "RuntimeError"),
    ("a @ double.T", "RuntimeError"),
    ("torch.matmul(a, a)", "RuntimeError"),
    ("a.matmul(b).matmul(b)", "RuntimeError"),
    ("a.mm(v)", "RuntimeError"),
    ("torch.mm(batch, b)", "RuntimeError"),
    ("torch.bmm(batch, b)", "RuntimeError"),
    ("torch.mm(a, array.T)", "TypeError"),
    ("v.dot(a)", "RuntimeError"),
    ("a + b", "RuntimeError"),
    ("a * torch.ones(4)", "RuntimeError"),
    ("c = a - batch.mean(0).T", "RuntimeError"),
    ("a += batch", "RuntimeError"),
    ("(a > 0) & (b > 0)", "RuntimeError"),
    ("a & a", "NotImplementedError"),
    ("torch.cat([a, b])", "RuntimeError"),
    ("torch.cat([a, v])", "RuntimeError"),
    ("torch.cat(a)", "TypeError"),
    ("torch.cat([a, 3])", "TypeError"),
    ("torch.cat([a, a], dim=2)", "IndexError"),
    ("torch.stack([a, b])", "RuntimeError"),
    ("torch.stack(rows)", "RuntimeError"),
    ("torch.stack([array, array])", "TypeError"),
    ("torch.vstack([a, torch.zeros(4)])", "RuntimeError"),
    ("a.view(4, 2)", "RuntimeError"),
    ("a.reshape(-1, 4)", "RuntimeError"),
    ("a.view(6 / 2, 2)", "TypeError"),
    ("torch.reshape(a, (5,))", "RuntimeError"),
    ("a.permute(0, 2, 1)", "RuntimeError"),
    ("a.transpose(1, 2)", "IndexError"),
    ("a.unsqueeze(4)", "IndexError"),
    ("a.squeeze(3)", "IndexError"),
    ("a.flatten(2)", "IndexError"),
    ("batch.t()", "RuntimeError"),
    ("v.expand(4, 2)", "RuntimeError"),
    ("a.repeat(2)", "RuntimeError"),
    ("a[2]", "IndexError"),
    ("a[0, 3]", "IndexError"),
    ("a[0, 0, 0]", "IndexError"),
    ("a[:, 5]", "IndexError"),
    ("a[labels]", "IndexError"),
    ("a[0] = torch.zeros(4)", "RuntimeError"),
    ("a.size(3)", "IndexError"),
    ("a.item()", "RuntimeError"),
    ("a.sum(2)", "IndexError"),
    ("torch.argmax(v, dim=1)", "IndexError"),
    ("whole.mean()", "RuntimeError"),
    ("torch.mean(labels)", "RuntimeError"),
    ("if a > 0: pass", "RuntimeError"),
    ("for x in a.sum(): pass", "TypeError"),
    ("weight.numpy()", "RuntimeError"),
    ("(weight * 2).backward()", "RuntimeError"),
    ("a.backward()", "RuntimeError"),
    ("a.astype('float32')", "AttributeError"),
    ("a.copy()", "AttributeError"),
    ("torch.tensor(mixed)", "TypeError"),
    ("torch.from_numpy(names)", "TypeError"),
    ("torch.from_numpy(frame)", "TypeError"),
    ("torch.from_numpy(frame['x'])", "TypeError"),
    ("torch.from_numpy([1, 2])", "TypeError"),
    ("torch.tensor(frame)", "ValueError"),
    ("torch.tensor([[1, 2], [3]])", "ValueError"),
    ("torch.tensor(frame.values) + double", "RuntimeError"),
]

RUNS = [
    "weight.requires_grad_(False)\nweight.numpy()",
    "one = torch.tensor(1.0)\none.requires_grad_()\none.backward()",
    "a @ b",
    "a @ v",
    "batch @ b",
    "a @ double.float().T",
    "torch.bmm(batch, torch.zeros(5, 3, 2))",
    "a + v",
    "a * 2.5 + whole",
    "a + double",
    "a += v",
    "a - a.mean(0)",
    "a == whole",
    "torch.cat([a, a], dim=1)",
    "torch.cat([a, whole])",
    "torch.cat([torch.tensor([]), a])",
    "torch.cat(rows)",
    "torch.stack(even, dim=1)",
    "torch.stack([row[:3] for row in rows])",
    "a.view(-1)",
    "a.view(3, 2)",
    "a.view(torch.int32)",
    "turned.reshape(3, 8)",
    "a.reshape(a.size(0), -1)",
    "batch.permute(2, 0, 1)[0]",
    "a.unsqueeze(0).expand(5, -1, -1)",
    "a.squeeze(1) + v",
    "torch.zeros(2, 1).squeeze() + torch.zeros(2)",
    "batch.flatten(1) @ torch.zeros(6, 2)",
    "v.expand(4, 3)",
    "a[-1, :2] = 0",
    "a[:, [0, 2]] = torch.zeros(2)",
    "a[a > 0] = 1.0",
    "a[1] = v",
    "v[labels]",
    "a[..., None, 0]",
    "x, y = a",
    "a.sum().item()",
    "a.sum(1, keepdim=True) + a",
    "values, places = a.max(1)",
    "values, places = torch.max(a, 1)",
    "torch.max(a, whole)",
    "whole.float().mean()",
    "whole.sum().item()",
    "if a.sum() > 0: pass",
    "weight.detach().numpy()",
    "with torch.no_grad(): (weight * 2).numpy()",
    "weight.sum().backward()",
    "(weight * 2).sum().backward()",
    "(weight * 2).backward(torch.ones(3))",
    "a.numpy() @ b.numpy()",
    "torch.tensor(frame.values) @ double",
    "torch.tensor(frame['x'])",
    "torch.tensor(array, dtype=torch.float32) @ b",
    "torch.from_numpy(array).float() @ b",
    "torch.tensor([[1, 2], [3, 4]]) @ torch.tensor([1, 2])",
    "torch.tensor([1, 2.5]) * v[:2]",
    "torch.arange(0, 12, 2).view(2, 3) + a",
    "torch.zeros((2, 3)) + torch.ones(size=(3,))",
    "torch.full((2, 3), 7) + a",
    "torch.randint(0, 5, (2, 3)) * a",
    "F.softmax(a, dim=1) @ b",
    "one_hot = F.one_hot(labels, 3); one_hot.float() @ v",
    "torch.where(a > 0, a, torch.zeros_like(a)) @ b",
    "n, m = a.shape; torch.zeros(n, m) + a",
    "a.to(torch.float64) @ double.T",
    "a.type(torch.DoubleTensor) @ double.T",
    "len(a) + a.numel() + a.dim()",
    "torch.einsum('ij,jk->ik', a, b)",
    "a.T.contiguous().view(-1)",
    "torch.linspace(0, 1, 3) + a",
    "np.asarray(a) + array",
    "~(a > 0) | (a > 1)",
    "whole % 2 == 0",
    "a ** 2 / whole.clamp(min=1)",
]


@pytest.mark.parametrize(
    ("target", "exception"), RAISES, ids=[target for target, _ in RAISES]
)
def test_what_torch_refuses_is_predicted(check, target, exception):
    assert check(SETUP, target).raised == exception


@pytest.mark.parametrize("target", RUNS, ids=RUNS)
def test_what_torch_accepts_is_let_pass(check, target):
    assert check(SETUP, target).raised is None


def test_nothing_is_said_of_a_leaf_that_is_changed_in_place(predict_here):
    seen = predict_here(SETUP, "weight &= 1")
    assert seen.raised == "RuntimeError"
    assert seen.exception is None

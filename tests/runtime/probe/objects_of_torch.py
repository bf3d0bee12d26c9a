"""Objects of torch as a notebook makes them, for the tests of what is said of them; this file imports torch."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset


class Loud(torch.Tensor):
    """A tensor whose every operation would be noticed."""

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> NoReturn:
        raise AssertionError(f"{func} was called")

    def __getattribute__(self, name: str) -> NoReturn:
        raise AssertionError(f"{name} was asked for")


class Net(nn.Module):
    def __init__(self, n_in: int = 8) -> None:
        super().__init__()
        self.n_in = n_in
        self.body = nn.Sequential(
            nn.Flatten(), nn.Linear(n_in, 5), nn.ReLU(), nn.Dropout(0.3)
        )
        self.head = nn.Linear(5, 2)
        self.scale = nn.Parameter(torch.ones(2))
        self.frozen = nn.Parameter(torch.ones(3), requires_grad=False)

    def forward(self, sheets: Any, *, mask: Any = None) -> Any:
        raise AssertionError("forward was called")

    @property
    def size(self) -> NoReturn:
        raise AssertionError("a property was run")


class Trap(nn.Module):
    """Everything that a class can say for itself raises."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 1)

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"{name} was asked for")

    def __repr__(self) -> NoReturn:
        raise AssertionError("it was printed")

    forward = __len__ = __iter__ = parameters = state_dict = modules = (
        children
    ) = __repr__  # type: ignore[assignment]


class Counted(Dataset):  # type: ignore[type-arg]
    """Samples by code of the notebook, which would be noticed."""

    def __init__(self, n: int = 23) -> None:
        self.n = n
        self.calls = 0
        self.log: list[int] = []

    def __len__(self) -> int:
        self.calls += 1
        return self.n

    def __getitem__(self, index: int) -> Any:
        if index >= self.n:
            raise IndexError(index)
        self.calls += 1
        self.log.append(index)
        noise = torch.rand(2) + np.random.rand() + random.random()
        return {
            "image": torch.zeros(3, 8, 8),
            "noise": noise,
            "boxes": np.zeros((2, 4)),
            "label": index % 4,
        }


class Made(Dataset):  # type: ignore[type-arg]
    """Samples by a function of their index."""

    def __init__(self, sample: Callable[[int], Any], n: int = 5) -> None:
        self.sample = sample
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> Any:
        return self.sample(index)


class Hostile(Dataset):  # type: ignore[type-arg]
    def __init__(self, **how: Any) -> None:
        self.how = how

    def _do(self, name: str) -> Any:
        action = self.how.get(name, lambda: 5)
        return action()

    def __len__(self) -> int:
        return int(self._do("len"))

    def __getitem__(self, index: int) -> Any:
        return self._do("item")

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(f"no {name}")

    def __repr__(self) -> NoReturn:
        raise AssertionError("it was printed")

"""Namespaces of a size that looking at them could be felt, each with a target cell. Small ones of the same kind, too.

Runs in the interpreter of the kernels: numpy, pandas and, where a scene says so, torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

SEED = 7
N_WORDS = 1_000


class Scene(NamedTuple):
    """What the notebook holds, what it is about to run, and the bytes of what the target needs."""

    namespace: dict[str, Any]
    target: str
    n_bytes: int


def long_frame(*, small: bool) -> Scene:
    """2,000,000 x 20: numbers with gaps, texts that repeat and texts that do not, categories, dates, booleans."""
    import numpy as np
    import pandas as pd

    n, rng = 2_000 if small else 2_000_000, np.random.default_rng(SEED)
    words = np.array([f"word {i}" for i in range(N_WORDS)], dtype=object)
    columns: dict[str, Any] = {f"price_{i}": np.where(rng.random(n) < 0.01, np.nan, rng.random(n)) for i in range(8)}
    columns |= {f"count_{i}": rng.integers(0, 10 ** (i + 1), n) for i in range(4)}
    columns |= {f"word_{i}": words[rng.integers(0, N_WORDS, n)] for i in range(2)}
    columns |= {"ticket": np.array([f"ticket {i}" for i in range(n)], dtype=object)}
    columns |= {f"region_{i}": pd.Categorical.from_codes(rng.integers(0, 9, n), list("abcdefghi")) for i in range(2)}
    columns |= {f"day_{i}": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n), "D") for i in (0, 1)}
    frame = pd.DataFrame(columns | {"paid": rng.random(n) < 0.5})
    target = 'means = frame.groupby("region_0")["price_0"].mean()\nlate = frame[frame["day_0"] > frame["day_1"]]'
    return Scene({"pd": pd, "frame": frame}, target, int(frame.memory_usage().sum()))


def wide_frame(*, small: bool) -> Scene:
    """300 columns of numbers, each of 20,000 rows."""
    import numpy as np
    import pandas as pd

    values = np.random.default_rng(SEED).random((20 if small else 20_000, 300))
    frame = pd.DataFrame(values, columns=[f"feature_{i}" for i in range(300)])
    return Scene({"frame": frame}, 'total = frame[["feature_7", "feature_250"]].sum()', values.nbytes)


def array(*, small: bool) -> Scene:
    """100 MB of float32."""
    import numpy as np

    images = np.random.default_rng(SEED).random((50 if small else 5_000, 5_000), dtype=np.float32)
    return Scene({"np": np, "images": images}, "scaled = (images - images.mean()) / images.std()", images.nbytes)


def tensor(*, small: bool) -> Scene:
    """100 MB of float32."""
    import torch

    images = torch.rand((50 if small else 5_000, 5_000), generator=torch.Generator().manual_seed(SEED))
    n_bytes = images.numel() * images.element_size()
    return Scene({"torch": torch, "images": images}, "scaled = (images - images.mean()) / images.std()", n_bytes)


def resnet(*, small: bool) -> Scene:
    """A module laid out as ResNet-18, and a batch for it."""
    import torch

    model = _resnet(torch, 4 if small else 64)
    images = torch.rand((8, 3, 224, 224), generator=torch.Generator().manual_seed(SEED))
    n_bytes = sum(part.numel() * part.element_size() for part in [images, *model.parameters(), *model.buffers()])
    target = "model.eval()\nlogits = model(images)\nbest = logits.argmax(dim=1)"
    return Scene({"torch": torch, "model": model, "images": images}, target, n_bytes)


def _resnet(torch: Any, width: int) -> Any:
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, n_in: int, n_out: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(n_out)
            self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(n_out)
            self.relu = nn.ReLU(inplace=True)
            changes = stride != 1 or n_in != n_out
            shorter = nn.Sequential(nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out))
            self.downsample = shorter if changes else nn.Identity()

        def forward(self, x: Any) -> Any:
            y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            return self.relu(y + self.downsample(x))

    Block.__module__ = "__main__"  # A class of the notebook's own.
    stem = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    plan = [(1, 1, 1), (1, 1, 1), (1, 2, 2), (2, 2, 1), (2, 4, 2), (4, 4, 1), (4, 8, 2), (8, 8, 1)]
    blocks = [Block(n_in * width, n_out * width, stride) for n_in, n_out, stride in plan]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, 1_000))


def many_variables(*, small: bool) -> Scene:
    """200 variables: frames, arrays and lists; the target needs five of them."""
    import numpy as np
    import pandas as pd

    n, rng = 20 if small else 20_000, np.random.default_rng(SEED)
    names = [f"column_{i}" for i in range(10)]
    held: dict[str, Any] = {f"frame_{i}": pd.DataFrame(rng.random((n, 10)), columns=names) for i in range(100)}
    held |= {f"array_{i}": rng.random((n, 5)) for i in range(50)}
    held |= {f"list_{i}": rng.random(n).tolist() for i in range(50)}
    target = 'frame_3["column_4"] = array_5[:, 0] + list_6\nboth = frame_7.merge(frame_3)\nlast = list_8[-1]'
    needed = 2 * n * 10 * 8 + n * 5 * 8 + 2 * n * 32
    return Scene(held, target, needed)


SCENES: dict[str, tuple[str, Callable[..., Scene], tuple[str, ...]]] = {
    "long_frame": ("2,000,000 x 20 frame", long_frame, ("pandas",)),
    "wide_frame": ("300-column frame", wide_frame, ("pandas",)),
    "array": ("100 MB array", array, ("numpy",)),
    "tensor": ("100 MB tensor", tensor, ("torch",)),
    "resnet": ("ResNet-like module", resnet, ("torch",)),
    "many_variables": ("200 variables, 5 needed", many_variables, ("pandas",)),
}
"""By name: words for it, how to build it, and the packages that takes."""

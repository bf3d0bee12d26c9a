"""What is said of torchvision's transforms and datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.optional import later, needs

from .looks import entry, more, needs_copy

pytestmark = needs("torch", "torchvision")
torch, datasets = later("torch"), later("torchvision.datasets")
models = later("torchvision.models")
transforms = later("torchvision.transforms")
v2 = later("torchvision.transforms.v2")


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Two classes of three pictures each, of different sizes."""
    for kind in ("knot", "plain"):
        (tmp_path / kind).mkdir()
        for number in range(3):
            Image.new("RGB", (20 + number, 10)).save(
                tmp_path / kind / f"{number}.png"
            )
    return tmp_path


@pytest.mark.parametrize("of", [transforms, v2])
def test_composed_transforms_tell_their_steps(of: Any) -> None:
    steps = [
        of.Resize((16, 12)),
        of.ToTensor(),
        of.Normalize([0.4, 0.5, 0.3], [0.2, 0.2, 0.2]),
        abs,
    ]
    facts = more(of.Compose(steps), "representation")["steps"]
    kinds = [step["type"].rpartition(".")[2] for step in facts]
    assert kinds == [
        "Resize",
        "ToTensor",
        "Normalize",
        "builtin_function_or_method",
    ]
    assert (facts[0]["type"] == "Resize") == (of is transforms)
    assert facts[0]["size"] == [16, 12]
    assert facts[2]["mean"] == [0.4, 0.5, 0.3]


@needs_copy
def test_a_folder_of_pictures_as_pictures_and_as_tensors(
    pictures: Path,
) -> None:
    raw = entry(datasets.ImageFolder(str(pictures)))
    plus = raw["plus"]
    assert raw["structure"]["length"] == 6
    sizes = {"input": [[20, 10], [21, 10], [22, 10]]}
    assert plus["structure"]["image_sizes"] == sizes
    assert plus["representation"]["image_modes"] == {"input": ["RGB"]}
    assert plus["values"]["attributes"]["classes"] == ["knot", "plain"]
    source = datasets.ImageFolder(
        str(pictures), transform=transforms.ToTensor()
    )
    loader = torch.utils.data.DataLoader(source, batch_size=4)
    error = entry(loader)["structure"]["dataset"]["batch_shapes"]["error"]
    assert "equal size" in error
    with pytest.raises(RuntimeError, match="equal size"):
        next(iter(loader))


@needs_copy
def test_random_transforms_advance_nothing(pictures: Path) -> None:
    random_crop = transforms.Compose(
        [transforms.RandomResizedCrop(8), transforms.ToTensor()]
    )
    source = datasets.ImageFolder(str(pictures), transform=random_crop)
    state = torch.get_rng_state()
    first, second = entry(source), entry(source)
    assert torch.equal(torch.get_rng_state(), state)
    assert first == second
    assert first["structure"]["sample_shapes"] == {"input": [[3, 8, 8]]}


def test_a_deep_network_takes_and_gives_what_it_is_made_for() -> None:
    network = models.resnet18()
    facts = more(network, "structure")
    assert facts["expected_input"] == {
        "layer": "conv1",
        "shape": ["N", 3, "H", "W"],
    }
    assert facts["output"] == {"layer": "fc", "shape": ["...", 1000]}
    assert facts["n_parameters"] == sum(
        one.numel() for one in network.parameters()
    )

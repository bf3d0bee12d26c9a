"""Lets torchvision of PyPI be imported beside a torch without CUDA: `python tools/fit_torchvision.py`.

PyPI's torchvision for Linux is compiled against CUDA. Beside a CPU-only torch its compiled operators cannot load, and
`import torchvision` stops where it describes two of them that nobody has declared. This adds the declarations to the
installed copy, so that datasets, transforms and models import; the operators stay without code. Where torchvision
imports as it is (its CPU build, macOS, Windows) nothing is changed. Installing torchvision again takes it back.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

COMPLAINT = "operator torchvision::"
DECLARATIONS = """

# Added by tools/fit_torchvision.py: the compiled operators are for CUDA and did not load.
if not _has_ops():
    _declared = torch.library.Library("torchvision", "FRAGMENT")
    _declared.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _declared.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""


def import_error() -> str:
    """What `import torchvision` says in a fresh interpreter, empty if it works."""
    done = subprocess.run(
        [sys.executable, "-c", "import torchvision"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr if done.returncode else ""


def main() -> None:
    if COMPLAINT in import_error():
        extension = Path(
            sysconfig.get_path("platlib"), "torchvision", "extension.py"
        )
        extension.write_text(
            extension.read_text("utf-8") + DECLARATIONS, "utf-8"
        )
        print(
            "torchvision is compiled for CUDA and torch is not: declared its operators in the installed copy"
        )
    if still := import_error():
        sys.exit(f"torchvision cannot be imported:\n{still}")


if __name__ == "__main__":
    main()

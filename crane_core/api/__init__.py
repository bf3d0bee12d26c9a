"""The Python API: what scripts and notebooks may rely on. The rest of the package is internal and may change.

`check` and `capture` need the base package alone; `open_data` and `crane_core.api.statistics` need the extra `app`.
docs/reference/api.md shows each of them; every refusal is a `CraneError` with a message and a remedy.
"""

from crane_core.api.data import Data, open_data
from crane_core.api.notebooks import capture, check
from crane_core.errors import CraneError

__all__ = ["CraneError", "Data", "capture", "check", "open_data"]

"""The form in which a model is asked to answer: reasoning first, then the detection (paper, section 3.2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SCHEMA_FILE = Path(__file__).with_name("reply_schema.json")


def reply_schema() -> dict[str, Any]:
    """JSON Schema of one reply, for models that can be held to one."""
    schema: dict[str, Any] = json.loads(SCHEMA_FILE.read_text("utf-8"))
    return schema

"""Tokens counted in a process that ends with its answer: a server would keep the 140 MB of the encoding's table.

Knows how the process is called and how long it may take; what counts there is `tokens`. Refuses to fail a caller that
only wants to tell a size: where the process does not answer, the counts are estimates.
"""

import hashlib
import json
import logging
import sys
from collections.abc import Sequence
from threading import Lock

from crane_core import helper_process
from crane_core.prompts import tokens

LIMIT_S = 60.0
"""Maximum time that one batch of texts may wait for others, and then take; the study's 2,220 inputs take 2 s."""

KEPT = 20_000
"""Counts that are remembered, by the sha256 of their texts; the study has 2,220 inputs."""

_LOG = logging.getLogger(__name__)
_ONE_AT_A_TIME = Lock()
_known: dict[bytes, tokens.Tokens] = {}


def count_apart(
    texts: Sequence[str], limit_s: float = LIMIT_S
) -> list[tokens.Tokens]:
    """`count_tokens` of each text, by one process for all that were not counted lately; this one loads no table.

    If that process fails or takes longer than `limit_s`, its texts are estimated, and the log says why.
    """
    # Also of a text that UTF-8 cannot hold, which a published file may contain.
    addresses = [
        hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        for text in texts
    ]
    found = {
        address: count
        for address in addresses
        if (count := _known.get(address)) is not None
    }
    new = {
        address: text
        for address, text in zip(addresses, texts, strict=True)
        if address not in found
    }
    try:
        counted = (
            dict(zip(new, _counted(list(new.values()), limit_s), strict=True))
            if new
            else {}
        )
    except (OSError, ValueError, TypeError) as error:
        _LOG.warning(
            "Tokens of %d texts are estimated, because they could not be counted: %s",
            len(new),
            error,
        )
        counted = {}
    _known.update(counted)
    # A dict keeps the order of insertion: the oldest counts go first.
    for address in list(_known)[:-KEPT]:
        _known.pop(address, None)
    told = found | counted
    return [
        told.get(address) or tokens.estimate(text)
        for address, text in zip(addresses, texts, strict=True)
    ]


def _counted(texts: list[str], limit_s: float) -> list[tokens.Tokens]:
    if not _ONE_AT_A_TIME.acquire(timeout=limit_s):
        raise TimeoutError(
            f"others are being counted for more than {limit_s:g} s"
        )
    try:
        answer = helper_process.answer(
            helper_process.own_module(__name__),
            env=helper_process.environment(passed=tokens.CACHE_VARIABLES),
            # ASCII with escapes, so that the child's locale does not matter.
            given=json.dumps(texts).encode("ascii"),
            seconds=limit_s,
        )
    finally:
        _ONE_AT_A_TIME.release()
    return [
        tokens.Tokens(int(n), bool(is_exact), str(how))
        for n, is_exact, how in json.loads(answer)
    ]


if __name__ == "__main__":
    json.dump(
        [tokens.count_tokens(text) for text in json.load(sys.stdin.buffer)],
        sys.stdout,
    )

"""How likely the model found what it wrote: the chance of one member's value, from the log probabilities of its tokens.

Knows the form in which OpenAI's chat completions tell them (`choices[0].logprobs.content`), which other servers copy.
Refuses to guess: where tokens are missing or do not spell the value, there is no chance.
"""

import math
import re

from crane_core.domain import JsonObject

LOGPROBS = "logprobs"
"""The member of a request that asks for them."""


def chance_of(member: str, choice: JsonObject) -> float | None:
    """The chance in 0..1 of the value, true or false, that the reply has last under this member; None if unknown.

    It is the product over the tokens that spell the value, each given what is before it. Raises LookupError,
    TypeError or ValueError on what is not in OpenAI's form.
    """
    told = choice.get(LOGPROBS)
    if not told or not told.get("content"):
        return None
    tokens = [
        (str(one["token"]), float(one["logprob"])) for one in told["content"]
    ]
    spelled = "".join(token for token, _ in tokens)
    values = list(
        re.finditer(
            rf'"{re.escape(member)}"\s{{0,20}}:\s{{0,20}}(true|false)\b',
            spelled,
        )
    )
    if not values:
        return None
    start, end = values[-1].span(1)
    total, at = 0.0, 0
    for token, logprob in tokens:
        # A token may also hold the space before the value, or the brace behind it.
        if at < end and at + len(token) > start:
            total += logprob
        at += len(token)
    # Servers tell -9999 for what they did not count, and Python reads Infinity, which JSON lacks.
    chance = math.exp(min(total, 0.0)) if math.isfinite(total) else math.nan
    return chance if chance > 0 else None
